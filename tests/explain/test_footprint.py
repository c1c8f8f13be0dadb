# SPDX-License-Identifier: BSD-2-Clause
"""How much code a turn touches, on a machine whose addresses are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from cyclometer.explain import turn as turns
from cyclometer.explain.difference import difference
from cyclometer.explain.evidence import Evidence
from cyclometer.explain.explanation import explain
from cyclometer.explain.footprint import Footprint, footprint
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.trace import STEP, SUPERVISOR, USER
from cyclometer.report import explained
from cyclometer.report import explanation as report
from tests.explain import machine


def touched(pcs: Sequence[int], known: Sequence[int] = (), isa: str = "x86_64") -> Footprint:
    steps = np.zeros(len(pcs), STEP)
    steps["pc"], steps["privilege"] = pcs, SUPERVISOR
    there = {pc: Place("f") for pc in (*pcs, *known)}
    return footprint(turns.Turn(steps, steps[:0], 2, True, True), AddressMap(there, {}), isa)


def test_lines_and_pages_are_distinct_and_branches_are_of_one_turn() -> None:
    found = touched([0xFFFF_FFFF_8100_0000 + n for n in (0, 4, 63, 64, 0x1000, 4)])
    assert found == Footprint(Fraction(3), 3, 4, 2, Fraction(3, 2), 0, 0)


def test_an_entered_function_begins_a_line_or_not() -> None:
    steps = np.zeros(4, STEP)
    steps["pc"], steps["privilege"] = [0x1040, 0x1050, 0x1044, 0x1050], SUPERVISOR
    turn = turns.Turn(steps, steps[:0], 1, True, True)
    kernel = {pc: Place(f"{pc}", starts=pc != 0x1044) for pc in (0x1040, 0x1044, 0x1050, 0x1080)}
    found = footprint(turn, AddressMap(kernel, {}), "riscv64")
    assert (found.entered, found.aligned, found.fetches) == (2, 1, 2)


@pytest.mark.parametrize(
    ("isa", "pcs", "known", "taken"),
    [
        ("x86_64", [0, 15], (), 0),
        ("x86_64", [0, 16], (), 1),
        ("x86_64", [0, 7], (2,), 1),
        ("x86_64", [7, 7], (), 1),
        ("aarch64", [0, 4], (), 0),
        ("aarch64", [0, 8], (), 1),
        ("riscv64", [0, 4], (2,), 1),
    ],
)
def test_a_branch_is_taken_where_the_next_instruction_does_not_follow(
    isa: str, pcs: list[int], known: tuple[int, ...], taken: int
) -> None:
    assert touched(pcs, known, isa).branches == Fraction(taken, 2)


def test_programs_and_kernel_are_apart_and_a_trap_is_no_branch() -> None:
    steps = np.zeros(2, STEP)
    steps["privilege"] = USER, SUPERVISOR
    turn = turns.Turn(steps, steps[:0], 1, True, True)
    found = footprint(turn, AddressMap({}, {}), "riscv64")
    assert found == Footprint(Fraction(2), 2, 2, 2, Fraction(0), 0, 0)


def moved(one: Evidence) -> Evidence:
    """The function poke, which is one instruction, on the page of its caller."""
    poke, caller = (
        next(pc for pc, place in one.places.kernel.items() if place.function == name)
        for name in ("poke", "sys_poke")
    )
    kernel = {caller + 0x40 if pc == poke else pc: p for pc, p in one.places.kernel.items()}
    steps = one.steps.copy()
    steps["pc"][(steps["privilege"] != USER) & (steps["pc"] == poke)] = caller + 0x40
    return replace(one, steps=steps, places=AddressMap(kernel, one.places.user))


def test_equal_counts_of_another_footprint_are_told_as_layout() -> None:
    one = machine.evidence([3, 3])
    before, after = explain(one), explain(moved(one))
    found = difference(before, after)
    assert found.whole.change == 0
    assert (before.footprint.pages, before.footprint.lines) == (7, 7)
    assert (after.footprint.pages, after.footprint.lines) == (6, 7)
    document = explained.difference(found)
    assert any("layout" in line for line in report.difference_heading(document))
    same = report.difference_heading(explained.difference(difference(before, before)))
    assert not any("layout" in line for line in same)
    assert document.after.footprint.pages_4_kib == 6
    said = report.heading(explained.circle(before))[-1]
    assert "in 7 lines of 64 bytes, 7 fetches of 16 and 7 pages of 4 KiB" in said
    found = after.footprint
    assert said.endswith(f"{found.entered} functions, {found.aligned} at a line's beginning")
