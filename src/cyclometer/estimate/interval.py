# SPDX-License-Identifier: BSD-2-Clause
"""What every estimator shares: a checked array of samples, and an interval with its level.

Distributions come from scipy.special, not scipy.stats: it loads in a fifth of the time and answers
a hundred times faster, which `show` feels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

FloatArray = NDArray[np.float64]
ORDER = 10
"""A value is not known to an order of magnitude if half of its interval is wider than this times
it.
"""


@dataclass(frozen=True)
class Interval:
    """A confidence interval, in the unit of the estimate it belongs to; an open end is infinite."""

    low: float
    high: float
    level: float

    @property
    def half_width(self) -> float:
        """In the unit of the ends; infinite if an end is open."""
        return (self.high - self.low) / 2

    def unknown(self, value: float) -> bool:
        """Whether not even the order of magnitude of a positive `value` is known: half the width is
        more than ORDER times it. False of an open interval.
        """
        return 0 < ORDER * value < self.half_width < math.inf and self.high > 0

    def contains(self, value: float) -> bool:
        """Whether a value in the unit of the ends lies between them, or on one."""
        return self.low <= value <= self.high

    def scaled(self, factor: float) -> Interval:
        """The interval of the same estimate in another unit; `factor` must be positive."""
        return Interval(self.low * factor, self.high * factor, self.level)


def samples(values: ArrayLike, at_least: int = 1, name: str = "samples") -> FloatArray:
    """`values` as a float64 array of shape (n,). Raises ValueError if it has more dimensions, fewer
    than `at_least` values, or one that is not finite.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, not of shape {array.shape}; pass one flat array."
        )
    if array.size < at_least:
        raise ValueError(
            f"{name} holds {array.size} values where at least {at_least} are needed; measure more."
        )
    if not np.isfinite(array).all():
        raise ValueError(
            f"{name} holds a value that is not finite; remove or repair the record it came from."
        )
    return array


def critical_value(level: float, df: float = math.inf) -> float:
    """Two-sided critical value of Student's t with `df` degrees of freedom, in standard errors; of
    the normal distribution if df is infinite. Raises ValueError for a level outside 0 to 1.
    """
    if not 0 < level < 1:
        raise ValueError(
            f"level {level} is not a probability between 0 and 1; use for example 0.95."
        )
    tail = (1 + level) / 2
    return float(special.ndtri(tail) if math.isinf(df) else special.stdtrit(df, tail))


def student(estimate: float, standard_error: float, df: float, level: float) -> Interval:
    """estimate +- t(df) * standard_error; with no degree of freedom the interval is the whole
    line.
    """
    if df <= 0:
        return Interval(-math.inf, math.inf, level)
    reach = critical_value(level, df) * standard_error
    return Interval(estimate - reach, estimate + reach, level)
