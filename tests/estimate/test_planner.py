# SPDX-License-Identifier: BSD-2-Clause
"""What precision costs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from cyclometer.estimate import planner
from cyclometer.estimate.planner import RunPlan, Spread

BOARD = Spread(between=4.0, within=900.0, run_s=20.0, test_s=0.01)


def widened(runs: int, pilot: float = math.inf) -> float:
    """What four of five plans stay below: the sd that so many runs show over that of the pilot."""
    if pilot == math.inf:
        return math.sqrt(float(stats.chi2.ppf(0.8, runs - 1)) / (runs - 1))
    return math.sqrt(float(stats.f.ppf(0.8, runs - 1, pilot - 1)))


def price(spread: Spread, runs: int, tests: int, level: float = 0.95) -> RunPlan:
    t = float(stats.t.ppf((1 + level) / 2, runs - 1)) if runs > 1 else math.inf
    t *= widened(runs, spread.pilot)
    half_width = t * math.sqrt((spread.between + spread.within / tests) / runs)
    return RunPlan(runs, tests, half_width, runs * (spread.run_s + tests * spread.test_s))


def by_enumeration(spread: Spread, half_width: float, level: float) -> RunPlan:
    """The cheapest plan among all with at most 60 runs and 3000 tests."""
    runs, tests = (grid.ravel() for grid in np.mgrid[3:61, 1:3001])
    t = np.array([stats.t.ppf((1 + level) / 2, R - 1) * widened(R) for R in range(3, 61)])
    width = t[runs - 3] * np.sqrt((spread.between + spread.within / tests) / runs)
    seconds = np.where(width <= half_width, runs * (spread.run_s + tests * spread.test_s), np.inf)
    best = int(np.argmin(seconds))
    return price(spread, int(runs[best]), int(tests[best]), level)


@pytest.mark.parametrize(("half_width", "level"), [(1.0, 0.95), (2.5, 0.95), (0.7, 0.90)])
def test_plan_is_the_cheapest_there_is(half_width: float, level: float) -> None:
    plan = planner.for_half_width(BOARD, half_width, level)
    best = by_enumeration(BOARD, half_width, level)
    assert plan is not None
    assert (plan.runs, plan.tests) == (best.runs, best.tests)
    assert (plan.half_width, plan.seconds) == pytest.approx((best.half_width, best.seconds))


def test_two_runs_where_two_are_allowed() -> None:
    """Runs so dear that two are cheaper than three, in spite of t = 12.7."""
    dear = Spread(between=1e-6, within=1.0, run_s=1000.0, test_s=0.001)
    plan = planner.for_half_width(dear, 0.1, fewest_runs=2)
    assert plan is not None
    assert plan.runs == 2
    assert (plan.half_width, plan.seconds) == pytest.approx(
        (price(dear, 2, plan.tests).half_width, price(dear, 2, plan.tests).seconds)
    )
    assert price(dear, 2, plan.tests - 1).half_width > 0.1 >= plan.half_width


def test_many_runs_approach_kalibera_and_jones() -> None:
    plan = planner.for_half_width(BOARD, 0.2)
    assert plan is not None
    assert plan.tests == pytest.approx(
        math.sqrt(BOARD.run_s * BOARD.within / (BOARD.test_s * BOARD.between)), rel=0.05
    )


def test_no_plan_where_runs_alone_do_not_suffice() -> None:
    assert planner.for_half_width(BOARD, 1e-3) is None
    edge = price(Spread(4.0, 0.0, 1, 1), 2000, 1).half_width
    exact = planner.for_half_width(Spread(4.0, 1e-12, 1, 1), edge * 1.0001)
    assert exact is not None
    assert exact.runs == 2000
    assert planner.for_half_width(Spread(4.0, 1e-12, 1, 1), edge * 0.9999) is None


def test_runs_that_leave_the_tests_no_variance_are_no_plan() -> None:
    """Three runs spread by just what the half-width allows: even endless tests would not do."""
    between = 3 * (1.0 / (float(stats.t.ppf(0.975, 2)) * widened(3))) ** 2
    plan = planner.for_half_width(Spread(between, 1.0, 1000.0, 0.001), 1.0)
    assert plan is not None
    assert plan.runs == 4


def test_exact_clock_takes_the_fewest_runs_of_one_test() -> None:
    exact = Spread(0.0, 0.0, 1.0, 1.0)
    assert planner.for_half_width(exact, 0.1) == RunPlan(3, 1, 0.0, 6.0)
    assert planner.for_half_width(exact, 0.1, fewest_runs=5) == RunPlan(5, 1, 0.0, 10.0)
    assert planner.for_half_width(exact, 0.1, fewest_runs=1) == RunPlan(2, 1, 0.0, 4.0)


@pytest.mark.parametrize("half_width", [0.0, -1.0])
def test_a_half_width_is_positive(half_width: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        planner.for_half_width(BOARD, half_width)


@given(st.floats(0.01, 100), st.floats(0.01, 1e4), st.floats(0.001, 100), st.floats(1e-4, 1))
def test_a_plan_keeps_its_promise(
    between: float, within: float, run_s: float, test_s: float
) -> None:
    spread = Spread(between, within, run_s, test_s)
    wanted = 0.8 * math.sqrt(between)
    plan = planner.for_half_width(spread, wanted)
    assert plan is not None
    assert plan.half_width <= wanted * (1 + 1e-9)
    assert plan.half_width == pytest.approx(price(spread, plan.runs, plan.tests).half_width)


@pytest.mark.parametrize("pilot", [5, math.inf])
def test_four_of_five_plans_reach_their_half_width(pilot: float) -> None:
    """A pilot of five runs plans, and new runs are measured: eight of ten half-widths are at most
    the wanted one. Known variances keep that, too; the median plan would keep it half of the time.
    """
    rng = np.random.default_rng(1)
    reached = []
    for _ in range(1000):
        seen = 1.0 if pilot == math.inf else float(rng.chisquare(pilot - 1)) / (pilot - 1)
        plan = planner.for_half_width(replace(BOARD, between=4 * seen, pilot=pilot), 1.5)
        assert plan is not None
        variance = (BOARD.between + BOARD.within / plan.tests) / plan.runs
        shown = math.sqrt(variance * float(rng.chisquare(plan.runs - 1)) / (plan.runs - 1))
        reached.append(special.stdtrit(plan.runs - 1, 0.975) * shown <= 1.5)
    assert 0.76 < np.mean(reached) < 0.95
