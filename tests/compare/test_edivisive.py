# SPDX-License-Identifier: BSD-2-Clause
"""E-divisive against the paper's equations written out, planted changes and unchanging noise."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cyclometer.compare import edivisive


def energy(left: list[float], right: list[float]) -> float:
    """Equations 4 and 5 of Matteson & James (2014) with alpha = 1, term by term."""
    m, n = len(left), len(right)
    across = 2 / (m * n) * sum(abs(x - y) for x in left for y in right)
    within = [
        sum(abs(x - y) for x, y in combinations(part, 2)) / (len(part) * (len(part) - 1) / 2)
        for part in (left, right)
    ]
    return m * n / (m + n) * (across - sum(within))


@given(st.lists(st.floats(-50, 50), min_size=4, max_size=12), st.integers(2, 3))
@settings(max_examples=60)
def test_the_best_division_is_the_papers(series: list[float], shortest: int) -> None:
    places = [
        (energy(series[:t], series[t:k]), t)
        for t in range(shortest, len(series))
        for k in range(t + shortest, len(series) + 1)
    ]
    value, at = edivisive._best(np.array(series), shortest)
    assert value == pytest.approx(max((v for v, _ in places), default=0.0), abs=1e-9)
    if places:
        assert max(v for v, t in places if t == at) == pytest.approx(value, abs=1e-9)


def test_planted_changes_are_found_where_they_are() -> None:
    rng = np.random.default_rng(1)
    series = np.concatenate([rng.normal(level, 1, 20) for level in (100, 104, 104, 98)])
    found = edivisive.divisions(series)
    assert [division.at for division in found] == pytest.approx([20, 60], abs=1)
    assert all(division.p <= 0.01 for division in found)


def test_a_change_of_spread_is_a_change() -> None:
    rng = np.random.default_rng(2)
    series = np.concatenate([rng.normal(0, 1, 60), rng.normal(0, 8, 60)])
    assert [division.at for division in edivisive.divisions(series)] == pytest.approx([60], abs=6)


def test_noise_is_divided_at_the_stated_rate() -> None:
    rng = np.random.default_rng(3)
    alarms = sum(
        bool(edivisive.divisions(rng.standard_t(3, 24), significance=0.05)) for _ in range(200)
    )
    assert stats.binom.ppf(0.0005, 200, 0.05) <= alarms <= stats.binom.isf(0.0005, 200, 0.05)


@pytest.mark.parametrize(
    ("memory", "tests", "low", "high"), [(0.5, 20, 0.1, 0.4), (0, 20, 0, 0.05)]
)
def test_points_that_remember_each_other_are_divided_although_nothing_changed(
    memory: float, tests: int, low: float, high: float
) -> None:
    """Permutations take points for exchangeable, which those of a machine that drifts are not."""
    rng = np.random.default_rng(6)
    alarms = 0
    for _ in range(100):
        noise = rng.standard_normal(tests)
        for i in range(1, tests):
            noise[i] = memory * noise[i - 1] + noise[i] * np.sqrt(1 - memory**2)
        alarms += bool(edivisive.divisions(noise))
    assert low <= alarms / 100 <= high


def test_a_lone_spike_is_no_change() -> None:
    series = np.full(30, 10.0) + 0.01 * np.random.default_rng(4).standard_normal(30)
    series[12] = 1000.0
    assert edivisive.divisions(series) == []


@pytest.mark.parametrize("series", [[], [1.0], [1.0] * 5, [2.0] * 40])
def test_what_is_short_or_constant_has_no_divisions(series: list[float]) -> None:
    assert edivisive.divisions(series) == []


def test_the_same_series_always_gives_the_same_answer() -> None:
    series = np.random.default_rng(5).normal(0, 1, 40) + np.repeat([0, 1.2], 20)
    assert edivisive.divisions(series) == edivisive.divisions(series)
