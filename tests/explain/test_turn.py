# SPDX-License-Identifier: BSD-2-Clause
"""A turn is found by its loop, is as long as the latency, and the window is that of its test."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import msgspec
import numpy as np
import pytest

from cyclometer.errors import BadFile, MeasurementFailed
from cyclometer.explain import turn
from cyclometer.explain.evidence import Evidence
from cyclometer.record.instructions import RISCV64
from cyclometer.record.trace import USER
from tests.explain import machine


def changed(evidence: Evidence, **fields: object) -> Evidence:
    """The same with another test."""
    test = replace(evidence.facts.test, **fields)  # type: ignore[arg-type]
    return replace(evidence, facts=msgspec.structs.replace(evidence.facts, test=test))


def test_a_turn_is_once_round_the_loop() -> None:
    found = turn.find(machine.evidence([0, 0, 0, 0]))
    assert (found.turns, found.steady, found.length) == (1, True, machine.LENGTH)
    assert len(found.steps) == machine.STEPS
    assert len({int(pc) for pc in found.steps["pc"][found.steps["privilege"] == USER]}) == 5


def test_the_last_turns_count_not_the_cold_first_ones() -> None:
    found = turn.find(machine.evidence([90, 30, 0, 0], Fraction(machine.LENGTH)))
    assert (found.turns, found.length) == (1, machine.LENGTH)


def test_a_turn_as_long_as_the_latency_is_taken_before_one_that_something_touched() -> None:
    found = turn.find(machine.evidence([7, 0, 50, 50], Fraction(machine.LENGTH)))
    assert (found.turns, found.exact, found.length) == (1, True, machine.LENGTH)


def test_turns_that_alternate_are_explained_together() -> None:
    found = turn.find(machine.evidence([50, 0, 14, 0, 14, 0, 14], Fraction(machine.LENGTH + 7)))
    assert (found.turns, found.steady) == (2, True)
    assert found.length == 2 * machine.LENGTH + 14


def test_turns_that_never_settle_say_so() -> None:
    found = turn.find(machine.evidence([9, 1, 8, 2, 7, 3], Fraction(1)))
    assert (found.turns, found.exact, found.steady) == (2, False, False)
    # up to the last head: the sixth turn's own cost comes after
    assert found.length == 2 * machine.LENGTH + 2 + 7


def test_turns_that_repeat_are_steady_although_the_fixed_costs_of_two_sizes_differ() -> None:
    found = turn.find(machine.evidence([90, 3, 5, 3, 5, 3, 5, 3, 5, 3], Fraction(1)))
    assert (found.turns, found.exact, found.steady) == (2, False, True)
    assert found.length == 2 * machine.LENGTH + 8


@pytest.mark.parametrize("unrolled", [2, 16])
def test_a_loop_unrolled_is_divided(unrolled: int) -> None:
    m = machine.Machine()
    m.run("test", RISCV64.opens, USER)
    m.run("test", machine.READ, USER)
    for _ in range(2):
        for copy in range(unrolled):
            m.run("loop", machine.PLAIN, USER, at=4 * copy, interlock=copy % 2)
        m.run("loop", machine.PLAIN, USER, at=4 * unrolled)
    m.run("test", machine.READ, USER)
    m.run("test", RISCV64.closes, USER)
    steps = m.steps()
    value = int(steps["clock"][-2]) - int(steps["clock"][1])
    template = machine.evidence([0, 0], Fraction(unrolled + unrolled // 2 + 1, unrolled))
    whole = changed(
        replace(template, steps=steps, places=m.both()), turns=2 * unrolled, value=value
    )
    found = turn.find(whole)
    assert (found.turns, found.steady, found.length) == (
        unrolled,
        True,
        unrolled + unrolled // 2 + 1,
    )


def test_a_pass_is_what_lies_between_its_readings() -> None:
    one = changed(machine.evidence([5]), turns=1)
    found = turn.find(one)
    assert (found.turns, found.length) == (1, one.facts.test.value)


def test_a_window_of_another_test_is_refused() -> None:
    evidence = machine.evidence([0, 0])
    with pytest.raises(BadFile, match="no two of them are the measured"):
        turn.find(changed(evidence, value=evidence.facts.test.value + 1))


def test_a_clock_without_known_readings_is_refused() -> None:
    evidence = machine.evidence([0, 0])
    clock = msgspec.structs.replace(evidence.facts.clock, name="sundial")
    with pytest.raises(BadFile, match="sundial"):
        turn.find(replace(evidence, facts=msgspec.structs.replace(evidence.facts, clock=clock)))


def test_two_windows_are_not_one() -> None:
    evidence = machine.evidence([0, 0])
    with pytest.raises(BadFile, match="does not hold one window"):
        turn.find(replace(evidence, steps=np.concatenate([evidence.steps, evidence.steps])))


def test_a_window_without_a_loop_says_what_to_do() -> None:
    with pytest.raises(MeasurementFailed, match="shows no loop of 97 turns"):
        turn.find(changed(machine.evidence([0, 0, 0]), turns=97))
