# SPDX-License-Identifier: BSD-2-Clause
"""Verdicts by a clock that repeats to the digit: any difference is real, but for what moving code
does.

The unit is the image: another boot of an image repeats it and shows nothing new.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from cyclometer.compare import statistics
from cyclometer.compare.finding import Finding, Options, both, named, rough
from cyclometer.compare.pairing import ComparedCircle, Pair, of_runs
from cyclometer.estimate.interval import FloatArray, Interval
from cyclometer.estimate.latencies import RunEstimate
from cyclometer.estimate.rows import Estimate

_DIGITS = 9  # beyond which an exact latency shows only what dividing by the turns left
LAYOUT_FLOORS = {"turns": 0.10, "passes": 0.15, "few passes": 0.30}
"""What moving code alone does to exact cycles, by what was timed: docs/experiments/layout.md. A
pass meets caches and predictors as the rig left them, and the lowest of few passes is not yet the
one that repeats."""
BOOT_BOUND = ("timer.*", "process.*", "memory.map_unmap.*")
"""Circles whose count of instructions keeps some memory of the boot (LIMITS.md)."""
BOOT_FLOOR = 0.01
"""What two boots of one image differ by at most in these: which of two states a boot is in can part
two boots from two others."""
FEW_PASSES = 10
"""Fewer passes than these are few: a quick run's."""
LAYOUTS = 3
"""From so many images per side on, their own spread tells what moving code does, and the floor is
not needed.
"""


def by_image(pair: Pair, level: float) -> Pair:
    """The pair with one run per image, where the clock is exact and a side has several images, as
    layouts of one source.

    Another boot of an image repeats it to the digit. Counted as a run it would make two layouts
    look like four.
    """
    if not several_images(pair):
        return pair
    before, after = (
        circle and _one_an_image(circle, level) for circle in (pair.before, pair.after)
    )
    return Pair(before, after, pair.refusal, pair.on)


def several_images(pair: Pair) -> bool:
    """Whether the clock is exact and a side has several images."""
    sides = [circle for circle in (pair.before, pair.after) if circle is not None]
    return sides[0].estimate.clock.exact and any(len(set(circle.images)) > 1 for circle in sides)


def _one_an_image(circle: ComparedCircle, level: float) -> ComparedCircle:
    """Of each image whose runs agree the first one; where they differ, all of them."""
    runs: dict[Hashable, list[RunEstimate]] = {}
    for image, run in zip(circle.images, circle.estimate.runs, strict=True):
        runs.setdefault(image, []).append(run)
    kept = [
        (image, run)
        for image, booted in runs.items()
        for run in (booted if differ(booted) else booted[:1])
    ]
    estimate = replace(
        of_runs(circle.estimate, [run for _, run in kept], level), tests=circle.estimate.tests
    )
    return replace(circle, estimate=estimate, images=tuple(image for image, _ in kept))


def differ(runs: Sequence[RunEstimate]) -> bool:
    """Whether runs by an exact clock do not all agree."""
    return _distinct(runs).size > 1


def _distinct(runs: Sequence[RunEstimate]) -> FloatArray:
    """The latencies that occur, by an exact clock."""
    return np.unique(np.round([run.latency.value for run in runs], _DIGITS))


def images(pair: Pair) -> tuple[int, int]:
    """How many different images each side booted, before and after; 0 if the bundles do not say.
    The pair has two circles.
    """
    assert pair.before is not None
    assert pair.after is not None
    return len(set(pair.before.images)), len(set(pair.after.images))


def judge(pair: Pair, options: Options) -> Finding | None:
    """The finding of a pair by an exact clock, which repeats to the digit; None if the pair has to
    be judged as noisy: by another clock, on another statistic than the latency, if runs of a side
    differ all the same, or if images enough show what moving code does to the row.
    """
    b, a = both(pair)
    if pair.on != "latency" or not b.clock.exact or differ(b.runs) or differ(a.runs):
        return None
    layout = layout_floor(options, b, a)
    margin = options.exact_margin or 0.0
    floor = max(layout, margin)
    change, verdict = statistics.decide_exact(_distinct(b.runs), _distinct(a.runs), floor)
    # so many images show by their own spread what the floor only assumes
    if change and verdict == "equivalent" and min(images(pair)) >= LAYOUTS:
        return None
    interval = Interval(change, change, options.level)
    why = "margin" if margin > layout else _why(b)
    reason = "exact clock" + (f", {why} {rough(floor)}" if floor else "")
    return Finding(
        pair, named(verdict, b, options), reason, change, interval, "exact", None, floor, 0
    )


def layout_floor(options: Options, *estimates: Estimate) -> float:
    """The largest layout floor of these estimates of one row by an exact clock, as a fraction of
    the latency; 0.1 is ten percent.
    """
    if options.layout_floor is not None:
        return options.layout_floor
    return max(map(_layout_floor, estimates))


def noisy_floor(pair: Pair, options: Options) -> float:
    """The floor, as a fraction, of a pair by an exact clock whose boots differ: a cycle between
    boots of one image says nothing about what another image moves. 0 for a clock that is not exact,
    or if each side has LAYOUTS images, which show their own spread.
    """
    b, a = both(pair)
    if not b.clock.exact or min(images(pair)) >= LAYOUTS:
        return 0.0
    return layout_floor(options, b, a)


def _why(e: Estimate) -> str:
    return "layout floor" if e.clock.unit == "cycles" else "boots of one image differ by up to"


def _layout_floor(e: Estimate) -> float:
    """Counts of instructions have none, but for circles that keep some memory of the boot. Printed
    figures are taken for passes: nobody says how they were timed.
    """
    key = e.contract.key
    if e.clock.unit == "instructions" and any(fnmatch.fnmatchcase(key, p) for p in BOOT_BOUND):
        return BOOT_FLOOR
    if e.clock.unit != "cycles":
        return 0.0
    if e.method == "accumulated":
        return LAYOUT_FLOORS["turns"]
    few = e.method != "reported" and min(run.overall.tests for run in e.runs) < FEW_PASSES
    return LAYOUT_FLOORS["few passes" if few else "passes"]
