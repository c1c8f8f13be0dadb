# SPDX-License-Identifier: BSD-2-Clause
"""How many runs and tests a wanted precision costs.

R runs of n tests give the grand mean a variance of (between + within / n) / R in a time of R (run_s
+ n test_s). Kalibera & Jones (2013) give the asymptotic optimum n = sqrt(run_s within / (test_s
between)); here the integers are searched with Student's t in the half-width, which charges few runs
what they cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

MOST_RUNS = 2000
"""Plans of more runs than this are called out of reach."""


@dataclass(frozen=True)
class Spread:
    """Where the variance and the time of a circle go; variances in squared units of its latency.

    between: variance between runs of the true latency of a run. within: variance of one test within
    a run, already inflated by autocorrelation (variance of the run's estimate times its tests).
    run_s: time of a run that does not depend on its tests. test_s: time of one test with what
    stands between tests.
    """

    between: float
    within: float
    run_s: float
    test_s: float


@dataclass(frozen=True)
class Plan:
    """R runs of n tests, the half-width to expect, and the machine time."""

    runs: int
    tests: int
    half_width: float
    seconds: float


def for_half_width(
    spread: Spread, half_width: float, level: float = 0.95, fewest_runs: int = 3
) -> Plan | None:
    """The cheapest plan that reaches the half-width (in the unit of the latency); None where no
    plan does.
    """
    if not half_width > 0:
        raise ValueError(f"The wanted half-width is {half_width:g}; it must be positive.")
    runs = np.arange(max(2, fewest_runs), MOST_RUNS + 1, dtype=np.float64)
    critical = special.stdtrit(runs - 1, (1 + level) / 2)
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
    return Plan(int(runs[best]), int(tests[best]), float(reached[best]), float(seconds[best]))
