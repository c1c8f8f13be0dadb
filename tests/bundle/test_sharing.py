# SPDX-License-Identifier: BSD-2-Clause
"""Tests are set aside while another hardware thread used the core, as far as enough remain."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from cyclometer.bundle.model import MISSING, tag_bit
from cyclometer.bundle.sharing import shared_core

CHAIN = 64_000
ALONE, SHARED = 11_300, 19_000


def found(
    before: list[int], after: list[int], bits: list[int] | None = None, timed: bool = True
) -> list[int]:
    """Which of these tests are tagged; a chain takes half a tick per cycle."""
    tests = len(before)
    counters = {
        "issue_before": np.array(before),
        "issue_after": np.array(after),
        "chain_before": np.full(tests, CHAIN // 2),
        "chain_after": np.full(tests, CHAIN // 2),
    }
    had = np.array(bits or [0] * tests, np.int32)
    tagged = shared_core(had, np.full(tests, timed), counters)
    assert np.all(tagged & had == had)
    return np.flatnonzero(tagged & tag_bit("shared core")).tolist()


def test_a_core_that_is_shared_at_either_end_tags_the_test() -> None:
    before = [ALONE, SHARED, ALONE, ALONE + 100, ALONE]
    assert found(before, [ALONE, ALONE, SHARED, ALONE, ALONE - 100]) == [1, 2]


def test_a_reading_wanders_by_6_percent_on_a_core_of_its_own() -> None:
    readings = [ALONE, ALONE * 106 // 100, ALONE * 102 // 100, ALONE * 108 // 100]
    assert found(readings, [ALONE] * 4) == [3]
    assert found([ALONE] * 4, readings) == [3]


def test_where_hardly_any_test_had_the_core_to_itself_none_is_tagged() -> None:
    assert found([ALONE, *[SHARED] * 19], [ALONE] * 20) == []
    assert found([ALONE] * 3 + [SHARED] * 17, [ALONE] * 20) == list(range(3, 20))


def test_a_reading_beside_a_disturbed_chain_is_not_the_fastest_one() -> None:
    bits = [tag_bit("unsteady clock"), *[0] * 9]
    assert found([ALONE // 2, *[ALONE] * 9], [ALONE // 2, *[ALONE] * 9], bits) == []


def test_what_is_not_timed_for_its_latency_is_left_alone() -> None:
    assert found([ALONE, SHARED, ALONE, ALONE], [ALONE] * 4, timed=False) == []


@pytest.mark.parametrize("read", [{}, {"issue_before": MISSING, "issue_after": MISSING}])
def test_without_readings_no_test_is_tagged(read: dict[str, int]) -> None:
    counters: dict[str, NDArray[np.int64]] = {n: np.full(3, v) for n, v in read.items()}
    chain = {"chain_before": np.full(3, CHAIN), "chain_after": np.full(3, CHAIN)}
    bits = np.zeros(3, np.int32)
    assert shared_core(bits, np.ones(3, bool), counters | chain).tolist() == [0, 0, 0]


def test_by_the_cores_own_counter_a_change_of_speed_is_no_sharing() -> None:
    ticks = np.array([10_000, 10_000, 20_000, 20_000])  # half the speed in the last two tests
    counters = {
        "core_ticks": ticks,
        "core_cycles": np.full(4, 20_000),
        "issue_before": ticks // 2,
        "issue_after": np.array([5_000, 9_000, 10_000, 10_000]),
    }
    tagged = shared_core(np.zeros(4, np.int32), np.ones(4, bool), counters)
    assert np.flatnonzero(tagged).tolist() == [1]
