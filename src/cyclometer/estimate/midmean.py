# SPDX-License-Identifier: BSD-2-Clause
"""The midmean: the mean of the middle half of the samples, with an interval that knows about
autocorrelation.

It resists a quarter of wild samples at either end, as the median nearly does, but averages, so that
it is not bound to the steps of a coarse clock.
"""

from __future__ import annotations

import math

import numpy as np

from .interval import FloatArray, Interval, student

BATCHES = 16
"""Consecutive batches whose means are taken as independent; each must be longer than the memory of
the series.
"""


def midmean(ordered: FloatArray) -> float:
    """Mean of the middle half of sorted samples, shape (n,) with n > 0; exact where they are all
    equal.
    """
    cut = ordered.size // 4
    middle = ordered[cut : ordered.size - cut]
    return float(middle[0] + np.mean(middle - middle[0]))


def midmean_interval(arrival: FloatArray, ordered: FloatArray, level: float) -> Interval:
    """Interval of the midmean from samples in arrival order, and the same samples sorted.

    The influence of a sample on a trimmed mean is its value winsorised at the cuts (Tukey &
    McLaughlin 1963); the variance of the mean influence comes from consecutive batches, so that
    slow wandering widens the interval.

    Args:
        arrival, ordered: shape (n,), in one unit, which the interval has, too.
    """
    n, cut = ordered.size, ordered.size // 4
    influence = np.clip(arrival, ordered[cut], ordered[n - 1 - cut])
    variance, df = batch_variance(influence)
    return student(midmean(ordered), math.sqrt(variance) * n / (n - 2 * cut), df, level)


def batch_variance(series: FloatArray) -> tuple[float, int]:
    """Variance of the mean of an autocorrelated series by batch means, in the square of its unit,
    and its degrees of freedom; infinite and 0 if the series, of shape (n,), is too short.
    """
    length = max(1, series.size // BATCHES)
    batches = series.size // length
    if batches < 2:
        return math.inf, 0
    means = series[: batches * length].reshape(batches, length).mean(axis=1)
    return float(means.var(ddof=1)) * length / series.size, batches - 1
