# SPDX-License-Identifier: BSD-2-Clause
"""Is a run steady, and may its turns be called independent?

Three questions are asked of the tests of one group in arrival order: where the warm-up ends
(MSER-5), what shape the run has (segments of equal level), and whether one test tells about the
next (autocorrelation). A fourth is asked of groups of different size: whether var(A) grows with N
as independent turns require. KBench's var(P) = N var(Y) stands only while none of them says no.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import ndimage, special

from .interval import FloatArray, samples

ALPHA = 0.01
"""Significance at which independence counts as refuted."""
POINTS = 100
"""A run is segmented on at most this many batch medians: finer changes than one percent of the run
are not sought.
"""
SHORTEST = 5
"""The least number of points in a segment."""
PENALTY = 4
"""What one more segment costs, in variances of the noise times the logarithm of the points."""
OUTLYING = 3.0
"""Standard deviations of the noise from the level about it at which a test is not part of it."""
AROUND = 9
"""Tests whose median is the level about a test; SHORTEST of them at another level stay."""

Shape = Literal["flat", "warm-up", "slow-down", "no steady state"]


@dataclass(frozen=True)
class Segment:
    """A stretch of tests [first, end) at one level."""

    first: int
    end: int
    level: float


@dataclass(frozen=True)
class Steadiness:
    """What the arrival order of one group shows, or that of a session's visits. `warm_up` is None
    if MSER-5 finds no end of it.
    """

    tests: int  # or visits, as `of` says
    warm_up: int | None
    shape: Shape
    segments: tuple[Segment, ...]
    lag_correlation: float
    ljung_box_p: float
    effective_size: float
    of: Literal["tests", "visits"] = "tests"


@dataclass(frozen=True)
class VarianceGrowth:
    """var(A) over groups: var(A) ~ N^exponent. Independent turns give 1, a shared disturbance 2,
    the clock alone 0.
    """

    exponent: float
    p: float


def assess(Y: ArrayLike, of: Literal["tests", "visits"] = "tests") -> Steadiness:
    """Judge one group of tests, or the visits of a session.

    Args:
        Y: latencies in arrival order, shape (n,), n >= 10, any unit; disturbed tests included.
        of: what each of them is the latency of.
    """
    series = samples(Y, 10, "Y")
    segments = segment(series)
    correlation = autocorrelation(series)
    return Steadiness(
        tests=series.size,
        warm_up=mser5(series),
        shape=_shape(series, segments),
        segments=segments,
        lag_correlation=float(correlation[1]),
        ljung_box_p=ljung_box(correlation, series.size),
        effective_size=effective_size(correlation, series.size),
        of=of,
    )


def independence_refuted(group: Steadiness, growth: VarianceGrowth | None = None) -> str:
    """Why the turns may not be called independent, in a few words; empty where nothing refutes
    it.
    """
    if group.shape != "flat":
        return f"the run is not flat ({group.shape})"
    if group.ljung_box_p < ALPHA:
        lag = group.lag_correlation
        return (
            f"successive tests are correlated (lag 1: {lag:+.2f}, Ljung-Box p "
            f"{group.ljung_box_p:.1g})"
        )
    if growth is not None and growth.p < ALPHA:
        return (
            f"var(A) grows as N^{growth.exponent:.1f} where independent turns give N^1 (p "
            f"{growth.p:.1g})"
        )
    return ""


def mser5(series: FloatArray) -> int | None:
    """Tests to drop from the start (White 1997, batches of five); None if the minimum lies past
    the middle.

    The truncation d minimises sum((x - mean)^2) / (n - d)^2 over what remains: the squared standard
    error of its mean. `series` has shape (n,), n >= 10.
    """
    count = series.size // 5
    batches = series[: 5 * count].reshape(count, 5).mean(axis=1)
    # Sums over what remains after each truncation, about the overall mean so that large values do
    # not cancel.
    tail = (batches - batches.mean())[::-1]
    left = np.arange(tail.size, 0, -1)
    squares, total = np.cumsum(tail**2)[::-1], np.cumsum(tail)[::-1]
    error = (squares - total**2 / left) / left.astype(np.float64) ** 2
    # The last few batches would win by chance: five remain.
    best = int(np.argmin(error[: max(1, tail.size - 4)]))
    return 5 * best if best <= tail.size // 2 else None


def autocorrelation(series: FloatArray) -> FloatArray:
    """Autocorrelation at lags 0 to n // 2, shape (n // 2 + 1,); zero beyond lag 0 where nothing
    varies.
    """
    n, lags = series.size, series.size // 2 + 1
    correlation = np.zeros(lags)
    correlation[0] = 1.0
    if np.ptp(series):
        # Padding to twice the length keeps the end of the series from wrapping round to its start.
        covariance = np.fft.irfft(np.abs(np.fft.rfft(series - series.mean(), 2 * n)) ** 2)[:lags]
        correlation[:] = covariance / covariance[0]
    return correlation


def ljung_box(correlation: FloatArray, n: int) -> float:
    """p-value of Ljung and Box (1978) over min(10, n // 5) lags.

    Args:
        correlation: of a series of `n` values with itself, by lag from 0; shape (n,).
    """
    lags = np.arange(1, min(10, n // 5) + 1)
    Q = n * (n + 2) * np.sum(correlation[lags] ** 2 / (n - lags))
    return float(special.chdtrc(lags.size, Q))


def effective_size(correlation: FloatArray, n: int) -> float:
    """How many independent samples a series of n is worth, at most n (Geyer 1992, initial positive
    sequence). `correlation` has shape (lags,), from lag 0, where it is 1.
    """
    count = correlation.size // 2
    pairs = correlation[: 2 * count].reshape(count, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    inflation = 2 * pairs[: negative[0] if negative.size else pairs.size].sum() - 1
    return n / max(1.0, float(inflation))


def variance_growth(A: ArrayLike, N: ArrayLike) -> VarianceGrowth | None:
    """Test var(A) proportional to N over groups; None with fewer than two sizes of three tests, or
    without variance.

    Brown and Forsythe's test of equal spread is applied to (A - median) / sqrt(N), which has one
    spread under independent turns whatever their distribution.

    Args:
        A, N: accumulated latencies and the turns of each test, shape (n,).
    """
    accumulated, turns = samples(A, 2, "A"), samples(N, 2, "N")
    groups = {float(size): accumulated[turns == size] for size in np.unique(turns)}
    groups = {size: group for size, group in groups.items() if group.size >= 3 and np.ptp(group)}
    if len(groups) < 2:
        return None
    scaled = [(group - np.median(group)) / math.sqrt(size) for size, group in groups.items()]
    weight = np.array([group.size - 1.0 for group in groups.values()])
    log_variance = np.log([group.var(ddof=1) for group in groups.values()])
    log_size = np.log(list(groups))
    lever = weight * (log_size - np.average(log_size, weights=weight))
    return VarianceGrowth(
        exponent=float(lever @ log_variance / (lever @ log_size)),
        p=_equal_spread_p([np.abs(group) for group in scaled]),
    )


def _equal_spread_p(deviations: list[FloatArray]) -> float:
    """Brown and Forsythe (1974): analysis of variance of the absolute deviations from each group's
    median.
    """
    k, n = len(deviations), sum(group.size for group in deviations)
    grand = sum(group.sum() for group in deviations) / n
    between = sum(group.size * (group.mean() - grand) ** 2 for group in deviations)
    within = sum(np.sum((group - group.mean()) ** 2) for group in deviations)
    return (
        float(special.fdtrc(k - 1, n - k, between / (k - 1) / (within / (n - k))))
        if within
        else 1.0
    )


def segment(series: FloatArray) -> tuple[Segment, ...]:
    """Part a run into stretches of one level: exact optimal partitioning (Jackson et al. 2005) of
    batch medians.

    A boundary must lower the squared error by PENALTY * variance * log(points). The variance is
    that of successive differences, which a change of level does not enlarge. Tests that lie far
    from those about them, such as one in ten that a timer tick of the host hit, are replaced
    first: where they happen to cluster no level begins. `series` has shape (n,), n >= 10, and any
    unit, which the levels have, too.
    """
    series = _without_outliers(series)
    length = math.ceil(series.size / POINTS)
    count = series.size // length
    points = np.median(series[: count * length].reshape(count, length), axis=1)
    points = _without_outliers(points)
    noise = _difference_variance(points)
    bounds = _optimal_bounds(points - np.median(points), PENALTY * noise * math.log(points.size))
    return tuple(
        Segment(
            first * length,
            series.size if end == points.size else end * length,
            float(np.mean(points[first:end])),
        )
        for first, end in bounds
    )


def _without_outliers(series: FloatArray) -> FloatArray:
    """The series with tests that lie OUTLYING standard deviations of the noise from the median
    about them replaced by that median (Hampel's filter).
    """
    level: FloatArray = ndimage.median_filter(series, AROUND, mode="mirror")
    reach = OUTLYING * math.sqrt(_difference_variance(series))
    return np.where(np.abs(series - level) > reach, level, series)


def _difference_variance(points: FloatArray) -> float:
    """Variance of the noise about a level, from the spread of successive differences, resistant to
    jumps.
    """
    steps = np.abs(np.diff(points))
    scale = float(np.median(steps)) * 1.4826
    # More than half of the steps can be zero on a coarse clock; their mean square is then all there
    # is.
    return (scale**2 if scale else float(np.mean(steps**2))) / 2


def _optimal_bounds(points: FloatArray, penalty: float) -> list[tuple[int, int]]:
    """The partition with the least sum of squares plus penalty for each segment."""
    n, total = points.size, np.concatenate(([0.0], np.cumsum(points)))
    # cost[end, first] of a segment, for all pairs at once; those that are not one are not looked
    # at. The sum of all squares is left out: every partition has it.
    length = np.maximum(SHORTEST, np.subtract.outer(np.arange(n + 1), np.arange(n + 1)))
    cost = penalty - np.subtract.outer(total, total) ** 2 / length
    best, previous = np.full_like(total, np.inf), np.zeros_like(total, dtype=np.intp)
    best[0] = 0.0
    for end in range(SHORTEST, n + 1):
        candidate = best[: end - SHORTEST + 1] + cost[end, : end - SHORTEST + 1]
        previous[end] = candidate.argmin()
        best[end] = candidate[previous[end]]
    bounds, end = [], n
    while end:
        bounds.append((int(previous[end]), end))
        end = int(previous[end])
    return bounds[::-1]


def _shape(series: FloatArray, segments: tuple[Segment, ...]) -> Shape:
    """Barrett et al. (2017): the shape of a run by where the level of its last segment stands among
    the others.
    """
    last = segments[-1].level
    spread = math.sqrt(_difference_variance(series))
    # a quarter of the noise, or a thousandth of the latency, is no other level
    different = [s for s in segments if abs(s.level - last) > max(spread / 4, 0.001 * abs(last))]
    if not different:
        return "flat"
    # a last level of less than a quarter of the run may not last either
    if different[-1].end > 0.75 * series.size:
        return "no steady state"
    return "warm-up" if all(s.level > last for s in different) else "slow-down"
