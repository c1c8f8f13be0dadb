# SPDX-License-Identifier: BSD-2-Clause
"""What a suite of comparisons promises, held against synthetic suites with known truth and fixed
seeds.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from cyclometer.compare import statistics
from cyclometer.compare.finding import Options
from cyclometer.compare.pairing import side
from cyclometer.compare.verdicts import Comparison, compare
from cyclometer.estimate.interval import student
from tests.compare.bundles import Spec, measured, one_side

SPREAD = 0.008
"""Standard deviation of a run's log latency."""


def suite(rng: np.random.Generator, shifts: np.ndarray, runs: int, options: Options) -> Comparison:
    """A comparison of rows whose true changes are `shifts`."""
    sides = []
    for which in (0, 1):
        logs = (
            np.log(1000)
            + which * np.log1p(shifts)[:, None]
            + SPREAD * rng.standard_normal((shifts.size, runs))
        )
        sides.append(
            one_side(*(Spec(str(i), list(np.exp(of_row))) for i, of_row in enumerate(logs)))
        )
    return compare(sides[0], sides[1], options)


def within(successes: int, trials: int, p: float) -> bool:
    """Is this count what a binomial with this p gives, 999 times of 1000?"""
    return bool(
        stats.binom.ppf(0.0005, trials, p) <= successes <= stats.binom.isf(0.0005, trials, p)
    )


def changed(comparison: Comparison) -> list[str]:
    return [f.key for f in comparison.findings if f.verdict in ("regressed", "improved")]


@pytest.mark.parametrize("runs", [3, 6])
def test_a_suite_of_nothing_cries_wolf_at_the_nominal_rate(runs: int) -> None:
    """Under no change the false discovery rate is the chance of any alarm in the suite; the margin
    is out of play.
    """
    rng = np.random.default_rng(runs)
    options = Options(margin=1e-9, fdr=0.10)
    suites = [bool(changed(suite(rng, np.zeros(8), runs, options))) for _ in range(500)]
    assert within(sum(suites), len(suites), 0.10)


def test_the_margin_only_lowers_the_alarms() -> None:
    rng = np.random.default_rng(2)
    alarms = sum(bool(changed(suite(rng, np.zeros(8), 5, Options()))) for _ in range(300))
    assert stats.binom.cdf(alarms, 300, 0.05) < 0.95


def test_false_discoveries_are_bounded_among_true_ones() -> None:
    """Half of the rows change by 3 %; of the changes reported at most a twentieth are false, on
    average over suites.
    """
    rng = np.random.default_rng(7)
    shifts = np.repeat([0.0, 0.03], 10)
    shares = []
    for _ in range(150):
        found = changed(suite(rng, shifts, 6, Options(margin=1e-9)))
        shares.append(sum(int(key) < 10 for key in found) / max(1, len(found)))
    assert np.mean(shares) <= 0.05 + 3 * np.std(shares) / math.sqrt(len(shares))


def stated(spread: float, runs: int) -> float:
    """The change that the planner calls the smallest which so many runs per side find with
    probability POWER.
    """
    error, df = spread * math.sqrt(2 / runs), 2 * runs - 2
    expected = statistics.Change(0.0, error, df, student(0.0, error, df, 0.95), 1.0)
    return statistics.decide(expected, (runs, runs)).minimum_detectable


@pytest.mark.parametrize("runs", [4, 5, 8, 20])
def test_planted_shifts_of_two_percent_are_found_at_the_stated_power(runs: int) -> None:
    """The spread between runs is that for which the planner states 2 %; rows are judged one by one,
    as it assumes.
    """
    spread = brentq(lambda spread: stated(spread, runs) - 0.02, 1e-4, 0.1)
    rng = np.random.default_rng(runs)
    found = 0
    for _ in range(800):
        before, after = (list(m * np.exp(spread * rng.standard_normal(runs))) for m in (1000, 1020))
        found += (
            compare(one_side(Spec("a", before)), one_side(Spec("a", after))).findings[0].verdict
            == "regressed"
        )
    assert within(found, 800, statistics.POWER)


def test_planted_shifts_are_found_in_a_suite_measured_from_tests() -> None:
    """From raw tests to verdicts: 2 % on a quarter of the rows is found, and nothing else is."""
    rng = np.random.default_rng(4)
    truth = {f"circle{i}": 1.02 if i % 4 == 0 else 1.0 for i in range(24)}
    sides = []
    for seed in (1, 2):
        runs = {
            k: 1000 * (f if seed == 2 else 1) * np.exp(0.003 * rng.standard_normal(5))
            for k, f in truth.items()
        }
        sides.append(side([measured(runs, seed=seed)]))
    found = compare(*sides)
    assert {f.key for f in found.of("regressed")} == {
        key for key, factor in truth.items() if factor > 1
    }
    assert not found.of("improved")
