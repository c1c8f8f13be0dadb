# SPDX-License-Identifier: BSD-2-Clause
"""A verdict for every circle of two sides, with the false discoveries of the whole suite bounded.

Pairs on an exact clock are decided one by one. All others are tested together: Benjamini and Hochberg's procedure runs
over every pair that has at least two runs a side. A pair with fewer says nothing about the next run and stays
undecided, whatever its interval within those runs looks like.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cyclometer import errors
from cyclometer.compare import statistics
from cyclometer.compare.pairing import Across, Circle, Pair, Side, of_runs, pairs
from cyclometer.compare.statistics import Change
from cyclometer.estimate.interval import FloatArray, Interval, critical_value
from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.estimate.rows import Estimate, RunEstimate
from cyclometer.units import UNITS

_EXACT_DIGITS = 9  # beyond which an exact latency shows only what dividing by the turns left
DECIDED = ("regressed", "improved", "equivalent")
VERDICTS = (
    "regressed", "improved", "failed", "invalid", "not comparable", "removed", "added", "undecided", "equivalent",
)  # fmt: skip
"""Every verdict, in the order of what a reader must see first."""
LAYOUT_FLOORS = {"turns": 0.10, "passes": 0.15, "few passes": 0.30}
"""What moving code alone does to exact cycles, by what was timed: docs/experiments/layout.md. A pass meets caches and
predictors as the rig left them, and the lowest of few passes is not yet the one that repeats."""
FEW_PASSES = 10
"""Fewer passes than these are few: a quick run's."""
LAYOUTS = 3
"""From so many images a side on, their own spread tells what moving code does, and the floor is not needed."""


@dataclass(frozen=True)
class Options:
    """What counts as a change. Fractions all: 0.01 is one percent."""

    margin: float = statistics.MARGIN
    fdr: float = 0.05  # share of false ones among the changes reported; intervals are of level 1 - fdr
    layout_floor: float | None = None  # change on an exact clock that moving code causes; None: LAYOUT_FLOORS

    def floor_on(self, *estimates: Estimate) -> float:
        """The layout floor of these estimates of one row by an exact clock, the largest one."""
        return max(map(_layout_floor, estimates)) if self.layout_floor is None else self.layout_floor

    @property
    def level(self) -> float:
        return 1 - self.fdr


@dataclass(frozen=True)
class Finding:
    """The verdict on one circle. Changes are (after - before) / before; None where there is none.

    `interval` is of `change` and speaks about the next runs or images, or about `these runs`, as `scope` says.
    `disagreement` says how typical moved where it did not move with quiet. `more_runs` a side would decide an undecided
    row; `minimum_detectable` is the smallest change that these runs find, or, where a side has one, those still needed.
    """

    pair: Pair
    verdict: str
    reason: str
    change: float | None = None
    interval: Interval | None = None
    scope: str = ""
    p: float | None = None  # of no change, adjusted over the suite
    minimum_detectable: float | None = None
    more_runs: int | None = None
    typical_change: float | None = None
    disagreement: str = ""

    @property
    def key(self) -> str:
        return self.pair.key

    @property
    def unit(self) -> str:
        either = self.pair.before or self.pair.after
        return either.estimate.clock.unit if either else UNITS[0]

    @property
    def before(self) -> LevelsEstimate | None:
        return _quiet(self.pair.before)

    @property
    def after(self) -> LevelsEstimate | None:
        return _quiet(self.pair.after)


@dataclass(frozen=True)
class Comparison:
    """All findings of two sides, and what differs around them."""

    findings: tuple[Finding, ...]
    options: Options
    sides: tuple[Side, Side]

    def counts(self) -> dict[str, int]:
        """Verdict -> rows, in the order of VERDICTS, without zeros."""
        counted = Counter(finding.verdict for finding in self.findings)
        return {verdict: counted[verdict] for verdict in VERDICTS if counted[verdict]}

    def of(self, verdict: str) -> list[Finding]:
        """The findings of one verdict, the largest change first."""
        found = [f for f in self.findings if f.verdict == verdict]
        return sorted(found, key=lambda f: -abs(f.change or 0.0))


def compare(before: Side, after: Side, options: Options | None = None, across: Across | None = None) -> Comparison:
    """The verdict on every circle of two sides; `across` names circumstances that may differ."""
    options = options or Options()
    found = [_by_image(pair, options.level) for pair in pairs(before, after, across)]
    why_absent = (_failures(before), _failures(after))
    settled = [
        _broken(pair, why_absent) or _unlike(pair) or _without_ratio(pair, options) or _exact(pair, options)
        for pair in found
    ]
    open_pairs = [pair for pair, finding in zip(found, settled, strict=True) if finding is None]
    noisy = iter(_noisy(open_pairs, options))
    return Comparison(tuple(finding or next(noisy) for finding in settled), options, (before, after))


def compare_code(comparison: Comparison) -> int:
    """0 where at least one row was compared; otherwise the exit code that says why none was."""
    counts = comparison.counts()
    if any(verdict in counts for verdict in (*DECIDED, "undecided")):
        return errors.PASS
    alone = any(verdict in counts for verdict in ("not comparable", "added", "removed"))
    return errors.NOT_COMPARABLE if alone else errors.NOTHING


def gate_code(comparison: Comparison) -> int:
    """The exit code of a gate: regression before failure, before what cannot be compared, before what is undecided.

    A row that is gone cannot be compared any more. Rows that failed before as well say nothing about the change.
    """
    counts = comparison.counts()
    if "regressed" in counts:
        return errors.REGRESSED
    if any(_newly_failed(f) for f in comparison.findings):
        return errors.FAILED
    if compare_code(comparison) or "not comparable" in counts or "removed" in counts:
        return compare_code(comparison) or errors.NOT_COMPARABLE
    return errors.UNDECIDED if "undecided" in counts else errors.PASS


def _newly_failed(finding: Finding) -> bool:
    before = finding.pair.before
    after_is_bad = finding.pair.after is None or not finding.pair.after.estimate.valid
    return finding.verdict in ("failed", "invalid") and after_is_bad and (before is None or before.estimate.valid)


def _failures(side: Side) -> dict[str, str]:
    """Circles that a side could not measure at all -> what it says about them."""
    named = (p for p in side.problems if p.kind in ("failed", "skipped") and p.where.startswith("circle "))
    return {p.where.removeprefix("circle "): p.what for p in named}


def _broken(pair: Pair, why_absent: tuple[dict[str, str], dict[str, str]]) -> Finding | None:
    """A side without a valid latency: its contract was broken, or the measurement failed."""
    reasons, failed = [], False
    for name, circle, absent in zip(("before", "after"), (pair.before, pair.after), why_absent, strict=True):
        if circle is not None and not circle.estimate.valid:
            reasons.append(f"{name}: {circle.estimate.reason}")
            failed |= circle.estimate.failed
        elif circle is None and pair.key in absent:
            reasons.append(f"{name}: {absent[pair.key]}")
            failed = True
    return Finding(pair, "failed" if failed else "invalid", "; ".join(reasons)) if reasons else None


def _unlike(pair: Pair) -> Finding | None:
    if pair.after is None:
        return Finding(pair, "removed", "after has no such circle")
    if pair.before is None:
        return Finding(pair, "added", "before has no such circle")
    return Finding(pair, "not comparable", pair.refusal) if pair.refusal else None


def _without_ratio(pair: Pair, options: Options) -> Finding | None:
    """Latencies of zero or less have no ratio; zeros on both sides have not changed."""
    b, a = _both(pair)
    if not any(r.quiet.value for e in (b, a) for r in e.runs):
        known = b.clock.exact or min(len(b.runs), len(a.runs)) > 1
        if known:
            return Finding(pair, "equivalent", "0 on both sides", 0.0, Interval(0.0, 0.0, options.level))
        return Finding(pair, "undecided", f"0 on both sides, but one run of {_alone(pair)}", 0.0, more_runs=1)
    for name, e in (("before", b), ("after", a)):
        least = min(r.quiet.value for r in e.runs)
        if least <= 0:
            return Finding(pair, "not comparable", f"{name} has a latency of {least:g}, to which there is no ratio")
    return None


def _by_image(pair: Pair, level: float) -> Pair:
    """The pair with one run an image, where the clock is exact and a side has several images, as layouts of one source.

    Another boot of an image repeats it to the digit. Counted as a run it would make two layouts look like four.
    """
    if not _several_images(pair):
        return pair
    before, after = (circle and _one_an_image(circle, level) for circle in (pair.before, pair.after))
    return Pair(before, after, pair.refusal)


def _several_images(pair: Pair) -> bool:
    sides = [circle for circle in (pair.before, pair.after) if circle is not None]
    return sides[0].estimate.clock.exact and any(len(set(circle.images)) > 1 for circle in sides)


def _one_an_image(circle: Circle, level: float) -> Circle:
    """Of each image whose runs agree the first one; where they differ, all of them."""
    runs: dict[Hashable, list[RunEstimate]] = {}
    for image, run in zip(circle.images, circle.estimate.runs, strict=True):
        runs.setdefault(image, []).append(run)
    kept = [(image, run) for image, booted in runs.items() for run in (booted if _differ(booted) else booted[:1])]
    estimate = replace(of_runs(circle.estimate, [run for _, run in kept], level), tests=circle.estimate.tests)
    return replace(circle, estimate=estimate, images=tuple(image for image, _ in kept))


def _differ(runs: Sequence[RunEstimate]) -> bool:
    return _distinct(runs).size > 1


def _distinct(runs: Sequence[RunEstimate]) -> FloatArray:
    """The latencies that occur, by an exact clock."""
    return np.unique(np.round([run.quiet.value for run in runs], _EXACT_DIGITS))


def _exact(pair: Pair, options: Options) -> Finding | None:
    """An exact clock repeats to the digit. Where its runs differ all the same they are judged as noisy, and so are
    images enough to show what moving code does to the row.
    """
    b, a = _both(pair)
    if not b.clock.exact or _differ(b.runs) or _differ(a.runs):
        return None
    floor = options.floor_on(b, a)
    change, verdict = statistics.decide_exact(_distinct(b.runs), _distinct(a.runs), floor)
    if 0 < abs(change) <= floor and min(_images(pair)) >= LAYOUTS:
        return None
    interval = Interval(change, change, options.level)
    reason = "exact clock" + (f", layout floor {_rough(floor)}" if floor else "")
    return Finding(pair, _turned(verdict, b), reason, change, interval, "exact", None, floor, 0)


def _layout_floor(e: Estimate) -> float:
    """Counts of instructions have none. Printed figures are taken for passes: nobody says how they were timed."""
    if e.clock.unit != "cycles":
        return 0.0
    if e.method == "accumulated":
        return LAYOUT_FLOORS["turns"]
    few = e.method != "reported" and min(run.typical.tests for run in e.runs) < FEW_PASSES
    return LAYOUT_FLOORS["few passes" if few else "passes"]


def _noisy(open_pairs: Sequence[Pair], options: Options) -> list[Finding]:
    """Tests all pairs on noisy clocks together."""
    changes = [_change(pair, options.level) for pair in open_pairs]
    tested = [i for i, change in enumerate(changes) if math.isfinite(change.standard_error)]
    adjusted = dict(zip(tested, statistics.adjust([changes[i].p for i in tested]), strict=True))
    return [
        _judged(pair, change, float(adjusted[i]), options) if i in adjusted else _too_few_runs(pair, change, options)
        for i, (pair, change) in enumerate(zip(open_pairs, changes, strict=True))
    ]


def _change(pair: Pair, level: float, typical: bool = False) -> Change:
    values = [[(r.typical if typical else r.quiet).value for r in e.runs] for e in _both(pair)]
    # Whole numbers are counts of a clock: runs that agree to the digit are still known to no better than a half.
    resolution = 1.0 if all(value.is_integer() for of_side in values for value in of_side) else 0.0
    return statistics.change(values[0], values[1], level, resolution)


def _judged(pair: Pair, change: Change, p: float, options: Options) -> Finding:
    b, a = _both(pair)
    decision = statistics.decide(change, (len(b.runs), len(a.runs)), options.margin, p)
    moved, disagreement = _typical(pair, change, options)
    return Finding(
        pair=pair, verdict=_turned(decision.verdict, b),
        reason=_compared(pair) + _why(change, decision, p, options),
        change=change.fraction, interval=change.interval,
        scope="between images" if _several_images(pair) else "between runs", p=p,
        minimum_detectable=decision.minimum_detectable, more_runs=decision.more_runs, typical_change=moved,
        disagreement=disagreement,
    )  # fmt: skip


def _compared(pair: Pair) -> str:
    """What is compared, where that is not plainly runs of a noisy clock."""
    if _several_images(pair):
        before, after = _images(pair)
        return f"{before} against {after} images; "
    return "the runs differ although the clock is exact; " if _both(pair)[0].clock.exact else ""


def _images(pair: Pair) -> tuple[int, int]:
    """How many different images each side booted; 0 where nobody says."""
    assert pair.before is not None
    assert pair.after is not None
    return len(set(pair.before.images)), len(set(pair.after.images))


def _why(change: Change, decision: statistics.Decision, p: float, options: Options) -> str:
    margin = _rough(options.margin)
    if decision.verdict == "equivalent":
        return f"the whole interval lies within the margin of {margin}"
    if decision.verdict != "undecided":
        return f"beyond the margin of {margin}, p {p:.2g} over the suite"
    inside = abs(change.log_ratio) <= math.log1p(options.margin)
    what = "the interval reaches beyond the margin" if inside else f"p {p:.2g} over the suite"
    needed = f"over {statistics.MOST_RUNS}" if decision.more_runs is None else f"about {decision.more_runs}"
    found = _rough(decision.minimum_detectable)
    return f"{what}; needed: {needed} more a side (those at hand find changes from {found})"


def _too_few_runs(pair: Pair, change: Change, options: Options) -> Finding:
    """One run on a side: the change, its interval within these runs, and the least that would decide it."""
    b, a = _both(pair)
    assert b.quiet is not None
    assert a.quiet is not None
    interval = statistics.within((b.quiet.value, b.quiet.interval), (a.quiet.value, a.quiet.interval))
    bounded = math.isfinite(interval.high)
    runs = (len(b.runs), len(a.runs))
    variances = (_run_variance(b, a), _run_variance(a, b))
    plan = _plan(change.log_ratio, variances, runs, options)
    what = "image" if _several_images(pair) else "run"
    return Finding(
        pair=pair, verdict="undecided", reason=f"one {what} of {_alone(pair)}; {_needed(variances, plan)}",
        change=change.fraction, interval=interval if bounded else None, scope="these runs" if bounded else "",
        minimum_detectable=plan.minimum_detectable if plan else None,
        more_runs=plan.more_runs if plan else (1 if None in variances else None),
        typical_change=_change(pair, options.level, typical=True).fraction,
    )  # fmt: skip


def _alone(pair: Pair) -> str:
    """The side that has one run only."""
    b, a = _both(pair)
    return "either side" if len(b.runs) == len(a.runs) else "before" if len(b.runs) == 1 else "after"


def _plan(
    log_ratio: float, variances: tuple[float | None, float | None], runs: tuple[int, int], options: Options
) -> statistics.Plan | None:
    before, after = variances
    if before is None or after is None:
        return None
    return statistics.plan(log_ratio, (before, after), runs, options.level, options.margin)


def _needed(variances: tuple[float | None, float | None], plan: statistics.Plan | None) -> str:
    """The least further runs a side, as a phrase."""
    if plan is not None:
        found = _rough(plan.minimum_detectable)
        return f"needed: at least {plan.more_runs} more a side (to find changes from {found})"
    if None in variances:
        return "needed: at least 1 more a side (spread unknown)"
    return f"even {statistics.MOST_RUNS} more a side would not decide"


def _run_variance(e: Estimate, other: Estimate) -> float | None:
    """Variance of the log estimate of a run: from the runs, else from the other side's, else from within the run."""
    for one in (e, other):
        if len(one.runs) > 1:
            return float(np.var(np.log([r.quiet.value for r in one.runs]), ddof=1))
    interval = e.runs[0].quiet.interval
    relative = interval.half_width / e.runs[0].quiet.value
    # No spread at all within a run, as on a coarse clock, says nothing about the spread of runs.
    return (relative / critical_value(interval.level)) ** 2 if math.isfinite(relative) and relative else None


def _typical(pair: Pair, quiet: Change, options: Options) -> tuple[float, str]:
    """The change of typical, and what to say where it is surely not that of quiet."""
    typical = _change(pair, options.level, typical=True)
    apart = abs(typical.log_ratio - quiet.log_ratio) > math.log1p(options.margin)
    sure = math.isfinite(typical.standard_error) and not typical.log_interval.contains(quiet.log_ratio)
    return typical.fraction, f"typical moved by {100 * typical.fraction:+.2f} %" if apart and sure else ""


def _rough(fraction: float) -> str:
    return f"{100 * fraction:.2g} %"


def _turned(verdict: str, e: Estimate) -> str:
    """For rates, more is better."""
    if e.better == "higher":
        return {"regressed": "improved", "improved": "regressed"}.get(verdict, verdict)
    return verdict


def _both(pair: Pair) -> tuple[Estimate, Estimate]:
    assert pair.before is not None
    assert pair.after is not None
    return pair.before.estimate, pair.after.estimate


def _quiet(circle: Circle | None) -> LevelsEstimate | None:
    return None if circle is None else circle.estimate.quiet
