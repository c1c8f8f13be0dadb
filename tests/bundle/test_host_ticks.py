# SPDX-License-Identifier: BSD-2-Clause
"""Ticks of a host are recognised by when tests ran, on simulated machines and on a real one."""

from __future__ import annotations

import numpy as np
import pytest

from cyclometer.bundle.host_ticks import TimedTests, holding_ticks, host_ticks
from cyclometer.bundle.model import Bundle, tag_bit
from tests.compare.recorded import TSC, recorded

TESTS = 12_000
TICK_S = 7e-6


def series(
    period_s: float, seed: int = 1, longest_s: float = 250e-6
) -> tuple[TimedTests, np.ndarray]:
    """Tests spread over fifty seconds, some late for other reasons, and which of them hold a tick
    of a host whose clock is 1e-5 off.
    """
    rng = np.random.default_rng(seed)
    begin_s = np.sort(rng.uniform(0, 50, TESTS))
    length_s = rng.uniform(60e-6, longest_s, TESTS)
    period_s *= 1 + 1e-5
    held = (begin_s + length_s + 3e-4) // period_s > (begin_s + 3e-4) // period_s
    noise_s = 1e-6 * rng.standard_normal(TESTS)
    late = held * TICK_S + noise_s > 4e-6
    return TimedTests(begin_s, length_s, late | (rng.random(TESTS) < 0.02)), held


@pytest.mark.parametrize("period_s", [1e-3, 4e-3, 10e-3])
def test_ticks_of_usual_rates_are_found(period_s: float) -> None:
    tests, held = series(period_s)
    found = holding_ticks(tests)
    assert np.mean(found[held]) > 0.97
    # what ends or begins within a sixty-fourth of a period of a tick cannot be distinguished
    assert np.mean(found[~held]) < 0.04


def test_a_test_is_set_aside_for_its_time_and_not_for_its_length() -> None:
    """Half of what holds a tick took as long as ever, and is set aside all the same."""
    tests, _ = series(1e-3)
    rng = np.random.default_rng(2)
    some = TimedTests(tests.begin_s, tests.length_s, tests.late & (rng.random(TESTS) < 0.6))
    np.testing.assert_array_equal(holding_ticks(some), holding_ticks(tests))


@pytest.mark.parametrize("period_s", [1.7e-3, 50e-3])
def test_disturbances_of_other_kinds_are_no_ticks(period_s: float) -> None:
    assert not holding_ticks(series(period_s)[0]).any()


def test_late_tests_at_random_or_few_of_them_are_no_ticks() -> None:
    tests, _ = series(1e-3)
    rng = np.random.default_rng(3)
    chance = TimedTests(tests.begin_s, tests.length_s, rng.random(TESTS) < 0.15)
    assert not holding_ticks(chance).any()
    assert not holding_ticks(tests.part(np.arange(500))).any()


def test_tests_that_hold_ticks_too_often_are_left_alone() -> None:
    tests, held = series(1e-3, longest_s=900e-6)
    found = holding_ticks(tests)
    assert not found[tests.length_s > 1e-3 / 3].any()
    assert np.mean(found[held & (tests.length_s < 1e-3 / 3)]) > 0.97


def tagged(bundle: Bundle, **changed: np.ndarray) -> np.ndarray:
    """Which tests of a recorded bundle hold a tick."""
    samples = bundle.samples
    columns = {n: getattr(samples, n) for n in ("row", "run", "visit", "turns", "value", "at")}
    timed = np.array([row.method == "accumulated" for row in bundle.identity.rows])[samples.row]
    bits = host_ticks(
        changed.get("bits", np.zeros(len(samples), np.int32)),
        timed,
        columns | changed,
        np.where(timed, TSC.hz, 0.0),
    )
    found: np.ndarray = (bits & tag_bit("host tick")) > 0
    assert not found[~timed].any()
    return found


@pytest.mark.parametrize("name", ["aa1", "aa2", "s1"])
def test_a_machine_whose_host_ticks_a_thousand_times_a_second(name: str) -> None:
    """Tests of 80 to 250 us that a tick lengthens by 7 lie above the fastest of their visit."""
    bundle = recorded(name)
    found, samples = tagged(bundle), bundle.samples
    assert 0.05 < found.mean() < 0.3
    latency = np.log(samples.value / samples.turns)
    _, number = np.unique(
        np.stack([samples.row, samples.run, samples.visit]), axis=1, return_inverse=True
    )
    number = number.ravel()
    least = np.full(number.max() + 1, np.inf)
    np.minimum.at(least, number, latency)
    beyond = latency - least[number]
    assert np.median(beyond[found]) > 2 * np.median(beyond[~found])


def test_nothing_is_recognised_at_other_moments_or_by_a_clock_without_a_rate() -> None:
    bundle = recorded("aa1")
    rng = np.random.default_rng(4)
    moved = bundle.samples.at + rng.integers(0, 10**7, len(bundle.samples))
    assert not tagged(bundle, at=moved).any()
    assert not tagged(bundle, at=np.full(len(bundle.samples), -1)).any()


def test_what_is_tagged_already_is_left_alone() -> None:
    bundle = recorded("aa1")
    bits = np.where(bundle.samples.run == 1, tag_bit("interrupt"), 0).astype(np.int32)
    found = tagged(bundle, bits=bits)
    assert found.any()
    assert not found[bundle.samples.run == 1].any()
