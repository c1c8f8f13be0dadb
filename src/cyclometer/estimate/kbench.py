# SPDX-License-Identifier: BSD-2-Clause
"""The KBench estimator (Korovkina 2022, equations 3.1 to 3.3), kept exactly.

A test of N turns yields one accumulated latency A. Y = A/N estimates the mean of the primary
latency P, and under independent turns var(P) = N var(Y). Whether the turns are independent is
judged in `steady`, not here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from .interval import Interval, critical_value, samples


@dataclass(frozen=True)
class KBenchEstimate:
    """Statistics of one group. A and Y as in the paper; P is the primary latency. Coefficients are
    fractions.
    """

    tests: int
    turns: int
    mean_A: float
    var_A: float
    mean_Y: float
    var_Y: float
    interval: Interval
    mean_P: float
    var_P: float
    cv_A: float
    cv_Y: float
    cv_P: float

    @property
    def relative_half_width(self) -> float:
        """Half-width of the interval as a fraction of the mean: what the paper calls e."""
        return self.interval.half_width / abs(self.mean_Y) if self.mean_Y else math.inf


def estimate(
    A: ArrayLike, N: int, level: float = 0.90, critical: Literal["t", "z"] = "t"
) -> KBenchEstimate:
    """Estimate the mean and the variance of the primary latency from one group of N-sized tests.

    Args:
        A: accumulated latencies, shape (S,), S >= 2, any unit of time; the result carries the same
            unit.
        N: turns in each test, >= 1.
        critical: "t" takes Student's t with S - 1 degrees; "z" takes the normal value and
            reproduces the paper.

    Raises:
        ValueError: fewer than two tests, a value that is not finite, or N < 1.
    """
    accumulated = samples(A, at_least=2, name="A")
    if N < 1:
        raise ValueError(f"N is {N} turns; a test has at least one.")
    S = accumulated.size
    mean_A, var_A = float(accumulated.mean()), float(accumulated.var(ddof=1))
    mean_Y, var_Y = mean_A / N, var_A / N**2
    reach = critical_value(level, S - 1 if critical == "t" else math.inf) * math.sqrt(var_Y / S)
    var_P = var_Y * N
    return KBenchEstimate(
        tests=S,
        turns=N,
        mean_A=mean_A,
        var_A=var_A,
        mean_Y=mean_Y,
        var_Y=var_Y,
        interval=Interval(mean_Y - reach, mean_Y + reach, level),
        mean_P=mean_Y,
        var_P=var_P,
        cv_A=_variation(var_A, mean_A),
        cv_Y=_variation(var_Y, mean_Y),
        cv_P=_variation(var_P, mean_Y),
    )


def required_tests(group: KBenchEstimate, e: float) -> int:
    """S' of equation 3.3: tests for which the half-width falls to the fraction `e` of the mean.

    The level is that of the group's interval, and the critical value is the normal one, as in the
    equation. Raises ValueError unless `e` is positive.
    """
    if not e > 0:
        raise ValueError(f"e is {e}; the wanted half-width is a positive fraction of the mean.")
    z = critical_value(group.interval.level)
    return max(1, math.ceil((group.cv_A * z / e) ** 2))


def _variation(variance: float, mean: float) -> float:
    return math.sqrt(variance) / abs(mean) if mean else math.inf
