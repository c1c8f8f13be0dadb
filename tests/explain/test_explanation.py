# SPDX-License-Identifier: BSD-2-Clause
"""Every view of a turn sums to it exactly, whatever the machine did; and says what is known of a
made-up machine.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cyclometer.explain.explanation import Explanation, explain
from cyclometer.explain.floor import crossings, space_switches
from cyclometer.record.address_map import AddressMap
from cyclometer.record.trace import CAUSES
from tests.explain import machine

CLIENT = ("test", "loop")
VIEWS = ("causes", "phases", "modes", "functions", "lines", "instructions", "stacks")
LATENCIES = st.lists(st.integers(0, 2**31), min_size=2, max_size=9)


def sums(e: Explanation) -> dict[str, int]:
    return {view: sum(part.total for part in getattr(e, view)) for view in VIEWS}


@given(LATENCIES)
def test_every_view_sums_to_the_turn(turns: list[int]) -> None:
    e = explain(machine.evidence(turns))
    assert e.whole.total == e.turn.length
    assert set(sums(e).values()) == {e.turn.length}
    for view in VIEWS:
        assert tuple(np.sum([part.causes for part in getattr(e, view)], axis=0)) == e.whole.causes
    assert e.segments[0].start == 0
    assert e.segments[-1].stop == e.turn.length
    assert all(a.stop == b.start for a, b in zip(e.segments, e.segments[1:], strict=False))


@given(LATENCIES, st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_the_floor_and_what_is_above_it_sum_to_the_turn(
    turns: list[int], one: int, two: int, spaces: int
) -> None:
    known = {
        "floor__empty__kernel": 2,
        "hardware__crossing__one": one,
        "hardware__crossing__two": two,
    }
    e = explain(machine.evidence(turns, **known, hardware__crossing__two__satp_2=spaces))
    assert sum((share.total for share in e.floor), Fraction(0)) == e.length


def test_causes_are_where_the_machine_put_them() -> None:
    e = explain(machine.evidence([30, 30]))
    assert e.whole.by_cause == {"dcache": 30, "issue": machine.STEPS, "trap": 12}
    assert {part.name: part.total for part in e.causes} == e.whole.by_cause
    poke = next(part for part in e.functions if part.name == "poke")
    assert (poke.total, poke.instructions, poke.by_cause) == (31, 1, {"dcache": 30, "issue": 1})
    assert e.functions[0].name == "poke"


def test_phases_are_those_of_the_sequence() -> None:
    e = explain(machine.evidence([0, 0]))
    assert e.in_sequence
    # The turn begins behind its head, the loop's first instruction, and ends with the next one.
    assert [(part.name, part.instructions) for part in e.phases] == [
        ("before client: poke", 3),
        ("client: poke", 3),
        ("kernel: switch to peer", 8),
        ("peer: await", 1),
        ("kernel: switch to client", 6),
    ]


def test_events_out_of_sequence_are_said_to_be() -> None:
    evidence = machine.evidence([0, 0])
    turned = msgspec.structs.replace(
        evidence.facts.contract, sequence=("client: poke", *machine.SEQUENCE[2:])
    )
    e = explain(replace(evidence, facts=msgspec.structs.replace(evidence.facts, contract=turned)))
    assert not e.in_sequence
    assert [part.name for part in e.phases][1] == "poke (not as in the sequence)"
    assert set(sums(e).values()) == {machine.LENGTH}


def test_a_circle_of_no_events_is_one_phase() -> None:
    evidence = machine.evidence([0, 0])
    silent = msgspec.structs.replace(evidence.facts.contract, sequence=())
    e = explain(replace(evidence, facts=msgspec.structs.replace(evidence.facts, contract=silent)))
    assert e.in_sequence
    assert [(part.name, part.total) for part in e.phases] == [("whole turn", machine.LENGTH)]


def test_modes_number_spaces_as_they_come() -> None:
    e = explain(machine.evidence([0, 0]))
    counts = {part.name: part.instructions for part in e.modes}
    assert counts == {
        "user, space 1": 3,
        "kernel, space 1": 9,
        "kernel, space 2": 7,
        "user, space 2": 2,
    }


def test_crossings_and_space_switches_are_counted() -> None:
    e = explain(machine.evidence([0, 0, 0]))
    assert crossings(e.turn.steps, e.turn.lead) == 4
    assert space_switches(e.turn.steps, e.turn.lead) == 2


def test_the_floor_takes_each_cost_from_its_circle() -> None:
    known = {
        "floor__empty__kernel": 2,
        "hardware__crossing__one": 12,
        "hardware__crossing__two": 30,
    }
    e = explain(machine.evidence([0, 0], **known, hardware__crossing__two__satp_2=36))
    shares = {share.name: (share.count, share.each, share.total) for share in e.floor}
    assert shares["protection-level crossing, there and back"] == (2, 10, 20)
    assert shares["address-space switch"] == (2, 3, 6)
    # of user mode without its two traps and what returns cost there
    assert shares["code of the programs"][2] == 3
    assert shares["the kernel's own"][2] == machine.LENGTH - 20 - 6 - 3


def test_without_floor_circles_there_is_no_floor() -> None:
    assert explain(machine.evidence([0, 0])).floor == []


def test_stacks_survive_the_switch_to_another_thread() -> None:
    e = explain(machine.evidence([0, 0, 0]))
    stacks = {part.name: part.instructions for part in e.stacks}
    kernel = (*CLIENT, "entry", "sys_poke")
    assert stacks[kernel] == 3  # the last one after the switch back
    assert stacks[*kernel, "poke"] == 1
    assert stacks[*CLIENT] == 3
    assert stacks[*CLIENT, "entry"] == 3  # to the call, and the return from the trap
    assert stacks[*kernel, "context_switch"] == 2
    assert {path for path in stacks if path[0] != "test"} == {
        ("wait",),
        ("wait", "entry"),
        ("wait", "entry", "await"),
        ("wait", "entry", "context_switch"),
    }


def test_code_without_a_symbol_is_named_by_its_page() -> None:
    e = explain(replace(machine.evidence([0, 0]), places=AddressMap({}, {})))
    assert all(part.name.startswith("[no symbol, 0x") for part in e.functions)
    assert set(sums(e).values()) == {machine.LENGTH}


def test_an_instruction_knows_its_line_and_text() -> None:
    e = explain(machine.evidence([7, 7]))
    part = next(part for part in e.instructions if e.places[part.name].function == "poke")
    place = e.places[part.name]
    assert (place.file, place.line, place.text) == ("kernel/poke.c", 0, f"insn {machine.PLAIN:x}")
    assert part.by_cause == {"dcache": 7, "issue": 1}
    line = next(part for part in e.lines if part.name == ("poke", "kernel/poke.c", 0))
    assert line.causes[CAUSES.index("dcache")] == 7
