# SPDX-License-Identifier: BSD-2-Clause
"""Single passes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cyclometer.errors import MeasurementFailed
from cyclometer.estimate import direct, modes
from cyclometer.estimate.interval import Interval
from tests.estimate.test_modes import mixture

EMPTY = np.array([20.0, 21, 20, 22, 20, 20, 21, 20, 20, 20])


def test_quantiles_minus_the_overhead() -> None:
    passes = np.random.default_rng(1).permutation(np.arange(101.0, 1101.0))
    result = direct.estimate(passes, direct.measure_overhead(EMPTY))
    assert [q.value for q in result.quantiles] == [580, 980, 1070, 1079]
    assert [q.p for q in result.quantiles] == [0.5, 0.9, 0.99, 0.999]
    assert (result.minimum, result.maximum, result.passes) == (81, 1080, 1000)
    assert result.supported == result.quantiles[:3]  # p99.9 needs 3688 passes
    assert result.overhead.value == 20


def test_the_median_alone_is_that_of_the_whole_estimate() -> None:
    passes, overhead = np.arange(101.0, 161.0), direct.measure_overhead(EMPTY)
    assert direct.median(passes) == direct.estimate(passes).quantiles[0]
    assert (
        direct.median(passes, overhead, 0.8) == direct.estimate(passes, overhead, 0.8).quantiles[0]
    )
    with pytest.raises(MeasurementFailed, match="not stable"):
        direct.median(passes, direct.measure_overhead([10] * 8 + [90] * 8))


def test_no_overhead_subtracts_nothing() -> None:
    result = direct.estimate([5.0, 6.0, 7.0])
    assert (result.minimum, result.quantiles[0].value, result.maximum) == (5, 6, 7)
    assert result.overhead == direct.IntervalCost.none()
    assert direct.IntervalCost.none().interval == Interval(0.0, 0.0, 0.95)


def test_a_negative_corrected_latency_is_shown() -> None:
    assert direct.estimate([18.0, 19.0, 40.0], direct.measure_overhead(EMPTY)).minimum == -2


def test_interval_carries_both_uncertainties() -> None:
    """Donner and Zou: squares of the distances to the ends add, each end with the opposite end of
    what is taken off.
    """
    overhead = direct.IntervalCost(20.0, Interval(17.0, 24.0, 0.95), "")
    raw = direct.estimate(np.arange(1.0, 11.0)).quantiles[0]
    assert (raw.value, raw.interval.low, raw.interval.high) == (5, 2, 9)
    corrected = direct.estimate(np.arange(1.0, 11.0), overhead).quantiles[0]
    assert corrected.value == -15
    assert corrected.interval.low == -15 - 5  # hypot(5 - 2, 24 - 20)
    assert corrected.interval.high == -15 + 5  # hypot(9 - 5, 20 - 17)


def test_too_few_passes_leave_the_tail_open() -> None:
    result = direct.estimate(np.arange(100.0))
    assert [q.p for q in result.supported] == [0.5, 0.9]
    tail = result.quantiles[-1]
    assert tail.interval.high == math.inf
    assert tail.interval.low > 0


def test_overhead_is_the_median_of_stable_samples() -> None:
    overhead = direct.measure_overhead(EMPTY)
    assert (overhead.value, overhead.unstable) == (20, "")
    assert overhead.interval == Interval(20.0, 21.0, 0.95)
    assert overhead.interval.contains(20)


@pytest.mark.parametrize(
    ("empty", "problem"),
    [
        (
            [100, 100, 100, 107, 107, 107, 100, 107],
            "middle half of its samples spans 7 around 100 where 5",
        ),
        ([100] * 20 + [106] * 6 + [100] + [106] * 13, "middle half"),
        ([100] * 30 + [106] * 9 + [100] * 5 + [106] * 1, ""),
        ([100] * 8 + [105] * 8, ""),
        ([10] * 8 + [12] * 8, ""),
        ([10] * 8 + [12.2] * 8, "middle half of its samples spans 2.2 around 10 where 2"),
        ([90] * 28 + [100] * 72, "middle half of its samples spans 10 around 100"),
        ([90] * 24 + [100] * 76, ""),
        ([10] * 8 + [13] * 8, "middle half of its samples spans 3 around 10 where 2"),
    ],
)
def test_overhead_that_spreads_is_not_stable(empty: list[float], problem: str) -> None:
    overhead = direct.measure_overhead(empty)
    assert problem in overhead.unstable
    assert bool(problem) == bool(overhead.unstable)


def test_overhead_may_spread_two_steps_of_the_clock() -> None:
    assert direct.measure_overhead([10] * 8 + [14] * 8, resolution=2).unstable == ""
    assert direct.measure_overhead([10] * 8 + [15] * 8, resolution=2).unstable


def test_overhead_that_moves_is_not_stable() -> None:
    assert "not stable" in direct.measure_overhead(np.linspace(100, 112, 50)).unstable
    assert direct.measure_overhead(np.linspace(100, 108, 50)).unstable == ""


def test_unstable_overhead_refuses_the_result() -> None:
    overhead = direct.measure_overhead([10] * 8 + [90] * 8)
    with pytest.raises(MeasurementFailed, match="not stable"):
        direct.estimate([1.0, 2.0], overhead)


def test_unstable_overhead_of_a_long_latency_widens_its_interval() -> None:
    """Empty readings of 92 to 127 cycles, as a sibling thread makes them: they refuse a latency
    of 1000, and move one of 10,000 by less than the margin.
    """
    overhead = direct.measure_overhead([92] * 10 + [105] * 11 + [127] * 10)
    assert overhead.unstable
    assert overhead.interval == Interval(92.0, 127.0, 0.95)
    edge = 105 + (127 - 92) / direct.TOLERATED
    with pytest.raises(MeasurementFailed, match="not stable"):
        direct.estimate([edge - 1] * 9, overhead)
    found = direct.estimate([edge] * 9, overhead).quantiles[0]
    assert (found.value, found.interval.low, found.interval.high) == (1750, 1728, 1763)
    assert direct.median([edge] * 9, overhead) == found


def test_eight_empty_intervals_are_needed() -> None:
    assert direct.measure_overhead([5.0] * 8).value == 5
    with pytest.raises(ValueError, match="at least 8"):
        direct.measure_overhead([5.0] * 7)


def test_modes_are_counted_and_corrected() -> None:
    rng = np.random.default_rng(2)
    passes = np.concatenate(
        [rng.normal(1000, 5, 700), rng.normal(3000, 15, 290), rng.normal(9000, 5, 10)]
    )
    found = direct.estimate(passes, direct.measure_overhead(EMPTY)).modes
    assert [mode.position for mode in found] == pytest.approx([980, 2980], rel=0.005)
    assert [mode.share for mode in found] == [0.7, 0.3]  # ten passes are too few to part a mode
    assert found[0].low < 980 < found[0].high == found[1].low < 2980 < found[1].high


def test_modes_need_positive_latencies() -> None:
    assert direct.estimate([0.0, 5.0, 5.0]).modes == ()
    assert len(direct.estimate([0.5, 0.5, 0.5]).modes) == 1


def test_a_mode_of_one_percent_is_reported() -> None:
    passes = np.array([100.0] * 1980 + [200.0] * 20)
    assert [mode.share for mode in direct.estimate(passes).modes] == [0.99, 0.01]
    assert len(direct.estimate([*passes, 100.0]).modes) == 1


def test_a_mode_is_reported_from_four_standard_deviations_on() -> None:
    """k equal passes have a smoothed height of sqrt(2) k, which is that height's variance: 4 needs
    12 passes.
    """
    assert len(direct.estimate([100.0] * 1000 + [200.0] * 12).modes) == 2
    assert len(direct.estimate([100.0] * 1000 + [200.0] * 11).modes) == 1


@pytest.mark.parametrize("sd", [0.1, 0.3])
def test_one_wide_mode_is_seldom_divided_at_any_bandwidth(sd: float) -> None:
    found = [direct.modes_of(mixture((1000, sd, 600), seed=s)) for s in range(200)]
    assert sum(len(one) == 1 for one in found) >= 190


def test_two_wide_modes_are_two() -> None:
    """In windows of half a percent these samples are too few for a valley."""
    samples = [mixture((1000, 0.1, 180), (1600, 0.1, 420), seed=s) for s in range(200)]
    found = [direct.modes_of(one) for one in samples]
    both = [two for two in found if len(two) == 2]
    assert len(both) >= 180
    assert np.median([low.share for low, _ in both]) == pytest.approx(0.3, abs=0.02)
    places = np.median([[low.position, high.position] for low, high in both], axis=0)
    assert places == pytest.approx([1000, 1600], rel=0.03)
    narrow = [modes.find(one, direct.MODE_VALLEY) for one in samples]
    assert sum(len(two) == 2 for two in narrow) < len(both)


def test_a_wide_mode_beside_narrow_ones_is_found() -> None:
    """A contended lock: two narrow modes, and far below them a wide one of fewer tests."""
    for seed in range(20):
        found = direct.modes_of(
            mixture((100, 0.4, 150), (9000, 0.01, 600), (9900, 0.01, 250), seed=seed)
        )
        assert [mode.share for mode in found] == pytest.approx([0.15, 0.6, 0.25], abs=0.01)
        assert [mode.position for mode in found[1:]] == pytest.approx([9000, 9900], rel=0.01)


def test_narrow_modes_are_those_of_the_narrowest_bandwidth() -> None:
    for seed in range(20):
        two = mixture((1000, 0.01, 600), (1200, 0.01, 1400), seed=seed)
        assert direct.modes_of(two) == modes.find(two, direct.MODE_VALLEY)


def test_level_reaches_the_intervals() -> None:
    assert direct.estimate(np.arange(50.0), level=0.5).quantiles[0].interval.level == 0.5
    assert direct.estimate(np.arange(50.0)).quantiles[0].interval.level == 0.95
    assert direct.measure_overhead(EMPTY, level=0.5).interval.level == 0.5
