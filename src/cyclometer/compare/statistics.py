# SPDX-License-Identifier: BSD-2-Clause
"""The statistics of a comparison: change, interval, verdict, and what it would take to decide.

Everything rests on run-level estimates, because the run is what repeats. Changes are computed as
log ratios, which treat a factor and its inverse alike, printed as (after - before) / before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from ..estimate.interval import FloatArray, Interval, samples, student

Verdict = Literal["regressed", "improved", "equivalent", "undecided"]
MARGIN = 0.01
"""Default margin: a change of less than this fraction does not matter."""
_LARGEST_LOG = 700.0  # exp of it is the largest float, nearly
POWER = 0.8
"""Probability with which a true change of the minimum detectable size is found."""
MOST_UNITS = 1000
"""More runs per side than this are called out of reach."""


@dataclass(frozen=True)
class Change:
    """One row: log(after / before) with its error and interval, and the two-sided p of no change.

    Where a side has one run the error is infinite and p is 1: nothing is known about the next run.
    """

    log_ratio: float
    standard_error: float
    df: float
    log_interval: Interval
    p: float

    @property
    def fraction(self) -> float:
        """(after - before) / before, a fraction."""
        return math.expm1(self.log_ratio)

    @property
    def interval(self) -> Interval:
        """Interval of `fraction`; -1 to infinity where a side has one run."""
        log = self.log_interval
        return Interval(_growth(log.low), _growth(log.high), log.level)


@dataclass(frozen=True)
class Decision:
    """The verdict on a change.

    minimum_detectable: the smallest true change, as a fraction, that the present ones find with
    probability POWER. more: further units per side that would decide the row if the spread stays
    what it is; 0 when decided, None when out of reach or unknown.
    """

    verdict: Verdict
    minimum_detectable: float
    more: int | None


def change(
    before: ArrayLike, after: ArrayLike, level: float = 0.95, resolution: float = 0.0
) -> Change:
    """Welch's comparison of the mean log of the run-level estimates of the two sides.

    Args:
        before, after: one estimate per run, shapes (R1,) and (R2,), positive and in one unit.
        resolution: step to which the estimates are rounded, in their unit; runs cannot spread less
        than that.

    Raises:
        ValueError: a side without runs, or an estimate that is not positive, which has no ratio.
    """
    logs = [_logs(before, "before"), _logs(after, "after")]
    difference = float(logs[1].mean() - logs[0].mean())
    if min(side.size for side in logs) < 2:
        return Change(difference, math.inf, 0.0, Interval(-math.inf, math.inf, level), 1.0)
    rounding = [resolution**2 / 12 * math.exp(-2 * float(side.mean())) for side in logs]
    # runs that agree have no variance, whatever rounding leaves of it
    variances = [
        max(float(side.var(ddof=1)) if np.ptp(side) else 0.0, floor)
        for side, floor in zip(logs, rounding, strict=True)
    ]
    error, df = _welch(variances, [side.size for side in logs])
    p = (
        two_sided(difference, error, df)
        if error
        else _by_relabelling(difference, logs[0].size, logs[1].size)
    )
    return Change(difference, error, df, student(difference, error, df, level), p)


def within(before: tuple[float, Interval], after: tuple[float, Interval]) -> Interval:
    """Interval of (after - before) / before from one value and interval per side, by MOVER on
    logarithms (Donner & Zou 2012).

    It speaks about the runs the intervals speak about; an end is open (-1, infinity) where an
    interval is, or holds 0.
    """
    (b, of_b), (a, _) = before, after
    b_low, b_high, a_low, a_high = (
        _reach(end / at) for at, of in (before, after) for end in (of.low, of.high)
    )
    log_ratio = math.log(a / b)
    low, high = log_ratio - math.hypot(a_low, b_high), log_ratio + math.hypot(a_high, b_low)
    return Interval(_growth(low), _growth(high), of_b.level)


def adjust(p: ArrayLike) -> FloatArray:
    """Benjamini and Hochberg (1995): p-values adjusted so that a threshold on them bounds the false
    discovery rate; of the shape (n,) of `p`, which may be empty. Raises ValueError for a p-value
    that is not finite.
    """
    values = samples(p, 0, "p")
    order = np.argsort(values)[::-1]
    scaled = values[order] * values.size / np.arange(values.size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum.accumulate(scaled)
    return adjusted


def decide(
    row: Change,
    units: tuple[int, int],
    margin: float = MARGIN,
    adjusted_p: float | None = None,
    share: float = 1.0,
) -> Decision:
    """The verdict of one row.

    `equivalent` when the whole interval lies within the margin (two one-sided tests); otherwise
    `regressed` or `improved` when no change is refuted and the change exceeds the margin; otherwise
    `undecided`.

    Args:
        units: sessions or runs of the two sides, for those still needed.
        margin: the fraction that matters; the interval on the ratio is held against 1/(1 + margin)
            to 1 + margin.
        adjusted_p: p after `adjust` over all rows; None for a row that stands alone.
        share: of the significance level that one more row of the suite has to stay below, (rows
            already found + 1) / rows in Benjamini and Hochberg's procedure.

    Raises:
        ValueError: the margin is negative.
    """
    if not margin >= 0:
        raise ValueError(f"The margin is {margin:g}; it must be a fraction such as 0.01.")
    edge, alpha = math.log1p(margin), 1 - row.log_interval.level
    p = row.p if adjusted_p is None else adjusted_p
    verdict: Verdict = "undecided"
    if -edge < row.log_interval.low and row.log_interval.high < edge:
        verdict = "equivalent"
    elif p <= alpha and row.log_ratio > edge:
        verdict = "regressed"
    elif p <= alpha and row.log_ratio < -edge:
        verdict = "improved"
    return Decision(
        verdict=verdict,
        minimum_detectable=_minimum_detectable(row, edge, share),
        more=0 if verdict != "undecided" else _more(row, units, edge),
    )


@dataclass(frozen=True)
class FurtherRuns:
    """Further runs per side that would decide a row, and the smallest change that so many would
    find.
    """

    more: int
    minimum_detectable: float


def plan(
    log_ratio: float,
    variances: tuple[float, float],
    runs: tuple[int, int],
    level: float = 0.95,
    margin: float = MARGIN,
) -> FurtherRuns | None:
    """What would decide a row whose runs are too few to show their own spread; None when out of
    reach.

    Args:
        log_ratio: log(after / before) as it looks now.
        variances: of a run's log estimate on either side, as known from elsewhere.
        runs: runs of the two sides so far.
    """
    if not any(variances):
        return FurtherRuns(1, margin)
    edge, size = math.log1p(margin), abs(log_ratio)
    added = np.arange(1, MOST_UNITS + 1)
    parts = np.stack(
        [variance / (count + added) for variance, count in zip(variances, runs, strict=True)]
    )
    error = np.sqrt(parts.sum(axis=0))
    df = error**4 / (parts**2 / np.stack([count + added - 1 for count in runs])).sum(axis=0)
    half_width = special.stdtrit(df, (1 + level) / 2) * error
    enough = np.flatnonzero(half_width < (edge - size if size < edge else size))
    if not enough.size:
        return None
    first = enough[0]
    detectable = (
        max(half_width[first], edge) + float(special.stdtrit(df[first], POWER)) * error[first]
    )
    return FurtherRuns(int(added[first]), _growth(float(detectable)))


def decide_exact(before: ArrayLike, after: ArrayLike, floor: float = 0.0) -> tuple[float, Verdict]:
    """Change and verdict on an exact clock: any difference beyond the layout floor is real.

    Args:
        before, after: run-level estimates; all runs of a side must agree.
        floor: the fraction by which a mere change of code layout is known to move this circle.

    Raises:
        ValueError: the runs of a side differ, so the clock is not exact.
    """
    value = [_only(before, "before"), _only(after, "after")]
    fraction = (value[1] - value[0]) / value[0]
    if beyond(value[0], value[1], floor):
        return fraction, "regressed" if fraction > 0 else "improved"
    return fraction, "equivalent"


def beyond(before: float, after: float, floor: float) -> bool:
    """Whether a change exceeds a fraction of the smaller of both values: a tenth more is as far
    from it as the way back.
    """
    return max(before, after) > min(before, after) * (1 + floor)


def _reach(ratio: float) -> float:
    """How far an end of an interval lies from its value, on logs and with either sign; infinite
    where it is open.
    """
    return math.log(ratio) if ratio > 0 else math.inf


def _logs(values: ArrayLike, name: str) -> FloatArray:
    estimates = samples(values, 1, name)
    if estimates.min() <= 0:
        raise ValueError(
            f"{name} holds an estimate of {estimates.min():g}, which has no ratio; compare "
            "differences."
        )
    logs: FloatArray = np.log(estimates)
    return logs


def _only(values: ArrayLike, name: str) -> float:
    distinct: NDArray[np.float64] = np.unique(samples(values, 1, name))
    if distinct.size > 1:
        raise ValueError(
            f"The runs of {name} differ ({distinct[0]:g} to {distinct[-1]:g}), so their clock is "
            "not exact; "
            "compare them as noisy."
        )
    return float(distinct[0])


def _welch(variances: Sequence[float], sizes: Sequence[int]) -> tuple[float, float]:
    """Standard error of a difference of means and Welch and Satterthwaite's degrees of freedom."""
    parts = [variance / size for variance, size in zip(variances, sizes, strict=True)]
    total = sum(parts)
    if not total:
        return 0.0, float(sum(sizes) - 2)
    return math.sqrt(total), total**2 / sum(
        part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True)
    )


def two_sided(difference: float, error: float, df: float) -> float:
    """The p-value of no difference by Student's t. `difference` and `error`, its standard error,
    are in one unit; `error` and `df` are positive.
    """
    return 2 * float(special.stdtr(df, -abs(difference) / error))


def _by_relabelling(difference: float, before: int, after: int) -> float:
    """p where the runs of a side do not differ at all, as on a coarse clock (Fisher's permutation
    test).

    Their spread is then below the clock's steps, not zero: what is left is how seldom chance parts
    runs so well.
    """
    return 2 / math.comb(before + after, before) if difference else 1.0


def _minimum_detectable(row: Change, edge: float, share: float) -> float:
    """A change is found when it is significant in its suite and beyond the margin: its size must
    clear both, and then the power.
    """
    if not math.isfinite(row.standard_error):
        return math.inf
    alpha = share * (1 - row.log_interval.level)
    critical = float(special.stdtrit(row.df, 1 - alpha / 2))
    power = float(special.stdtrit(row.df, POWER))
    return _growth(max(critical * row.standard_error, edge) + power * row.standard_error)


def _more(row: Change, units: tuple[int, int], edge: float) -> int | None:
    """Units to add to each side until the half-width resolves the row as it looks now.

    Where the estimate lies inside the margin, the half-width must fall below its distance to the
    edge (the row becomes equivalent); where it lies outside, below the estimate itself (the change
    becomes significant). The further units move the estimate, which must stay clear of either with
    probability POWER.
    """
    if not math.isfinite(row.standard_error):
        return None
    size = abs(row.log_ratio)
    target = edge - size if size < edge else size
    added = np.arange(1, MOST_UNITS + 1)
    # The error falls with the harmonic size of the two sides, and each unit adds a degree of
    # freedom.
    now = 1 / units[0] + 1 / units[1]
    error = row.standard_error * np.sqrt((1 / (units[0] + added) + 1 / (units[1] + added)) / now)
    df = row.df + 2 * added
    # inside the margin an estimate can leave it on either side
    power = (1 + POWER) / 2 if size < edge else POWER
    clear = special.stdtrit(df, (1 + row.log_interval.level) / 2) + special.stdtrit(df, power)
    enough = np.flatnonzero(clear * error < target)
    return int(added[enough[0]]) if enough.size else None


def _growth(log_ratio: float) -> float:
    """The relative change of a logarithm of a ratio; infinite if no float holds it."""
    return math.expm1(log_ratio) if log_ratio < _LARGEST_LOG else math.inf
