# SPDX-License-Identifier: BSD-2-Clause
"""How many runs and tests a wanted precision costs, and what precision a budget buys.

R runs of n tests give the grand mean a variance of (between + within / n) / R in a time of R (run_s + n test_s).
Kalibera & Jones (2013) give the asymptotic optimum n = sqrt(run_s within / (test_s between)); here the integers are
searched with Student's t in the half-width, which charges few runs what they cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from .interval import FloatArray

MOST_RUNS = 2000
"""Plans of more runs than this are called out of reach."""


@dataclass(frozen=True)
class Spread:
    """Where the variance and the time of a circle go; variances in squared units of its latency.

    between: variance between runs of the true latency of a run. within: variance of one test within a run, already
    inflated by autocorrelation (variance of the run's estimate times its tests). run_s: time of a run that does not
    depend on its tests. test_s: time of one test with what stands between tests.
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


def for_half_width(spread: Spread, half_width: float, level: float = 0.95, fewest_runs: int = 3) -> Plan | None:
    """The cheapest plan that reaches the half-width (in the unit of the latency); None where no plan does."""
    if not half_width > 0:
        raise ValueError(f"The wanted half-width is {half_width:g}; it must be positive.")
    runs = _runs(fewest_runs)
    # What is left for within / n once t, the runs and the variance between them have taken their share.
    left = runs * (half_width / _critical(runs, level)) ** 2 - spread.between
    tests = np.ceil(np.divide(spread.within, left, out=np.full(runs.size, np.inf), where=left > 0))
    return _cheapest(spread, runs, np.maximum(tests, 1), level, by_cost=True)


def for_budget(spread: Spread, budget_s: float, level: float = 0.95, runs: int | None = None) -> Plan | None:
    """The most precise plan within the budget, over all runs or for a given number; None where not one test fits."""
    candidates = _runs(3) if runs is None else np.array([float(runs)])
    tests = np.floor((budget_s / candidates - spread.run_s) / spread.test_s + 1e-9)
    return _cheapest(spread, candidates, np.where(tests >= 1, tests, np.inf), level, by_cost=False)


def _cheapest(spread: Spread, runs: FloatArray, tests: FloatArray, level: float, by_cost: bool) -> Plan | None:
    """The best of the plans (runs, tests), each of shape (k,); an infinite number of tests marks an impossible one."""
    possible = np.isfinite(tests)
    if not possible.any():
        return None
    runs, tests = runs[possible], tests[possible]
    half_width = _critical(runs, level) * np.sqrt((spread.between + spread.within / tests) / runs)
    seconds = runs * (spread.run_s + tests * spread.test_s)
    best = int(np.argmin(seconds if by_cost else half_width))
    return Plan(int(runs[best]), int(tests[best]), float(half_width[best]), float(seconds[best]))


def _runs(fewest: int) -> FloatArray:
    return np.arange(max(2, fewest), MOST_RUNS + 1, dtype=np.float64)


def _critical(runs: FloatArray, level: float) -> FloatArray:
    """Student's t of runs - 1 degrees, infinite for a single run: it has no interval over runs."""
    t: FloatArray = np.where(runs > 1, special.stdtrit(np.maximum(runs - 1, 1), (1 + level) / 2), math.inf)
    return t
