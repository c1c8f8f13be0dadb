# SPDX-License-Identifier: BSD-2-Clause
"""From runs to one interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclometer.estimate import levels
from cyclometer.estimate.interval import Interval, student

TEN = [9.1, 10.4, 9.8, 10.1, 9.7, 10.0, 12.9, 9.9, 10.2, 10.3]


def test_runs_that_all_took_nothing_do_not_spread() -> None:
    assert levels.combine([0.0, 0.0]).spread == 0.0


def test_one_run_is_labelled() -> None:
    own = Interval(9.0, 11.0, 0.95)
    result = levels.combine([10.0], [own])
    assert (result.scope, result.interval, result.between_variance) == (
        "within this run",
        own,
        None,
    )
    assert (result.value, result.runs, result.spread) == (10.0, 1, 0.0)
    assert result.within_variance == pytest.approx(1 / 1.959964**2)
    with pytest.raises(ValueError, match="more runs"):
        levels.combine([10.0])


def test_two_runs_have_an_interval_but_no_variance_between() -> None:
    result = levels.combine([9.0, 11.0])
    assert result.interval.half_width == pytest.approx(12.7062047)
    assert (result.scope, result.between_variance) == ("between runs", None)


def test_three_runs_take_student_with_two_degrees() -> None:
    result = levels.combine([9.0, 10.0, 11.0])
    assert result.interval.half_width == pytest.approx(4.302652730 / 3**0.5)
    assert (result.scope, result.value, result.between_variance) == ("between runs", 10.0, 1.0)
    assert (result.spread, result.within_variance, result.interval.level) == (0.1, None, 0.95)


def test_variance_between_is_what_the_runs_own_errors_leave() -> None:
    z = 1.959963985
    own = [Interval(-z, z, 0.95), Interval(-3 * z, 3 * z, 0.95), Interval(-2 * z, 2 * z, 0.95)]
    result = levels.combine([0.0, 10.0, 20.0], own)
    assert result.within_variance == pytest.approx((1 + 9 + 4) / 3)
    assert result.between_variance == pytest.approx(100 - 14 / 3)
    assert levels.combine([0.0, 1.0, 2.0], own).between_variance == 0.0


def test_an_open_interval_leaves_the_variance_within_unknown() -> None:
    result = levels.combine([1.0, 2.0, 3.0], [Interval(0, math.inf, 0.9)] * 3)
    assert (result.within_variance, result.between_variance) == (None, 1.0)


def test_every_run_brings_its_interval() -> None:
    with pytest.raises(ValueError, match="2 runs came with 1 intervals"):
        levels.combine([1.0, 2.0], [Interval(0, 1, 0.9)])


def test_eight_runs_are_resampled_and_seven_are_not() -> None:
    seven, eight = np.array(TEN[:7]), np.array(TEN[:8])
    own = student(seven.mean(), seven.std(ddof=1) / math.sqrt(7), 6, 0.95)
    assert levels.combine(seven).interval == own
    own = student(eight.mean(), eight.std(ddof=1) / math.sqrt(8), 7, 0.95)
    assert levels.combine(eight).interval != own


@pytest.mark.parametrize("level", [0.90, 0.95])
def test_resampled_interval_is_the_bootstrap_t(level: float) -> None:
    """Computed once more, one resample at a time."""
    values = np.sort(TEN)
    mean, error = values.mean(), values.std(ddof=1) / math.sqrt(10)
    deviations = []
    for index in np.random.default_rng(1).integers(0, 10, (4000, 10)):
        drawn = values[index]
        deviations.append((drawn.mean() - mean) / (drawn.std(ddof=1) / math.sqrt(10)))
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(deviations, [tail, 100 - tail])
    interval = levels.combine(TEN, level=level).interval
    assert (interval.low, interval.high) == pytest.approx((mean - high * error, mean - low * error))
    assert interval.level == level


def test_resampled_interval_leans_to_the_long_side() -> None:
    interval, mean = levels.combine(TEN).interval, float(np.mean(TEN))
    assert interval.high - mean > 1.2 * (mean - interval.low)


def test_ties_fall_back_on_student() -> None:
    """With nine equal runs of ten, a third of the resamples has no spread and the bootstrap-t is
    undefined.
    """
    tied = np.array([1.0] * 9 + [2.0])
    own = student(float(tied.mean()), float(tied.std(ddof=1)) / math.sqrt(10), 9, 0.95)
    assert levels.combine(tied).interval.half_width == pytest.approx(own.half_width)


@pytest.mark.parametrize(("equal", "runs", "resampled"), [(6, 8, False), (16, 20, True)])
def test_share_of_resamples_without_spread_that_is_borne(
    equal: int, runs: int, resampled: bool
) -> None:
    """All drawn from the equal ones with probability (6/8)^8 = 10 % and (16/20)^20 = 1.15 %; 1.25 %
    are borne.
    """
    values = [1.0] * equal + [2.0 + i for i in range(runs - equal)]
    own = student(
        float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(runs), runs - 1, 0.95
    )
    same = levels.combine(values).interval.half_width == pytest.approx(own.half_width)
    assert same != resampled


def test_a_quarter_of_what_the_level_leaves_out_is_still_borne() -> None:
    """125 of the 4000 resamples have no spread: just a quarter of the eighth outside a level of
    7/8.
    """
    values = [1.0] + [2.0] * 10 + [3.0, 4.0]
    drawn = np.array(values)[np.random.default_rng(1).integers(0, 13, (4000, 13))]
    assert np.count_nonzero(np.ptp(drawn, axis=1) == 0) == 125
    interval, mean = levels.combine(values, level=0.875).interval, float(np.mean(values))
    assert interval.high - mean > 1.1 * (mean - interval.low)


def test_few_resamples_without_spread_do_no_harm() -> None:
    """A share of 0.35 % of the resamples has no spread: less than a quarter of the 5 % outside the
    level.
    """
    interval = levels.combine([1.0] * 6 + [2.0] * 2 + [3.0] * 2).interval
    assert interval.half_width < math.inf
    assert interval.high - 1.6 > 1.1 * (1.6 - interval.low)


@pytest.mark.parametrize("runs", [2, 3, 8, 20])
def test_exact_clock_has_no_width(runs: int) -> None:
    result = levels.combine([4540.0] * runs)
    assert (result.interval.low, result.value, result.interval.high) == (4540, 4540, 4540)
    assert (result.interval.half_width, result.spread) == (0, 0)


def test_a_mean_of_zero_has_no_relative_width() -> None:
    result = levels.combine([-1.0, 1.0])
    assert result.spread == math.inf


def test_an_error_that_runs_share_is_added_in_squares() -> None:
    own = [Interval(7.0, 14.0, 0.95)]
    one = levels.combine([10.0], own, shared=4.0)
    assert (one.interval.low, one.interval.high) == (10 - 5, 10 + math.hypot(4, 4))
    alone, shared = levels.combine([9.0, 10.0, 11.0]), levels.combine([9.0, 10.0, 11.0], shared=3.0)
    assert shared.interval.half_width == pytest.approx(math.hypot(alone.interval.half_width, 3))
    assert (shared.value, shared.spread) == (alone.value, alone.spread)
    leaning = levels.combine(TEN, shared=1.0).interval
    plain, mean = levels.combine(TEN).interval, float(np.mean(TEN))
    assert leaning.high - mean == pytest.approx(math.hypot(plain.high - mean, 1))
    assert leaning.low - mean == pytest.approx(-math.hypot(plain.low - mean, 1))
    assert leaning.level == 0.95


runs = st.lists(st.integers(900, 1100).map(float), min_size=2, max_size=12)


@given(runs, st.randoms())
def test_order_of_runs_means_nothing(values: list[float], random: object) -> None:
    shuffled = values.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert levels.combine(values) == levels.combine(shuffled)


@given(runs, st.sampled_from([0.5, 2.0, 1024.0]), st.sampled_from([-512.0, 0.0, 4096.0]))
def test_scale_and_shift_equivariance(values: list[float], factor: float, shift: float) -> None:
    one, other = levels.combine(values), levels.combine([factor * x + shift for x in values])
    expected = (
        factor * one.value + shift,
        factor * one.interval.low + shift,
        factor * one.interval.high + shift,
    )
    assert (other.value, other.interval.low, other.interval.high) == pytest.approx(
        expected, rel=1e-6, abs=1e-6
    )
