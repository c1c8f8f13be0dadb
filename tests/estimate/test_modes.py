# SPDX-License-Identifier: BSD-2-Clause
"""Modes of a density on a log scale."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cyclometer.estimate import modes
from cyclometer.estimate.interval import FloatArray


def mixture(*parts: tuple[float, float, int], seed: int = 5) -> FloatArray:
    """Sorted samples of lognormal parts (position, relative sd, count)."""
    rng = np.random.default_rng(seed)
    return np.sort(np.concatenate([at * np.exp(rng.normal(0, sd, n)) for at, sd, n in parts]))


def test_two_modes_their_shares_and_the_valley_between() -> None:
    low, high = modes.find(mixture((1000, 0.01, 600), (1200, 0.01, 1400)), 3)
    assert (low.position, high.position) == pytest.approx((1000, 1200), rel=0.004)
    assert (low.share, high.share) == (0.3, 0.7)
    assert 1030 < low.high == high.low < 1170


def test_bounds_enclose_every_sample() -> None:
    sample = mixture((1000, 0.05, 500))
    (mode,) = modes.find(sample, 3)
    assert mode.low <= sample[0]
    assert mode.high > sample[-1]
    assert mode.share == 1.0


def test_position_is_unbiased() -> None:
    """A peak sits in the middle of its bin: over many samples the positions centre on the truth."""
    found = [modes.find(mixture((1000, 0.002, 300), seed=s), 3)[0].position for s in range(60)]
    assert np.mean(found) == pytest.approx(1000, abs=0.25)


def test_equal_values_are_one_mode() -> None:
    (mode,) = modes.find(np.full(50, 42.0), 3)
    assert mode.position == pytest.approx(42 * math.exp(modes.BANDWIDTH / 4 / 2), rel=1e-12)
    assert mode.share == 1.0


def test_bandwidth_is_half_a_percent_or_the_clocks_step() -> None:
    assert modes.bandwidth(np.array([1000.0, 1001.0, 1001.0, 1005.0])) == modes.BANDWIDTH
    assert modes.bandwidth(np.array([274.0, 300.0, 300.0, 352.0])) == 26 / 300
    assert modes.bandwidth(np.array([100.0])) == modes.BANDWIDTH
    assert modes.bandwidth(np.array([274.0, 300.0, 326.0, 352.0])) == 26 / 326
    assert modes.bandwidth(np.array([9.0, 10.0, 10.0])) == 0.1
    assert modes.bandwidth(np.array([8.9, 10.0, 10.0])) == modes.BANDWIDTH


def test_a_coarse_clock_is_not_many_modes() -> None:
    steps = 26.0 * np.round(np.random.default_rng(6).normal(40, 2, 4000))
    assert len(modes.find(np.sort(steps), 4)) == 1
    coarser = 26.0 * np.round(np.random.default_rng(6).normal(5, 1, 4000))
    assert len(modes.find(np.sort(coarser[coarser > 0]), 4)) == 1


def test_regimes_far_apart_are_no_steps_of_a_clock() -> None:
    two = np.repeat([100.0, 156.0], 50)
    assert len(modes.find(two, 4)) == 2
    three = np.repeat([100.0, 156.0, 199.0], 50)
    assert len(modes.find(three, 4)) == 3


def test_bandwidths_double_up_to_silvermans() -> None:
    assert modes.bandwidths(np.full(50, 42.0)) == [0.005]
    assert modes.bandwidths(mixture((1000, 0.01, 1000))) == [0.005]
    wide = mixture((1000, 0.1, 1000))  # 0.9 x 0.1 / 1000^(1/5) is 0.0226
    assert modes.bandwidths(wide) == [0.005, 0.01, 0.02]
    assert modes.bandwidths(np.arange(1.0, 21.0))[:2] == [1 / 11, 2 / 11]  # of a coarse clock


@pytest.mark.parametrize("sd", [0.003, 0.03, 0.1])
def test_one_peak_is_seldom_split(sd: float) -> None:
    split = sum(len(modes.find(mixture((1000, sd, 1000), seed=s), 4)) > 1 for s in range(100))
    assert split <= 2


def test_the_depth_of_a_valley_decides() -> None:
    """Counts 400, 200, 400 in three bins, smoothed: a valley of about eight standard deviations."""
    density = np.array([0.0, 400, 200, 400, 0])
    assert modes._parted(density, 3.0) == [(0, 1, 2), (2, 3, 5)]
    deviations = 200 / math.sqrt(600)
    assert len(modes._parted(density, deviations - 0.01)) == 2
    assert len(modes._parted(density, deviations)) == 1


def test_the_first_of_equal_peaks_and_valleys_counts() -> None:
    assert modes._parted(np.array([0.0, 100, 99, 100, 0]), 3) == [(0, 1, 5)]
    assert modes._parted(np.array([400.0, 100, 101, 100, 400]), 3) == [(0, 0, 1), (1, 4, 5)]


def test_both_sides_of_a_valley_must_be_significant() -> None:
    assert len(modes._parted(np.array([400.0, 100, 110]), 3)) == 1
    assert len(modes._parted(np.array([110.0, 100, 400]), 3)) == 1
    assert modes._parted(np.array([1.0, 100, 90, 5, 0, 2, 100, 3, 80]), 3) == [
        (0, 1, 4),
        (4, 6, 7),
        (7, 8, 9),
    ]


@pytest.mark.parametrize(
    ("density", "turns"),
    [
        ([1, 2, 3], [0, 2]),
        ([1, 3, 2], [0, 1, 2]),
        ([1, 3, 3, 2], [0, 1, 3]),
        ([3, 1, 1, 1, 2], [0, 1, 4]),
        ([0, 0, 4, 1, 6, 6, 0, 0], [0, 2, 3, 4, 6]),
    ],
)
def test_turning_points_are_ends_and_extremes_at_their_first_bin(
    density: list[float], turns: list[int]
) -> None:
    assert modes._turning_points(np.array(density, dtype=float)) == turns


def test_kernel_is_scipys_gaussian_of_peak_one_out_to_four_bandwidths() -> None:
    from scipy.ndimage import gaussian_filter1d

    impulse = np.zeros(33)
    impulse[16] = 1.0
    response = gaussian_filter1d(impulse, 4, mode="constant", truncate=4)
    assert pytest.approx(response / response[16], rel=1e-12) == modes._KERNEL


def test_smoothed_counts_have_poisson_variance() -> None:
    """The scale of `_falls`: over many uniform samples a height varies as much as it is high."""
    rng = np.random.default_rng(7)
    from scipy.ndimage import gaussian_filter1d

    heights = [
        gaussian_filter1d(rng.poisson(20, 101).astype(float), modes.BINS)[50]
        * 2
        * math.sqrt(math.pi)
        * modes.BINS
        for _ in range(4000)
    ]
    assert np.var(heights) == pytest.approx(np.mean(heights), rel=0.1)


def test_histogram_keeps_every_count() -> None:
    x = np.array([0.0, 0.1, 0.9, 1.0, 2.5])
    bins = modes._histogram(x, 0.5)
    assert bins.tolist()[:7] == [2, 1, 1, 0, 0, 1, 0]
    assert bins.size == 5 + 4 * modes.BINS
