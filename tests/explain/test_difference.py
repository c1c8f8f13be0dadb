# SPDX-License-Identifier: BSD-2-Clause
"""What changes between two turns is shown by parts that sum to the change exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclometer.errors import NotComparable
from cyclometer.explain.difference import difference
from cyclometer.explain.explanation import explain
from cyclometer.record.schema import Clock
from tests.explain import machine

TURNS = st.lists(st.integers(0, 10**9), min_size=2, max_size=8)


@given(TURNS, TURNS)
def test_every_view_sums_to_the_difference(before: list[int], after: list[int]) -> None:
    found = difference(explain(machine.evidence(before)), explain(machine.evidence(after)))
    change = found.after.length - found.before.length
    assert found.whole.change == change
    for view in (found.functions, found.phases, found.modes, found.causes):
        assert sum((one.change for one in view), Fraction(0)) == change
        assert sum((sum(one.causes, Fraction(0)) for one in view), Fraction(0)) == change


def test_the_function_and_the_cause_that_carry_it_come_first() -> None:
    found = difference(explain(machine.evidence([3, 3])), explain(machine.evidence([90, 90])))
    assert (found.functions[0].name, found.functions[0].by_cause) == ("poke", {"dcache": 87})
    assert [one.name for one in found.functions if one.change] == ["poke"]
    assert [(one.name, one.change) for one in found.phases if one.change] == [("client: poke", 87)]


def test_a_turn_of_two_is_compared_a_turn() -> None:
    alternating = machine.evidence([0, 0, 14, 0, 14, 0, 14], Fraction(machine.LENGTH + 7))
    found = difference(explain(machine.evidence([0, 0])), explain(alternating))
    assert found.whole.change == 7


def test_a_side_against_itself_changes_nothing() -> None:
    one = explain(machine.evidence([5, 5]))
    found = difference(one, one)
    assert found.whole.change == 0
    assert not any(
        change.by_cause for change in (*found.functions, *found.phases, *found.modes, *found.causes)
    )


def test_cycles_and_instructions_are_not_compared() -> None:
    cycles = machine.evidence([0, 0])
    clock = Clock("cycle", "instructions", exact=True)
    counted = replace(cycles, facts=msgspec.structs.replace(cycles.facts, clock=clock))
    with pytest.raises(NotComparable, match="one side counts cycles, the other instructions"):
        difference(explain(cycles), explain(counted))
