# SPDX-License-Identifier: BSD-2-Clause
"""Quiet and overall."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cyclometer.estimate import modes, regimes
from cyclometer.estimate.interval import FloatArray, Interval


def wandering(quiet: float, share: float, tests: int, seed: int) -> FloatArray:
    """A run on a shared machine: episodes in a quiet regime, the rest 15 to 40 % slower, both with
    a tail.
    """
    rng = np.random.default_rng(seed)
    calm = np.repeat(rng.random(tests // 10 + 1) < share, 10)[:tests]
    slow = rng.normal(0.25, 0.06, tests)
    return quiet * np.exp(
        np.where(calm, rng.normal(0, 0.004, tests) + rng.exponential(0.003, tests), slow)
    )


@pytest.mark.parametrize("value", [1.0, 60.0, 0.1, 1e9])
def test_exact_clock_base_is_overall_is_the_value(value: float) -> None:
    both = regimes.estimate(np.full(500, value))
    assert both.base == both.overall
    assert (both.base.value, both.base.share, both.base.tests) == (value, 1.0, 500)
    assert both.base.interval.half_width == 0


def test_neighbouring_steps_of_an_exact_clock_coincide() -> None:
    A = np.array([18000.0] * 70 + [18001.0] * 30)
    both = regimes.estimate(A / 300)
    assert both.base is both.overall
    # the middle half of the ranks holds 45 and 5
    assert both.base.value == pytest.approx(60 + 0.1 / 300)


def test_lowest_sustained_regime_not_the_lowest_value() -> None:
    rng = np.random.default_rng(4)
    low, high = rng.normal(1000, 1, 300), rng.normal(1100, 1, 690)
    both = regimes.estimate(rng.permutation([*low, *high, *rng.uniform(500, 600, 10)]))
    assert both.base.value == pytest.approx(1000, abs=0.3)
    assert (both.base.share, both.base.tests) == (0.30, 300)
    assert 1080 < both.overall.value < 1100  # a tenth of the middle half is still `low`


@pytest.mark.parametrize(("tests", "lowest"), [(20, 1000), (18, 1200)])
def test_a_regime_is_sustained_from_two_percent_on(tests: int, lowest: float) -> None:
    Y = np.random.default_rng(1).permutation([1000.0] * tests + [1200.0] * (1000 - tests))
    assert regimes.estimate(Y).base.value == lowest


@pytest.mark.parametrize(("tests", "lowest"), [(5, 1000), (4, 1200)])
def test_a_regime_stands_out_by_two_and_a_half_standard_deviations(
    tests: int, lowest: float
) -> None:
    """k equal tests have a smoothed height of sqrt(2) k, its own variance: 2.66 deviations for
    five, 2.38 for four.
    """
    Y = np.random.default_rng(1).permutation([1000.0] * tests + [1200.0] * (200 - tests))
    assert regimes.estimate(Y).base.value == lowest


def test_the_fullest_regime_where_none_is_sustained() -> None:
    ladder = np.repeat(1000 * 1.1 ** np.arange(60), 16)
    fuller = np.append(ladder, [ladder[-1]] * 2)
    quiet = regimes.estimate(fuller).base
    assert quiet.value == ladder[-1]
    assert quiet.share == 18 / 962


def test_core_leaves_the_slow_tail_out() -> None:
    """Normal noise of 1 % with a tail on the slow side: the core reaches as far up as the fast side
    reaches down.
    """
    rng = np.random.default_rng(8)
    Y = 1000 * np.exp(
        rng.normal(0, 0.01, 5000) + np.where(rng.random(5000) < 0.3, rng.exponential(0.05, 5000), 0)
    )
    low, high = regimes.base_core(np.sort(Y))
    centre = math.sqrt(low * high)
    assert centre == pytest.approx(1001, abs=2)
    assert math.log(high / centre) == pytest.approx(4 * 0.6745 * 0.01, rel=0.15)


@pytest.mark.parametrize("stray", [500.0, 2000.0])
def test_one_stray_test_is_outside_the_core(stray: float) -> None:
    both = regimes.estimate([1000.0] * 99 + [stray])
    assert (both.base.tests, both.base.share, both.base.value) == (99, 0.99, 1000)
    assert both.overall.tests == 100


def test_core_of_one_value_spans_two_bandwidths() -> None:
    low, high = regimes.base_core(np.full(9, 100.0))
    assert (low, high) == pytest.approx((100 * math.exp(-0.01), 100 * math.exp(0.01)), rel=1e-3)


def test_runs_of_a_wandering_machine_agree_on_base() -> None:
    """The share of quiet time changes from run to run; the median moves with it and quiet does
    not.
    """
    runs = [
        wandering(5000, share, 3000, seed)
        for seed, share in enumerate((0.1, 0.15, 0.25, 0.45, 0.3, 0.6, 0.12, 0.2))
    ]
    quiet = [regimes.estimate(Y).base.value for Y in runs]
    medians = [np.median(Y) for Y in runs]
    assert np.std(quiet, ddof=1) / np.mean(quiet) < 0.001
    assert np.std(medians, ddof=1) / np.mean(medians) > 0.05


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.floats(1e-3, 1e6))
def test_scale_equivariance(seed: int, factor: float) -> None:
    Y = wandering(1000, 0.3, 400, seed)
    one, other = regimes.estimate(Y), regimes.estimate(Y * factor)
    assert other.base.value == pytest.approx(one.base.value * factor, rel=1e-6)
    assert other.overall.value == pytest.approx(one.overall.value * factor, rel=1e-9)
    assert other.base.tests == one.base.tests


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.randoms())
def test_order_moves_the_interval_alone(seed: int, random: object) -> None:
    Y = wandering(1000, 0.3, 300, seed)
    shuffled = Y.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = regimes.estimate(Y), regimes.estimate(shuffled)
    assert (other.base.value, other.overall.value) == (one.base.value, one.overall.value)


def test_level_reaches_the_intervals() -> None:
    Y = wandering(1000, 0.4, 600, 3)
    wide, narrow = regimes.estimate(Y, 0.99), regimes.estimate(Y)
    assert narrow.base.interval.level == 0.95
    assert wide.base.interval.half_width > narrow.base.interval.half_width
    assert wide.overall.interval.half_width > narrow.overall.interval.half_width


@pytest.mark.parametrize("bad", [[0.0, 1.0], [-1.0, 2.0]])
def test_a_latency_that_is_not_positive_is_refused(bad: list[float]) -> None:
    with pytest.raises(
        ValueError, match=f"a latency of {min(bad):g}; an accumulated latency is positive"
    ):
        regimes.estimate(bad)


def test_a_run_that_met_the_common_regime_is_judged_by_it_and_another_by_its_own() -> None:
    generator = np.random.default_rng(5)
    busy = 130.0 * generator.lognormal(0, 0.003, 200)
    met = np.concatenate([busy[:190], 100.0 * generator.lognormal(0, 0.001, 3)])
    others = 100.0 * generator.lognormal(0, 0.001, 400)
    common = regimes.base_core(np.sort(np.concatenate([busy, met, others])))
    assert common[0] < 100 < common[1] < 105
    assert abs(regimes.estimate(met, common=common).base.value - 100) < 0.5
    assert abs(regimes.base(met, common) - 100) < 0.5
    assert abs(regimes.estimate(busy, common=common).base.value - 130) < 0.5
    # two tests are not a meeting
    assert abs(regimes.estimate(met[:-1], common=common).base.value - 130) < 0.5


def test_a_run_keeps_the_reach_of_the_common_core() -> None:
    """A core of one percent either way of 1000 holds what lies 0.95 % off and not what lies 1.05 %
    off.
    """
    off = [1000 * math.exp(at) for at in (-0.0105, -0.0095, 0.0095, 0.0105)]
    common = (1000 * math.exp(-0.01), 1000 * math.exp(0.01))
    both = regimes.estimate([1000.0] * 50 + off, common=common)
    assert both.base.tests == 52


def test_the_bounds_of_a_core_belong_to_it() -> None:
    Y = np.sort([*np.full(200, 1000.0), 1001.0, 900.0, 1100.0])
    low, high = regimes.base_core(Y)
    assert 900 < low < 1000
    assert 1001 < high < 1100
    with_bounds = np.sort([*Y, low, high])
    assert regimes.base_core(with_bounds) == (low, high)
    assert regimes.estimate(with_bounds).base.tests == 203


def test_reach_of_a_core_by_hand() -> None:
    """Four times the median distance of the fast side, to which half of the tests in the mode's own
    bin belong.
    """
    Y = np.sort(1000 * np.random.default_rng(9).lognormal(0, 0.01, 20_000))
    (mode,) = modes.find(Y, regimes.VALLEY)
    half_bin = 0.005 / 4 / 2
    distance = np.log(Y / mode.position)
    below, inside = (
        np.count_nonzero(distance < -half_bin),
        np.count_nonzero(np.abs(distance) < half_bin),
    )
    assert inside > 100
    reach = 4 * -distance[(below + inside // 2) // 2]
    low, high = regimes.base_core(Y)
    assert math.log(high / low) / 2 == pytest.approx(reach)


def test_a_core_settles_in_eight_steps() -> None:
    """Tests that grow denser upwards draw the core up at every step."""
    Y = 1000 * np.exp(np.sqrt(np.linspace(0, 1, 4000)))
    centre, reach = 1400.0, 0.05
    for _ in range(8):
        low, high = centre * math.exp(-reach), centre * math.exp(reach)
        centre = stats.trim_mean(Y[(low <= Y) & (high >= Y)], 0.25)
    low, high = regimes._settled(Y, 1400.0, reach)
    assert math.sqrt(low * high) == pytest.approx(centre, rel=1e-12)


def test_the_common_regime_does_not_pull_runs_together() -> None:
    """Runs half a percent apart, all met by the common core: each keeps its own centre."""
    runs = [
        1000 * (1 + at) * np.random.default_rng(3).lognormal(0, 0.004, 2000)
        for at in (-0.005, 0.0, 0.005)
    ]
    common = regimes.base_core(np.sort(np.concatenate(runs)))
    ratios = [regimes.base(Y, common) / regimes.base(runs[1], common) for Y in runs]
    assert ratios == pytest.approx([0.995, 1.0, 1.005], abs=1e-4)
    assert regimes.estimate(runs[0], common=common).base.value == regimes.base(runs[0], common)


def test_on_an_exact_clock_base_is_the_lowest_latency_that_repeats() -> None:
    found = regimes.estimate_exact([337.0, 341.5, 337.0, 300.0, 337.0, 341.5])
    assert (found.base.value, found.base.tests, found.base.share) == (337.0, 3, 0.5)
    assert found.base.interval == Interval(337.0, 337.0, 0.95)
    assert found.overall.value > 337.0
    overall = regimes.estimate_exact([3.0, 3.0, 4.0, 5.0]).overall
    assert (overall.interval, overall.tests, overall.share) == (Interval(3.0, 5.0, 0.95), 4, 1.0)


def test_on_an_exact_clock_without_disturbance_base_and_overall_are_one() -> None:
    found = regimes.estimate_exact([12.0] * 5, level=0.9)
    assert found.base == found.overall
    assert found.base.interval == Interval(12.0, 12.0, 0.9)


def test_where_no_exact_latency_repeats_the_lowest_is_base() -> None:
    assert regimes.base_exact(np.array([3.0, 4.0, 5.0])) == 3.0
    assert regimes.base_exact(np.array([3.0])) == 3.0
    assert regimes.base_exact(np.array([3.0, 4.0, 4.0, 5.0, 5.0])) == 4.0
