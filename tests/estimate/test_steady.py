# SPDX-License-Identifier: BSD-2-Clause
"""Warm-up, shape, and whether turns may be called independent."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.diagnostic import acorr_ljungbox
from statsmodels.tsa.stattools import acf

from cyclometer.estimate import steady
from cyclometer.estimate.interval import FloatArray, samples
from tests.estimate.golden import table

NOISE = np.random.default_rng(1).normal(0, 10, (40, 1000))


def autoregressive(phi: float, n: int, seed: int) -> FloatArray:
    noise = np.random.default_rng(seed).normal(size=n + 200)
    series = np.zeros(n + 200)
    for i in range(1, n + 200):
        series[i] = phi * series[i - 1] + noise[i]
    return 1000 + series[200:]


def shapes(level: FloatArray) -> list[str]:
    """The shapes found in forty runs of noise of sd 10 about this level."""
    return [steady.assess(1000 + level + noise[: level.size]).shape for noise in NOISE]


@pytest.mark.parametrize(
    ("level", "shape"),
    [
        (np.zeros(1000), "flat"),
        (np.where(np.arange(1000) < 100, 40.0, 0), "warm-up"),
        (300 * np.exp(-np.arange(1000) / 20), "warm-up"),
        (np.where(np.arange(1000) < 300, -30.0, 0), "slow-down"),
        (np.where(np.abs(np.arange(1000) - 300) < 60, -30.0, 0), "slow-down"),
        (np.where(np.arange(1000) < 900, 40.0, 0), "no steady state"),
        (np.arange(1000) * 0.1, "no steady state"),
        (np.where(np.arange(200) < 50, 40.0, 0), "warm-up"),
    ],
)
def test_shape(level: FloatArray, shape: str) -> None:
    assert shapes(level).count(shape) >= 38


@pytest.mark.parametrize("tests", [70, 233, 1000])
def test_tests_that_a_timer_tick_of_the_host_hits_are_no_other_level(tests: int) -> None:
    """Independent tests, one in seven 4.6 % longer: such series are flat in four of five cases, and
    were in 1 % when every test counted.
    """
    rng = np.random.default_rng(1)
    series = 100 * (1 + 0.002 * rng.standard_normal((200, tests)))
    series *= 1 + 0.046 * (rng.random(series.shape) < 0.15)
    found = [steady.assess(one).shape for one in series]
    assert found.count("flat") > (0.75 if tests < 1000 else 0.9) * len(found)


def test_wild_noise_is_flat() -> None:
    series = 100 * (1 + 0.002 * np.random.default_rng(2).standard_t(2, (200, 70)))
    assert [steady.assess(one).shape for one in series].count("flat") > 0.9 * len(series)


def test_no_steady_state_begins_past_three_quarters() -> None:
    def step(at: int) -> FloatArray:
        return samples(
            np.concatenate([np.full(at, 1000.0), np.full(1000 - at, 900.0)]) + 0.001 * NOISE[0]
        )

    assert steady.assess(step(750)).shape == "warm-up"
    assert steady.assess(step(760)).shape == "no steady state"


def test_levels_within_a_quarter_of_the_noise_are_one() -> None:
    """A run of sharp steps on a quiet clock: a tenth of a percent is where a step begins to
    count.
    """
    half = np.where(np.arange(1000) < 500, 1, 0)
    assert steady.assess(1000 + 0.99 * half + 0.0001 * NOISE[0]).shape == "flat"
    assert steady.assess(1000 + 1.01 * half + 0.0001 * NOISE[0]).shape == "warm-up"
    assert steady.assess(1000.0 + half).shape == "flat"  # just a tenth of a percent
    # Alternating readings 0 and 8: successive differences of 8, so the noise is 8 * 1.4826 /
    # sqrt(2) = 8.4.
    alternating = np.where(np.arange(1000) % 2, 8.0, 0)
    assert steady.assess(500 + 2.0 * half + alternating).shape == "flat"
    assert steady.assess(500 + 2.2 * half + alternating).shape == "warm-up"


def test_segments_partition_the_run() -> None:
    series = (
        np.concatenate([np.full(40, 30.0), np.full(64, 10.0), np.full(21, 20.0)])
        + NOISE[0, :125] / 100
    )
    segments = steady.segment(series)
    assert [(s.first, s.end) for s in segments] == [(0, 40), (40, 104), (104, 125)]
    assert [s.level for s in segments] == pytest.approx([30, 10, 20], abs=0.1)


def test_a_run_is_seen_on_a_hundred_points() -> None:
    """One test more, and points are medians of two: bounds then lie between pairs."""
    series = np.where(np.arange(101) < 41, 30.0, 10.0) + NOISE[0, :101] / 100
    assert [s.end for s in steady.segment(series[:100])] == [41, 100]
    assert all(s.end % 2 == 0 for s in steady.segment(series)[:-1])


def test_levels_far_from_zero_are_parted_as_well() -> None:
    series = np.where(np.arange(100) < 40, 0.0, 5.0) + NOISE[0, :100] / 20
    assert (
        [s.end for s in steady.segment(series + 1e12)]
        == [s.end for s in steady.segment(series)]
        == [40, 100]
    )


def test_a_segment_has_at_least_five_points() -> None:
    series = np.concatenate([np.zeros(20), np.full(4, 90.0), np.zeros(20)]) + NOISE[0, :44] / 100
    assert all(s.end - s.first >= 5 for s in steady.segment(series))
    five = np.concatenate([np.zeros(20), np.full(5, 90.0), np.zeros(20)]) + NOISE[0, :45] / 100
    assert [(s.first, s.end) for s in steady.segment(five)] == [(0, 20), (20, 25), (25, 45)]


def brute_force(points: FloatArray, penalty: float) -> float:
    """Least cost over all partitions into at most three segments of five points or more."""

    def cost(a: int, b: int) -> float:
        return float(np.sum((points[a:b] - points[a:b].mean()) ** 2)) + penalty

    n = points.size
    one = cost(0, n)
    two = min((cost(0, i) + cost(i, n) for i in range(5, n - 4)), default=np.inf)
    three = min(
        (
            cost(0, i) + cost(i, j) + cost(j, n)
            for i in range(5, n - 9)
            for j in range(i + 5, n - 4)
        ),
        default=np.inf,
    )
    return min(one, two, three)


@settings(max_examples=40)
@given(
    st.lists(st.integers(-9, 9).map(float), min_size=10, max_size=19),
    st.sampled_from([5.0, 20.0, 80.0]),
)
def test_partition_is_the_best_there_is(values: list[float], penalty: float) -> None:
    points = np.array(values)
    bounds = steady._optimal_bounds(points, penalty)
    assert [a for a, _ in bounds[1:]] == [b for _, b in bounds[:-1]]
    assert (bounds[0][0], bounds[-1][1]) == (0, points.size)
    assert all(b - a >= 5 for a, b in bounds)
    found = sum(float(np.sum((points[a:b] - points[a:b].mean()) ** 2)) + penalty for a, b in bounds)
    assert found == pytest.approx(brute_force(points, penalty))


def test_penalty_keeps_noise_whole() -> None:
    """White noise is parted in well under one run of a hundred; a step of half the noise in 500
    tests is found.
    """
    rng = np.random.default_rng(2)
    assert sum(len(steady.segment(rng.normal(size=100))) > 1 for _ in range(300)) <= 3
    step = np.where(np.arange(100) < 50, 0.0, 1.3)
    assert sum(len(steady.segment(step + rng.normal(size=100))) > 1 for _ in range(100)) >= 90


@pytest.mark.parametrize(("gain", "segments"), [(3.9, 1), (4.1, 2)])
def test_penalty_is_four_variances_times_the_logarithm(gain: float, segments: int) -> None:
    """Readings alternate by one about two levels; a step d in the middle saves n d^2 / 4
    squares.
    """
    noise = (2 * 1.4826) ** 2 / 2
    step = math.sqrt(4 * gain * noise * math.log(100) / 100)
    series = np.where(np.arange(100) < 50, 0.0, step) + np.where(np.arange(100) % 2, 1.0, -1.0)
    assert len(steady.segment(series)) == segments


def test_noise_of_differences_on_a_coarse_clock() -> None:
    """Differences of normal noise give its variance; where most readings are equal, their mean
    square does.
    """
    wide = np.random.default_rng(3).normal(0, 3, 20_000)
    assert steady._difference_variance(wide) == pytest.approx(9, rel=0.05)
    assert steady._difference_variance(np.array([0.0, 0, 0, 0, 3, 0])) == pytest.approx(18 / 5 / 2)


def plain_mser5(series: FloatArray) -> int | None:
    batches = [float(np.mean(series[i : i + 5])) for i in range(0, series.size - 4, 5)]
    error = [np.var(batches[d:]) / (len(batches) - d) for d in range(max(1, len(batches) - 4))]
    best = int(np.argmin(error))
    return 5 * best if best <= len(batches) // 2 else None


@given(st.integers(0, 10_000), st.integers(10, 90), st.floats(0, 80))
def test_mser5_is_its_definition(seed: int, n: int, start: float) -> None:
    """The level is high enough to drown the noise in rounding, unless sums are taken about the
    mean.
    """
    series = np.random.default_rng(seed).normal(1e9, 5, n) + start * np.exp(-np.arange(n) / 10)
    assert steady.mser5(series) == plain_mser5(series)


def test_mser5_drops_the_warm_up() -> None:
    series = np.concatenate([np.full(40, 500.0), np.full(160, 100.0)]) + np.tile(
        np.repeat([1, -1], 5), 20
    )
    assert steady.mser5(series) == 40
    assert steady.mser5(np.full(200, 7.0)) == 0
    assert steady.mser5(series[::-1].copy()) is None


def test_mser5_admits_that_the_end_of_the_warm_up_was_not_seen() -> None:
    falling = 1000 - np.arange(200.0)
    assert steady.mser5(falling) is None


@pytest.mark.parametrize("n", [10, 57, 300])
def test_autocorrelation_and_ljung_box_agree_with_statsmodels(n: int) -> None:
    series = autoregressive(0.4, n, seed=n)
    found = steady.autocorrelation(series)
    assert found == pytest.approx(acf(series, nlags=n // 2, fft=False), abs=1e-12)
    lags = min(10, n // 5)
    oracle = acorr_ljungbox(series, lags=[lags])["lb_pvalue"].iloc[0]
    assert steady.ljung_box(found, n) == pytest.approx(oracle)
    assert steady.assess(series).lag_correlation == found[1]


def test_nothing_correlates_where_nothing_varies() -> None:
    group = steady.assess(np.full(30, 5.0))
    assert (group.lag_correlation, group.ljung_box_p, group.effective_size) == (0, 1, 30)
    assert (group.shape, group.warm_up, group.tests) == ("flat", 0, 30)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8])
def test_effective_size_of_an_autoregression(phi: float) -> None:
    """An AR(1) series of n is worth n (1 - phi) / (1 + phi)."""
    ratio = np.mean(
        [steady.assess(autoregressive(phi, 4000, seed)).effective_size / 4000 for seed in range(15)]
    )
    assert ratio == pytest.approx((1 - phi) / (1 + phi), rel=0.12)


def test_effective_size_sums_until_a_pair_is_negative() -> None:
    """Pairs (1 + .5), (.3 + .1), (-.2 + .1): the sum stops at the third, and 2 * 1.9 - 1 = 2.8."""
    correlation = np.array([1, 0.5, 0.3, 0.1, -0.2, 0.1, 0.4, 0.4])
    assert steady.effective_size(correlation, 280) == pytest.approx(100)
    assert steady.effective_size(correlation[:4], 280) == pytest.approx(100)
    assert steady.effective_size(correlation[:5], 280) == pytest.approx(100)
    assert steady.effective_size(np.array([1, 0.5, -0.25, 0.25, 0.4, 0.4]), 20) == pytest.approx(10)
    assert steady.effective_size(np.array([1, -0.9, 0.8, -0.7]), 10) == 10


def grouped(
    sizes: list[int], spread: list[float], tests: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    A = np.concatenate(
        [rng.normal(100 * n, sd, tests) for n, sd in zip(sizes, spread, strict=True)]
    )
    return A, np.repeat(sizes, tests).astype(float)


@pytest.mark.parametrize(("exponent", "refuted"), [(0, True), (1, False), (2, True)])
def test_variance_growth(exponent: int, refuted: bool) -> None:
    sizes = [10, 40, 160]
    A, N = grouped(sizes, [float(n) ** (exponent / 2) for n in sizes], 60, seed=5)
    growth = steady.variance_growth(A, N)
    assert growth is not None
    assert growth.exponent == pytest.approx(exponent, abs=0.2)
    assert (growth.p < steady.ALPHA) == refuted


def test_variance_growth_by_hand() -> None:
    """Two sizes: the exponent is the slope between two logarithms; p is Brown and Forsythe's on A /
    sqrt(N).
    """
    A, N = grouped([10, 90], [3, 20], 25, seed=6)
    small, large = A[N == 10], A[N == 90]
    growth = steady.variance_growth(A, N)
    assert growth is not None
    assert growth.exponent == pytest.approx(
        np.log(large.var(ddof=1) / small.var(ddof=1)) / np.log(9)
    )
    oracle = stats.levene(small / np.sqrt(10), large / np.sqrt(90), center="median").pvalue
    assert growth.p == pytest.approx(oracle)


def test_variance_growth_weights_groups_by_their_tests() -> None:
    A, N = grouped([10, 20, 80], [3, 9, 5], 12, seed=7)
    keep = np.r_[0:12, 12:15, 24:36]
    A, N = A[keep], N[keep]
    growth = steady.variance_growth(A, N)
    log_variance = [np.log(A[size == N].var(ddof=1)) for size in (10, 20, 80)]
    slope = np.polyfit(np.log([10, 20, 80]), log_variance, 1, w=np.sqrt([11, 2, 11]))[0]
    assert growth is not None
    assert growth.exponent == pytest.approx(slope)


def test_published_groups_grow_as_independent_turns_from_thirty_on() -> None:
    """Tables 3.5 and A.2.1 (N = 30 to 34, and 300): var(A)/N is one. From N = 1 on (table 3.4) it
    is not.
    """
    late, appendix, early = (
        table("kbench_table_3_5"),
        table("kbench_appendix_2"),
        table("kbench_table_3_4"),
    )
    A, N = (
        np.r_[late.ravel(), appendix.ravel()],
        np.r_[np.tile(np.arange(30.0, 35), 30), np.full(90, 300.0)],
    )
    growth = steady.variance_growth(A, N)
    assert growth is not None
    assert (round(growth.exponent, 2), round(growth.p, 2)) == (1.04, 0.56)
    short = steady.variance_growth(
        np.r_[A, early.ravel()], np.r_[N, np.tile(np.arange(1.0, 6), 30)]
    )
    assert short is not None
    assert short.exponent < 0.8
    assert short.p < steady.ALPHA


def test_variance_growth_needs_two_groups_that_vary() -> None:
    A, N = grouped([10, 20], [1, 1], 3, seed=8)
    assert steady.variance_growth(A, N) is not None
    assert steady.variance_growth(A[:5], N[:5]) is None
    assert steady.variance_growth(A, np.full(6, 10.0)) is None
    assert steady.variance_growth([1.0, 2.0], [1, 2]) is None
    assert steady.variance_growth([5.0] * 3 + [9.0, 8, 9], N) is None
    with_exact = steady.variance_growth(
        [5.0] * 3 + [9.0, 8, 9, 30, 34, 38], [1] * 3 + [2] * 3 + [4] * 3
    )
    assert with_exact == steady.variance_growth([9.0, 8, 9, 30, 34, 38], [2] * 3 + [4] * 3)


def test_equal_deviations_show_no_unequal_spread() -> None:
    assert steady._equal_spread_p([np.ones(3), np.ones(4)]) == 1.0


def verdict(**change: object) -> str:
    """The verdict on an irreproachable group with something changed."""
    group: dict[str, object] = {
        "tests": 100,
        "warm_up": 0,
        "shape": "flat",
        "segments": (),
        "lag_correlation": 0.125,
        "ljung_box_p": 0.5,
        "effective_size": 90.0,
    }
    growth = change.pop("growth", None)
    return steady.independence_refuted(steady.Steadiness(**{**group, **change}), growth)  # type: ignore[arg-type]


def test_verdict_names_its_reason() -> None:
    assert verdict() == ""
    assert verdict(shape="warm-up") == "the run is not flat (warm-up)"
    assert (
        verdict(ljung_box_p=0.0099)
        == "successive tests are correlated (lag 1: +0.12, Ljung-Box p 0.01)"
    )
    assert verdict(ljung_box_p=0.01) == ""
    assert verdict(growth=steady.VarianceGrowth(2.04, 0.0021)).startswith(
        "var(A) grows as N^2.0 where"
    )
    assert verdict(growth=steady.VarianceGrowth(2.04, 0.01)) == ""


def test_sigma_of_the_published_runs_is_not_refuted() -> None:
    for run in table("kbench_appendix_2").T:
        assert steady.independence_refuted(steady.assess(run / 300)) == ""


def test_ten_tests_are_needed() -> None:
    with pytest.raises(ValueError, match="at least 10"):
        steady.assess(np.arange(9.0))
    assert steady.assess(np.arange(10.0)).tests == 10


@settings(max_examples=20)
@given(st.integers(0, 1000), st.sampled_from([0.5, 4.0]), st.sampled_from([-512.0, 1024.0]))
def test_judgement_does_not_depend_on_the_unit(seed: int, factor: float, shift: float) -> None:
    series = autoregressive(0.3, 150, seed)
    one, other = steady.assess(series), steady.assess(factor * series + shift)
    assert (one.warm_up, [s.end for s in one.segments]) == (
        other.warm_up,
        [s.end for s in other.segments],
    )
    assert one.effective_size == pytest.approx(other.effective_size, rel=1e-6)
    assert one.ljung_box_p == pytest.approx(other.ljung_box_p, rel=1e-6)
