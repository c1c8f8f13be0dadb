# SPDX-License-Identifier: BSD-2-Clause
"""The turn that differs: how often it comes, and what it does beyond the common one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cyclometer.errors import MeasurementFailed
from cyclometer.explain.tail import tail
from cyclometer.report import explained
from cyclometer.report import tail as report
from tests.explain import machine
from tests.explain.machine import LENGTH


def result(turns: Sequence[int]) -> str:
    return report.often(explained.tail(tail(machine.evidence(turns))))


# A head is an instruction behind the turn's own cost, so that cost i is of length i.
def test_a_turn_that_comes_again_has_a_period_and_functions_that_sum_to_it() -> None:
    found = tail(machine.evidence([0, 0, 40, 0, 0, 0, 40, 0, 0, 0, 40, 0]))
    assert (found.common, max(found.lengths), found.period) == (LENGTH, LENGTH + 40, 4)
    assert found.difference.whole.change == 40
    (carried,) = [change for change in found.difference.functions if change.change]
    assert (carried.name, carried.change) == ("poke", 40)


@pytest.mark.parametrize(
    ("turns", "words"),
    [
        ([0, 40, 0, 0, 40, 0, 0, 40, 0], "every 3 turns (3 of 8 turns)"),
        ([0, 40, 0, 0, 40, 0, 0], "2 of 6 turns, 3 apart"),
        ([0, 40, 0, 0, 41, 0, 39, 0, 0], "3 of 8 turns, 2 to 3 apart"),
        ([0, 0, 40, 0, 0], "one of 4 turns, number 3"),
        ([0, 3, 0, 0, 40, 0, 2, 0, 0], "one of 8 turns, number 5"),
    ],
)
def test_how_often_is_said_as_far_as_it_was_seen(turns: Sequence[int], words: str) -> None:
    assert result(turns) == words


def test_turns_that_are_all_alike_are_said_to_be() -> None:
    found = tail(machine.evidence([5] * 6))
    assert (found.at, found.period, found.difference.whole.change) == ((), None, 0)
    assert "all 5 turns that were traced are alike" in report.heading(explained.tail(found))[-1]


def test_a_shorter_turn_differs_too() -> None:
    found = tail(machine.evidence([40, 40, 0, 40, 40, 40]))
    assert (found.common, found.difference.whole.change) == (LENGTH + 40, -40)


def test_two_turns_have_no_common_one() -> None:
    with pytest.raises(MeasurementFailed, match="choose a circle with shorter turns"):
        tail(machine.evidence([0, 0, 0]))
