# SPDX-License-Identifier: BSD-2-Clause
"""How many runs and tests a wanted precision costs.

R runs of n tests give the grand mean a variance of (between + within / n) / R in a time of R (run_s
+ n test_s). Kalibera & Jones (2013) give the asymptotic optimum n = sqrt(run_s within / (test_s
between)); here the integers are searched with Student's t in the half-width, which charges few runs
what they cost. The variances of a pilot of few runs are themselves uncertain, and so are those that
the plan's runs will show: the plan asks for what reaches the half-width with probability POWER.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

POWER = 0.8
"""Probability with which a plan reaches its half-width."""
MOST_RUNS = 2000
"""Plans of more runs than this are called out of reach."""
_CERTAIN = 1e9  # degrees of freedom of a variance that is as good as known


@dataclass(frozen=True)
class Spread:
    """Where the variance and the time of a circle go; variances in squared units of its latency.

    between: variance between runs of the true latency of a run.
    within: variance of one test within a run, already inflated by autocorrelation (variance of the
        run's estimate times its tests).
    run_s: time of a run that does not depend on its tests.
    test_s: time of one test with what stands between tests.
    pilot: runs that the variances were seen in, two or more; infinity for variances that are known.
    """

    between: float
    within: float
    run_s: float
    test_s: float
    pilot: float = math.inf


@dataclass(frozen=True)
class RunPlan:
    """R runs of n tests, the half-width that they reach with probability POWER, and the machine
    time.
    """

    runs: int
    tests: int
    half_width: float
    seconds: float


def for_half_width(
    spread: Spread, half_width: float, level: float = 0.95, fewest_runs: int = 3
) -> RunPlan | None:
    """The cheapest plan that reaches the half-width (in the unit of the latency) with probability
    POWER; None if no plan does.

    The variance that R runs will show is the pilot's times an F variable with R - 1 and pilot - 1
    degrees of freedom; its quantile POWER widens the half-width. Raises ValueError unless
    `half_width` is positive.
    """
    if not half_width > 0:
        raise ValueError(f"The wanted half-width is {half_width:g}; it must be positive.")
    runs = np.arange(max(2, fewest_runs), MOST_RUNS + 1, dtype=np.float64)
    ratio = special.fdtri(runs - 1, min(spread.pilot - 1, _CERTAIN), POWER)
    critical = special.stdtrit(runs - 1, (1 + level) / 2) * np.sqrt(ratio)
    # What is left for within / n once t, the runs and the variance between them have taken their
    # share.
    left = runs * (half_width / critical) ** 2 - spread.between
    possible = left > 0
    if not possible.any():
        return None
    runs, critical = runs[possible], critical[possible]
    tests = np.maximum(np.ceil(spread.within / left[possible]), 1)
    reached = critical * np.sqrt((spread.between + spread.within / tests) / runs)
    seconds = runs * (spread.run_s + tests * spread.test_s)
    best = int(np.argmin(seconds))
    return RunPlan(int(runs[best]), int(tests[best]), float(reached[best]), float(seconds[best]))
