# SPDX-License-Identifier: BSD-2-Clause
"""Whether the newest point of each history lies where the points before it let it be expected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cyclometer import errors
from cyclometer.compare.finding import Options
from cyclometer.compare.history import SHORTEST, Point, Series, series
from cyclometer.compare.statistics import adjust, beyond, two_sided


@dataclass(frozen=True)
class Newest:
    """The newest point of a circle, and the points since its last change before that one. `change`
    is of their mean, None if there are too few; `p` is None on an exact clock, else adjusted over
    all circles.
    """

    point: Point
    past: tuple[Point, ...]
    change: float | None = None
    p: float | None = None
    verdict: str = "undecided"  # or regressed, improved, expected

    @property
    def key(self) -> str:
        """Of the circle."""
        return self.point.key


def newest(found: Sequence[Series], options: Options) -> list[Newest]:
    """The verdict on each circle's newest point.

    By Student's prediction interval on logarithms, which assumes that points are independent: where
    they drift it alarms more often. On an exact clock whatever exceeds the layout floor is a
    change. Undecided is a point with fewer than SHORTEST before it since the last change, or on
    such a clock none.
    """
    pairs = [(one.points[-1], _since_change(one, options)) for one in found]
    noisy = {
        at: _chance(point, past)
        for at, (point, past) in enumerate(pairs)
        if point.floor is None and len(past) >= SHORTEST
    }
    adjusted = dict(zip(noisy, adjust(list(noisy.values())), strict=True)) if noisy else {}
    return [_judged(*pair, adjusted.get(at), options) for at, pair in enumerate(pairs)]


def code(found: Sequence[Newest]) -> int:
    """The exit code of a gate: a regression before what is undecided; NOTHING without a point."""
    verdicts = {one.verdict for one in found}
    if not found:
        return errors.NOTHING
    if "regressed" in verdicts:
        return errors.REGRESSED
    return errors.UNDECIDED if "undecided" in verdicts else errors.PASS


def _since_change(one: Series, options: Options) -> tuple[Point, ...]:
    """What came before the newest point, from the last change among that on."""
    if len(one.points) == 1:
        return ()
    before = series(one.points[:-1], options)
    first = before.changes[-1].first if before.changes else None
    return before.points[before.points.index(first) if first else 0 :]


def _chance(point: Point, past: Sequence[Point]) -> float:
    """Of a point as far off as this one, if nothing changed. Points spread by no less than their
    own intervals say.
    """
    logs = np.log([one.value for one in past])
    own = [one.error for one in (*past, point)]
    spread = max(float(logs.std(ddof=1)), float(np.mean(own)))
    off = math.log(point.value) - float(logs.mean())
    error = spread * math.sqrt(1 + 1 / len(past))
    return two_sided(off, error, len(past) - 1) if error else float(not off)


def _judged(point: Point, past: tuple[Point, ...], p: float | None, options: Options) -> Newest:
    exact = point.floor is not None
    if len(past) < (1 if exact else SHORTEST):
        return Newest(point, past)
    # an exact clock has no noise that a mean would lessen
    level = past[-1].value if exact else float(np.mean([one.value for one in past]))
    change = point.value / level - 1
    least = max(point.floor or 0.0, options.exact_margin or 0.0) if exact else options.margin
    if not beyond(level, point.value, least) or (p is not None and p > 1 - options.level):
        return Newest(point, past, change, p, "expected")
    worse = (change > 0) == (point.better == "lower")
    return Newest(point, past, change, p, "regressed" if worse else "improved")
