# SPDX-License-Identifier: BSD-2-Clause
"""Marginal latency: the line A = c + b N through groups of different test size.

A/N is biased by c/N, c being the cost of entering and leaving the measuring interval and of warming
up; the slope b is the latency of one more turn. The line is ordinary least squares; its errors come
from each group's own variance, so that one noisy group does not lend its noise to the others, and
whether the line holds is tested, not assumed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .interval import FloatArray, Interval, samples, student

BENT = 0.01
"""The level at which a line is refuted."""
MAD_OF_FEW = {2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}
"""By how much the median absolute deviation of so many normal values falls short of 0.6745
standard deviations.
"""


@dataclass(frozen=True)
class Curvature:
    """Evidence against the line: p-values, and the coefficient of N^2 (positive: turns take more
    the more there are).
    """

    lack_of_fit_p: float | None
    quadratic: float
    quadratic_p: float

    def bent(self, alpha: float) -> bool:
        """Whether the p-value is below `alpha`: of lack of fit, or if that could not be tested, of
        the coefficient of N^2.
        """
        return (self.quadratic_p if self.lack_of_fit_p is None else self.lack_of_fit_p) < alpha


@dataclass(frozen=True)
class MarginalFit:
    """b: latency of a turn; c: fixed cost of a test, both in the unit of A. `curvature` is None if
    fewer than three sizes were run.
    """

    b: float
    b_standard_error: float
    b_interval: Interval
    c: float
    c_standard_error: float
    c_interval: Interval
    sizes: int
    curvature: Curvature | None

    def line_holds(self, alpha: float = BENT) -> bool | None:
        """False when curvature is significant at `alpha`; None when it could not be tested."""
        return None if self.curvature is None else not self.curvature.bent(alpha)

    def fixed_cost_share(self, N: int) -> float:
        """c / (N b): the fraction by which A/N at this test size exceeds b."""
        return self.c / (N * self.b)


@dataclass(frozen=True)
class Groups:
    """One location a test size, the variance of that location, its degrees of freedom, and its
    weight in the line.

    All of shape (G,). `variance` is None if groups of one test leave it unknown; errors then
    come from the scatter of the locations about the line.
    """

    N: FloatArray
    location: FloatArray
    weight: FloatArray
    variance: FloatArray | None
    df: FloatArray | None

    @property
    def known(self) -> tuple[FloatArray, FloatArray] | None:
        """Variance, in the squared unit of A, and degrees of freedom of each group's location, of
        shape (groups,) each; None if they are not known.
        """
        return None if self.variance is None or self.df is None else (self.variance, self.df)


def fit(A: ArrayLike, N: ArrayLike, level: float = 0.95, resolution: float = 1.0) -> MarginalFit:
    """Least-squares line through all tests.

    Args:
        A: accumulated latencies, shape (n,).
        N: turns of each test, shape (n,); at least two different sizes.
        resolution: smallest step of the clock in the unit of A; a group cannot be known better than
            its rounding.

    Raises:
        ValueError: shapes differ, or fewer than two test sizes.
    """
    return fit_groups(group_means(A, N, resolution), level)


def group_means(A: ArrayLike, N: ArrayLike, resolution: float = 1.0) -> Groups:
    """The groups of `fit`: mean and variance of the mean of the tests of each size, in the unit of
    A and its square. Raises ValueError if A and N differ in shape.
    """
    accumulated, turns = samples(A, 2, "A"), samples(N, 2, "N")
    if accumulated.shape != turns.shape:
        raise ValueError(
            f"A holds {accumulated.size} tests and N {turns.size} sizes; pass one size for each "
            "test."
        )
    sizes, group, tests = np.unique(turns, return_inverse=True, return_counts=True)
    count = tests.astype(np.float64)
    mean = np.bincount(group, accumulated) / count
    if count.min() < 2:
        return Groups(sizes, mean, count, None, None)
    variance = np.bincount(group, (accumulated - mean[group]) ** 2) / (count - 1)
    return Groups(sizes, mean, count, np.maximum(variance / count, resolution**2 / 12), count - 1)


def fit_groups(groups: Groups, level: float = 0.95) -> MarginalFit:
    """The line through one location a group, with errors from the variances of the locations.
    Raises ValueError if there is one size alone.
    """
    N, y = groups.N, groups.location
    slope, cut = _line(N, groups.weight)
    b, c = float(slope @ y), float(cut @ y)
    residual = y - c - b * N
    curvature = _curvature(groups) if N.size >= 3 else None
    stretch = _stretch(groups, residual) if curvature is not None and curvature.bent(BENT) else 1.0
    b_error, b_df = _linear_error(slope, groups, residual, 2)
    c_error, c_df = _linear_error(cut, groups, residual, 2)
    return MarginalFit(
        b=b,
        b_standard_error=stretch * b_error,
        b_interval=student(b, stretch * b_error, b_df, level),
        c=c,
        c_standard_error=stretch * c_error,
        c_interval=student(c, stretch * c_error, c_df, level),
        sizes=N.size,
        curvature=curvature,
    )


def _stretch(groups: Groups, residual: FloatArray) -> float:
    """How much further the locations lie from a line that does not hold than their own errors put
    them (Birge 1932).

    Without it a bent line's fixed cost, and with it the latency of a turn, would look as sure as
    the locations are.
    """
    if groups.known is None:  # then the errors come from that distance already
        return 1.0
    variance, _ = groups.known
    return math.sqrt(float(np.sum(residual**2 / variance)) / (residual.size - 2))


def fit_repeated(N: ArrayLike, locations: ArrayLike, level: float = 0.95) -> MarginalFit:
    """The line of units that each have a location of every size: runs, or visits.

    b and c are the medians of what the units' own lines give, and the spread of those lines is
    their error. What a unit does to all its sizes, such as a slower core, cancels in its own c, and
    what hit one of its sizes stays in it; so no size need be independent of another. Medians keep a
    unit that met one of its sizes in a slower regime from tilting the line or widening its error.

    Args:
        N: the test sizes, shape (G,), G >= 2.
        locations: one location of each size in each unit, shape (R, G), R >= 2, positive, in any
            unit of time, which b and c have, too.

    Raises:
        ValueError: all sizes are one.
    """
    sizes, table = samples(N, 2, "N"), np.asarray(locations, dtype=np.float64)
    # Weights that make the relative errors of all sizes equal.
    weight = np.median(table, axis=0) ** -2.0
    slope, cut = _line(sizes, weight)
    b, b_error = _over_units(slope, table)
    c, c_error = _over_units(cut, table)
    # One degree of freedom goes to the MAD, which tells the spread of a few units less well than
    # their sd would.
    df = max(1, len(table) - 2)
    curvature = None
    if sizes.size >= 3:
        bend = _bend(sizes, weight)
        term, error = _over_units(bend, table)
        error = max(error, _rounding(bend, np.median(table, axis=0)))
        curvature = Curvature(None, term, _p(term, error, df))
    b_interval, c_interval = student(b, b_error, df, level), student(c, c_error, df, level)
    return MarginalFit(b, b_error, b_interval, c, c_error, c_interval, sizes.size, curvature)


def _over_units(coefficient: FloatArray, table: FloatArray) -> tuple[float, float]:
    """The median over units of coefficient @ locations, and its standard error.

    Both resist a unit that is off: the spread is the MAD, made unbiased for few normal values
    (Croux & Rousseeuw 1992), and pi / 2 is what a median varies more than a mean.
    """
    own, R = table @ coefficient, len(table)
    unbiased = MAD_OF_FEW.get(R, R / (R - 0.8))
    middle = float(np.median(own))
    sd = 1.4826 * unbiased * float(np.median(np.abs(own - middle)))
    return middle, sd * math.sqrt(math.pi / 2 / R)


def _line(N: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The coefficients with which b and c are linear in the locations: b = slope @ y, c = cut @
    y.
    """
    if np.ptp(N) == 0:
        raise ValueError(
            "All tests have the same size N, so c and b cannot be separated; run at least two "
            "sizes."
        )
    centre = np.average(N, weights=weight)
    slope = weight * (N - centre) / np.sum(weight * (N - centre) ** 2)
    return slope, weight / weight.sum() - centre * slope


def _bend(N: FloatArray, weight: FloatArray) -> FloatArray:
    """The coefficients with which the term in N^2 of a weighted fit is linear in the locations."""
    scale = float(np.ptp(N))
    x = (N - N.mean()) / scale
    # What of x^2 a line cannot express; the locations' component along it is the quadratic term.
    rest, _ = _weighted_fit(np.stack([np.ones_like(x), x], axis=1), x**2, weight)
    return weight * rest / np.sum(weight * rest**2) / scale**2


def _linear_error(
    coefficient: FloatArray, groups: Groups, residual: FloatArray, parameters: int
) -> tuple[float, float]:
    """Standard error and degrees of freedom of coefficient @ location."""
    if groups.known is None:
        degrees = residual.size - parameters
        scatter = float(np.sum(groups.weight * residual**2)) / degrees if degrees else np.inf
        return float(np.sqrt(scatter * np.sum(coefficient**2 / groups.weight))), degrees
    variance, df = groups.known
    parts = coefficient**2 * variance
    # Welch and Satterthwaite: the degrees of freedom that a sum of differently uncertain variances
    # has.
    return float(np.sqrt(parts.sum())), float(parts.sum() ** 2 / np.sum(parts**2 / df))


def _curvature(groups: Groups) -> Curvature:
    N, y = groups.N, groups.location
    weight = groups.weight if groups.known is None else np.reciprocal(groups.known[0])
    residual, _ = _weighted_fit(np.stack([np.ones_like(N), N, N**2], axis=1), y, weight)
    bend = _bend(N, weight)
    return Curvature(
        _lack_of_fit_p(groups), *_tested(bend, y, *_linear_error(bend, groups, residual, 3))
    )


def _tested(bend: FloatArray, y: FloatArray, error: float, df: float) -> tuple[float, float]:
    """The quadratic term and its two-sided p-value."""
    term = float(bend @ y)
    return term, _p(term, max(error, _rounding(bend, y)), df)


def _rounding(bend: FloatArray, y: FloatArray) -> float:
    """The least error of a quadratic term: on a perfect line both the term and its error are
    rounding, and their ratio says nothing.
    """
    return 1e-9 * float(np.abs(bend) @ np.abs(y))


def _p(term: float, error: float, df: float) -> float:
    return 2 * float(special.stdtr(df, -abs(term) / error)) if df else 1.0


def _lack_of_fit_p(groups: Groups) -> float | None:
    """Johansen (1980): Welch's test of equal means, generalised to `the means lie on a line`."""
    if groups.known is None:
        return None
    variance, df = groups.known
    design = np.stack([np.ones_like(groups.N), groups.N], axis=1)
    residual, leverage = _weighted_fit(design, groups.location, np.reciprocal(variance))
    T, k = float(np.sum(residual**2 / variance)), groups.N.size - 2
    D = float(np.sum((1 - leverage) ** 2 / df))
    return float(special.fdtrc(k, k * (k + 2) / (3 * D), T / (k + 2 * D - 6 * D / (k + 2))))


def _weighted_fit(
    design: FloatArray, y: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Residuals and leverages of a weighted least-squares fit."""
    root = np.sqrt(weight)
    q, _ = np.linalg.qr(design * root[:, None])
    scaled = y * root
    return (scaled - q @ (q.T @ scaled)) / root, np.sum(q**2, axis=1)
