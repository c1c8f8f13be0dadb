# SPDX-License-Identifier: BSD-2-Clause
"""Comparison of sessions: visits on one axis of time, with the core's speed taken off.

The sessions of a side are its repetitions. What they differ by although nothing changed is no part
of what their visits show; `component` adds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from cyclometer.compare import component
from cyclometer.compare.ancova import Difference, difference
from cyclometer.compare.component import Component
from cyclometer.compare.finding import Basis, Options, both, rough
from cyclometer.compare.pairing import Pair
from cyclometer.compare.statistics import Change, two_sided
from cyclometer.estimate.interval import student
from cyclometer.estimate.rows import Estimate
from cyclometer.estimate.session import satterthwaite

CORE_MOVED = 0.10
"""A core that is faster or slower by more than this fraction is taken for another machine."""
SIGNS = 0.01
"""Significance at which the controls, by their signs, have moved to one side."""


def have(pair: Pair) -> bool:
    """Whether all that was measured of a pair lies on axes of time."""
    b, a = both(pair)
    return bool(b.sessions and a.sessions)


def bases(pairs: Sequence[Pair], options: Options) -> list[Basis]:
    """What the sessions of both sides say about each pair; all pairs of a suite at once, because
    some of them are the controls of the others.
    """
    found = [difference(*(e.sessions for e in both(pair))) for pair in pairs]
    controls = [
        one
        for pair, one in zip(pairs, found, strict=True)
        if component.is_control(both(pair)[0].contract, one)
    ]
    common = component.of_controls(controls)
    moved = _machine_moved(controls, options)
    return [
        _basis(pair, one, common, moved, options) for pair, one in zip(pairs, found, strict=True)
    ]


def _basis(
    pair: Pair, one: Difference, controls: Component | None, moved: str, options: Options
) -> Basis:
    b, a = both(pair)
    between = component.assumed(pair.key, b.sessions, a.sessions)
    if controls is not None and controls.variance > between.variance:
        between = controls
    variance, df = satterthwaite((*one.parts, (between.variance, between.df)))
    error = math.sqrt(variance)
    interval = student(one.value, error, df, options.level)
    p = two_sided(one.value, error, df)
    return Basis(
        change=Change(one.value, error, df, interval, p),
        units=(len(b.sessions), len(a.sessions)),
        unit="session",
        note=f"sessions {between.source}",
        veto=moved or _core_moved(one),
        overall=_overall(b, a, one),
    )


def _overall(b: Estimate, a: Estimate, one: Difference) -> float:
    """The change of the overall latency at one speed of the core, as a logarithm."""
    before, after = (np.mean(np.log([run.overall.value for run in e.runs])) for e in (b, a))
    return float(after - before) - one.slope * (one.speed or 0.0)


def _machine_moved(controls: Sequence[Difference], options: Options) -> str:
    """Why no row can be judged, if circles that the kernel cannot move have moved together."""
    if len(controls) < component.FEWEST_CONTROLS:
        return ""
    moved = np.array([one.value for one in controls])
    middle = float(np.median(moved))
    alike = int(np.count_nonzero(np.sign(moved) == np.sign(middle)))
    p = 2 * float(special.bdtrc(alike - 1, moved.size, 0.5))
    if abs(middle) <= math.log1p(options.margin) / 2 or p >= SIGNS:
        return ""
    share = f"{100 * math.expm1(middle):+.2g} %"
    return f"the machine moved: {moved.size} circles that stay in user code changed by {share}"


def _core_moved(one: Difference) -> str:
    """Why a pair cannot be judged, if the core ran at another speed altogether."""
    if one.speed is None or abs(one.speed) <= math.log1p(CORE_MOVED):
        return ""
    return f"the core's speed changed by {rough(abs(math.expm1(-one.speed)))}"
