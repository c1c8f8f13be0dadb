# SPDX-License-Identifier: BSD-2-Clause
"""Nominal 95 % intervals cover the truth 93 to 97 % of the time, on synthetic runs whose truth is
known.

With 2000 replications the share of an honest interval has a standard error of 0.5 %, so that
leaving 93 to 97 % is a matter of one in ten thousand; an interval of true coverage 91 % is caught
in 999 of 1000 cases. Seeds are fixed. The last tests hold known liars against the same yardstick:
it must find them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import Generator
from scipy.signal import lfilter

from cyclometer.compare import statistics
from cyclometer.estimate import direct, kbench, levels, marginal, regimes, steady
from cyclometer.estimate.interval import FloatArray, Interval, critical_value
from cyclometer.estimate.midmean import midmean, midmean_interval

TRUTH = 5000.0
BETWEEN = 20.0
"""Standard deviation between runs."""
WITHIN = 60.0
"""Standard deviation of a test within its run."""

Experiment = Callable[[Generator], Interval]


def coverage(experiment: Experiment, truth: float, replications: int = 2000) -> float:
    rng = np.random.default_rng(20221118)
    return sum(experiment(rng).contains(truth) for _ in range(replications)) / replications


def assert_covers(experiment: Experiment, truth: float = TRUTH, replications: int = 2000) -> None:
    assert 0.93 <= coverage(experiment, truth, replications) <= 0.97


def one_run(rng: Generator, n: int, phi: float = 0.0) -> FloatArray:
    """n tests of one run: the run's own latency, and AR(1) noise of sd WITHIN about it."""
    noise = lfilter([math.sqrt(1 - phi**2)], [1, -phi], rng.normal(0, WITHIN, n + 50))[50:]
    series: FloatArray = rng.normal(TRUTH, BETWEEN) + noise
    return series


def warming_up(rng: Generator, n: int, phi: float) -> FloatArray:
    """The same, with a warm-up that begins 600 higher and halves every seven tests."""
    series: FloatArray = one_run(rng, n, phi) + 600 * 2 ** (-np.arange(n) / 7)
    return series


def over_runs(runs: int, location: Callable[[Generator], float]) -> Experiment:
    return lambda rng: levels.combine([location(rng) for _ in range(runs)]).interval


@pytest.mark.parametrize("runs", [2, 3, 5, 7, 8, 15])
def test_runs_of_known_variance(runs: int) -> None:
    """A run's estimate varies by BETWEEN and by what its 40 tests leave of WITHIN."""
    sd = math.hypot(BETWEEN, WITHIN / math.sqrt(40))
    assert_covers(lambda rng: levels.combine(rng.normal(TRUTH, sd, runs)).interval)


@pytest.mark.parametrize("phi", [0.0, 0.6])
def test_five_runs_of_autocorrelated_tests(phi: float) -> None:
    """The typical estimate of 200 tests: autocorrelation is inside each run and costs the interval
    nothing.
    """
    assert_covers(over_runs(5, lambda rng: midmean(np.sort(one_run(rng, 200, phi)))))


def test_three_runs_with_a_warm_up_dropped_by_mser5() -> None:
    def location(rng: Generator) -> float:
        series = warming_up(rng, 300, 0.3)
        return float(series[steady.mser5(series) :].mean())

    assert_covers(over_runs(3, location))


@pytest.mark.slow
@pytest.mark.parametrize("runs", [3, 5, 8])
@pytest.mark.parametrize("phi", [0.0, 0.6])
def test_runs_of_all_kinds_at_length(runs: int, phi: float) -> None:
    """Between-run variance, autocorrelation and warm-up together, through the estimators that
    `show` uses.
    """

    def location(rng: Generator) -> float:
        series = warming_up(rng, 400, phi)
        return regimes.estimate(series[steady.mser5(series) or 0 :]).overall.value

    assert_covers(over_runs(runs, location))


def on_a_shared_machine(rng: Generator, n: int, latency: float) -> FloatArray:
    """Episodes of ten tests, quiet with a share that changes from run to run, otherwise 15 to 40 %
    slower.
    """
    calm = np.repeat(rng.random(n // 10 + 1) < rng.uniform(0.08, 0.6), 10)[:n]
    noise = rng.normal(0, 0.003, n) + rng.exponential(0.002, n)
    series: FloatArray = latency * np.exp(np.where(calm, noise, rng.normal(0.27, 0.05, n)))
    return series


@pytest.mark.slow
@pytest.mark.parametrize("runs", [3, 5, 8])
def test_base_on_a_shared_machine(runs: int) -> None:
    """The truth is what the definition gives for endless tests of a run without an effect of its
    own.
    """
    endless = regimes.estimate(
        on_a_shared_machine(np.random.default_rng(7), 1_000_000, TRUTH)
    ).base.value

    def location(rng: Generator) -> float:
        return regimes.estimate(
            on_a_shared_machine(rng, 1000, rng.normal(TRUTH, BETWEEN))
        ).base.value

    assert_covers(over_runs(runs, location), endless)


@pytest.mark.parametrize("phi", [0.0, 0.5])
def test_midmean_of_one_run(phi: float) -> None:
    """Sixteen batches of 50 tests outlast the memory of the noise."""

    def experiment(rng: Generator) -> Interval:
        arrival: FloatArray = TRUTH + lfilter([1.0], [1, -phi], rng.normal(0, WITHIN, 850))[50:]
        return midmean_interval(arrival, np.sort(arrival), 0.95)

    assert_covers(experiment)


@pytest.mark.parametrize("noise", [0.002, 0.01, 0.03])
def test_base_of_one_run_with_one_regime(noise: float) -> None:
    """Where noise is broad the core is cut from it, which the interval must not make it forget."""
    assert_covers(
        lambda rng: regimes.estimate(TRUTH * np.exp(rng.normal(0, noise, 400))).base.interval
    )


@pytest.mark.parametrize("tests", [5, 30])
def test_kbench_with_student(tests: int) -> None:
    def experiment(rng: Generator) -> Interval:
        return kbench.estimate(300 * rng.normal(TRUTH, WITHIN, tests), 300, level=0.95).interval

    assert_covers(experiment)


def unequal_groups(rng: Generator) -> marginal.MarginalFit:
    """Three sizes, A = 900 + TRUTH N, the spread growing with N, unequally many tests, one group
    noisy beyond that.
    """
    N = np.repeat([20.0, 40.0, 60.0], [20, 10, 15])
    sd = np.repeat([100.0, 200.0, 900.0], [20, 10, 15])
    return marginal.fit(900 + TRUTH * N + rng.normal(0, sd), N)


def test_marginal_latency_and_fixed_cost() -> None:
    assert_covers(lambda rng: unequal_groups(rng).b_interval)
    assert_covers(lambda rng: unequal_groups(rng).c_interval, 900)


def flow_over_runs(
    rng: Generator, runs: int, of_run: float, of_size: float
) -> tuple[FloatArray, FloatArray]:
    """Sizes, and quiet A of each run and size: a line, a factor of the run, and what the machine
    did to each size.
    """
    N = np.array([500.0, 1000.0, 1500.0])
    noise = rng.normal(1, of_run, (runs, 1)) * rng.normal(1, of_size, (runs, 3))
    table: FloatArray = (900 + TRUTH * N) * noise
    return N, table


NOISE_OF_A_FLOW = [(0.001, 0.0), (0.001, 0.001), (0.001, 0.003), (0.0, 0.002)]


@pytest.mark.parametrize("runs", [3, 5, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("of_run", "of_size"), NOISE_OF_A_FLOW)
def test_turn_after_the_fixed_cost_is_taken_off(runs: int, of_run: float, of_size: float) -> None:
    """The latency of a turn that `show` prints: (A - c) / N of every run, one c for all, its error
    shared by all.

    The error of c is added as if the runs did not already show part of it, so three runs cover up
    to 98 %.
    """

    def experiment(rng: Generator, shared: float = 1.0) -> Interval:
        N, table = flow_over_runs(rng, runs, of_run, of_size)
        fit = marginal.fit_repeated(N, table)
        reach = (
            shared * critical_value(0.95, runs - 1) * fit.c_standard_error * float(np.mean(1 / N))
        )
        return levels.combine(((table - fit.c) / N).mean(axis=1), shared=reach).interval

    assert 0.93 <= coverage(experiment, TRUTH) <= 0.985
    if of_size:
        assert coverage(lambda rng: experiment(rng, 0.0), TRUTH, 500) < 0.92


@pytest.mark.parametrize("runs", [3, 5, 8])
@pytest.mark.parametrize(("of_run", "of_size"), NOISE_OF_A_FLOW)
def test_lines_over_runs(runs: int, of_run: float, of_size: float) -> None:
    """The lines' own intervals rest on the MAD of few runs, which costs an odd number of them up to
    four points.
    """
    share = coverage(
        lambda rng: marginal.fit_repeated(*flow_over_runs(rng, runs, of_run, of_size)).b_interval,
        TRUTH,
    )
    assert 0.90 <= share <= 0.985


@pytest.mark.parametrize("runs", [3, 5, 8])
def test_a_fixed_cost_over_runs_that_differ_as_a_whole(runs: int) -> None:
    """A percent from run to run, which cancels in c, and a tenth in each size, which does not; the
    MAD of few runs costs up to five points.
    """

    def experiment(rng: Generator) -> Interval:
        return marginal.fit_repeated(*flow_over_runs(rng, runs, 0.01, 0.001)).c_interval

    assert 0.90 <= coverage(experiment, 900) <= 0.985


@pytest.mark.parametrize("of_run", [0.0, 0.01])
def test_a_line_over_runs_is_seldom_called_bent(of_run: float) -> None:
    rng = np.random.default_rng(4)
    bent = 0
    for _ in range(1000):
        fit = marginal.fit_repeated(*flow_over_runs(rng, 5, of_run, 0.001))
        bent += fit.line_holds() is False
    assert bent / 1000 <= 0.03


def test_quantiles_cover_at_least_what_they_say() -> None:
    """Ranks are whole numbers, so an order-statistic interval covers a little more than its
    level.
    """

    def experiment(rng: Generator) -> Interval:
        return direct.estimate(TRUTH * rng.lognormal(0, 0.3, 400)).quantiles[1].interval

    share = coverage(experiment, TRUTH * math.exp(0.3 * 1.2815515655446004))
    assert 0.945 <= share <= 0.98


def test_change_between_two_sides() -> None:
    """Welch: three runs against six, with spreads of one and three percent."""

    def experiment(rng: Generator) -> Interval:
        before, after = np.exp(rng.normal(8, 0.01, 3)), 1.04 * np.exp(rng.normal(8, 0.03, 6))
        return statistics.change(before, after).interval

    assert_covers(experiment, 0.04)


def shifted(rng: Generator) -> Interval:
    """A bias of half the spread between runs."""
    return levels.combine(rng.normal(TRUTH + BETWEEN / 2, BETWEEN, 5)).interval


def pooled(rng: Generator) -> Interval:
    """All tests of five runs taken as one sample."""
    return kbench.estimate(np.concatenate([one_run(rng, 40) for _ in range(5)]), 1, 0.95).interval


def percentile_bootstrap(rng: Generator) -> Interval:
    """Five runs resampled, and the percentiles of their means."""
    runs = rng.normal(TRUTH, BETWEEN, 5)
    means = runs[rng.integers(0, 5, (500, 5))].mean(axis=1)
    return Interval(float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975)), 0.95)


def within_one_run(rng: Generator) -> Interval:
    """One run's own interval, held to be about the machine."""
    return regimes.estimate(one_run(rng, 400)).overall.interval


def normal_critical_value(rng: Generator) -> Interval:
    """Five tests with z in place of t."""
    return kbench.estimate(rng.normal(TRUTH, WITHIN, 5), 1, 0.95, critical="z").interval


def warm_up_included(rng: Generator) -> Interval:
    """Five runs whose start is averaged with the rest."""
    return levels.combine([warming_up(rng, 100, 0.0).mean() for _ in range(5)]).interval


def too_wide(rng: Generator) -> Interval:
    """Intervals half as wide again as they need be."""
    honest = levels.combine(rng.normal(TRUTH, BETWEEN, 5)).interval
    middle, reach = (honest.low + honest.high) / 2, 1.5 * honest.half_width
    return Interval(middle - reach, middle + reach, 0.95)


@pytest.mark.parametrize(
    "liar",
    [
        shifted,
        pooled,
        percentile_bootstrap,
        within_one_run,
        normal_critical_value,
        warm_up_included,
        too_wide,
    ],
    ids=lambda liar: liar.__name__,
)
def test_the_yardstick_finds_liars(liar: Experiment) -> None:
    with pytest.raises(AssertionError):
        assert_covers(liar)
