# SPDX-License-Identifier: BSD-2-Clause
"""What entering and leaving a test costs: c of A = c + b N, over visits, over runs, or of one run.

Over visits, where a session knows them, the sizes of a line follow each other within milliseconds;
that is the best there is. Over runs each run has one base latency of each size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cyclometer.estimate import marginal, regimes
from cyclometer.estimate.grouped import grouped
from cyclometer.estimate.interval import FloatArray, Interval, critical_value
from cyclometer.estimate.marginal import MarginalFit

_EXACT_DIGITS = 9  # what floating point leaves of a line by an exact clock


def over_visits(
    A: FloatArray, N: FloatArray, visit: NDArray[np.intp], visits: int, level: float
) -> MarginalFit | None:
    """The line through the midmeans of each visit's own sizes.

    None for a flow of one size, or if fewer than two visits have all sizes.

    Args:
        A, N: accumulated latencies and the turns of each test, shape (n,).
        visit: the visit of each test, from 0 to visits - 1, shape (n,).
    """
    sizes, size = np.unique(N, return_inverse=True)
    held, cell = np.unique(visit * sizes.size + size, return_inverse=True)
    location = np.full(visits * sizes.size, np.nan)
    location[held] = grouped(A, cell, held.size).midmeans()
    table = location.reshape(visits, sizes.size)
    # a cell without a test is NaN, and so not above 0 either
    complete = table[np.all(table > 0, axis=1)]
    if sizes.size < 2 or len(complete) < 2:
        return None
    return marginal.fit_repeated(sizes, complete, level)


def over_runs(
    A: FloatArray, N: FloatArray, run: NDArray[np.int32], level: float, exact: bool
) -> MarginalFit | None:
    """The line through the base A of each size, over the runs that have all sizes; None for a flow
    of one size.

    A single run has no spread between runs: its errors are those of its base estimates.

    Args:
        A, N, run: accumulated latency in units of the clock, turns and run of each test, (n,).
        level: of the intervals, between 0 and 1.
        exact: whether the clock is, so that the base is the lowest count that repeats.
    """
    sizes = np.unique(N)
    runs = [number for number in np.unique(run) if np.unique(N[run == number]).size == sizes.size]
    if sizes.size < 2 or not runs or np.any(A <= 0):
        return None
    if len(runs) > 1:
        by_size = [_base_of_runs(A[size == N], run[size == N], runs, exact) for size in sizes]
        return marginal.fit_repeated(sizes, np.transpose(by_size), level)
    estimate = regimes.estimate_exact if exact else regimes.estimate
    base = [estimate(A[(run == runs[0]) & (size == N)], level).base for size in sizes]
    location = np.array([one.value for one in base])
    error = np.array([one.interval.half_width for one in base]) / critical_value(level)
    df = np.array([one.tests - 1.0 for one in base])
    # 1/12 is the variance of rounding to whole units: no location is known better
    variance = np.maximum(error**2, 1 / 12) if np.isfinite(error).all() and df.all() else None
    return marginal.fit_groups(marginal.Groups(sizes, location, location**-2, variance, df), level)


def of_exact_run(A: FloatArray, N: FloatArray) -> float:
    """Where the line through the base latencies of each size meets no turns, in units of the
    clock; 0 if there is no line.

    Args:
        A, N: accumulated latencies in units of the clock and turns of one run, shape (n,).
    """
    sizes = np.unique(N)
    low = np.array([regimes.base_exact(np.sort(A[size == N])) for size in sizes])
    if sizes.size < 2 or np.any(low <= 0):
        return 0.0
    line = marginal.fit_groups(marginal.Groups(sizes, low, low**-2.0, None, None))
    return round(line.c, _EXACT_DIGITS)


def without_rounding(fit: MarginalFit) -> MarginalFit:
    """The same line by an exact clock without what floating point left on it."""
    b, c = round(fit.b, _EXACT_DIGITS), round(fit.c, _EXACT_DIGITS)
    half_b, half_c = (
        round(fit.b_interval.half_width, _EXACT_DIGITS),
        round(fit.c_interval.half_width, _EXACT_DIGITS),
    )
    level = fit.b_interval.level
    return replace(
        fit,
        b=b,
        c=c,
        b_interval=Interval(b - half_b, b + half_b, level),
        c_interval=Interval(c - half_c, c + half_c, level),
    )


def _base_of_runs(
    A: FloatArray, run: NDArray[np.int32], runs: Sequence[int], exact: bool
) -> list[float]:
    """Base accumulated latency of each of these runs at one size."""
    if exact:
        return [regimes.base_exact(np.sort(A[run == number])) for number in runs]
    common = regimes.base_core(np.sort(A))
    return [regimes.base(A[run == number], common) for number in runs]
