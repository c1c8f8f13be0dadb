# SPDX-License-Identifier: BSD-2-Clause
"""What QEMU's log of an x86-64 guest, its instructions and its symbols are made into."""

from __future__ import annotations

import numpy as np
import pytest

from cyclometer.errors import MeasurementFailed
from cyclometer.record.address_map import Place
from cyclometer.record.schema import Flow, Group, Pass
from cyclometer.record.trace import INTERRUPTED, STEP, TRAPPED
from cyclometer.targets.linux.harness import Visit
from cyclometer.targets.qemu import blocks
from cyclometer.targets.qemu import trace as qemu_trace
from cyclometer.targets.qemu.blocks import Code
from cyclometer.targets.qemu_linux import trace as guest_trace
from cyclometer.targets.qemu_linux.symbols import Symbols
from tests.targets.qemu.logs import x86_block

USER, KERNEL = "0040c2b3", "0040c290"  # flags of a block: privilege level 3 and 0


def step(pc: int, flags: str, root: int = 0x5552000) -> str:
    return x86_block(pc, flags, "ff020201", root=root)


def interrupt(vector: int, at: int = 0) -> str:
    return (
        f"Servicing hardware INT=0x{vector:02x}\n     0: v={vector:02x} e=0000 i=0 cpl=3 "
        f"IP=0033:{at:016x} pc={at:016x} SP=002b:0\n"
    )


def result(log: str) -> qemu_trace._Logged:
    return qemu_trace._parsed(log.encode(), qemu_trace.Spaces(), qemu_trace.X86_64)


def test_privilege_and_space_come_from_each_steps_own_words() -> None:
    steps = result(
        step(0x401000, USER) + step(0xFFFFFFFF81000000, KERNEL) + step(0x401004, USER, 0x7777000)
    )
    assert steps[["pc", "privilege", "space", "count"]].tolist() == [
        (0x401000, 0, 0, 1),
        (0xFFFFFFFF81000000, 1, 0, 1),
        (0x401004, 0, 1, 1),
    ]


def test_a_block_whose_registers_stand_elsewhere_is_refused_not_left_out() -> None:
    moved = step(2, USER).replace("CR0=", "XCR0=0\nCR0 =")
    with pytest.raises(MeasurementFailed, match="use QEMU"):
        result(step(1, USER) + moved + step(3, USER))


def test_an_interrupt_marks_the_step_it_led_to_and_a_fault_the_step_it_undid() -> None:
    steps = result(
        step(1, USER)
        + interrupt(0xEC)
        + step(2, KERNEL)
        + step(3, USER)
        + interrupt(0x0E, at=3)
        + step(4, KERNEL)
    )
    assert steps["flags"].tolist() == [0, INTERRUPTED, TRAPPED, 0]
    assert steps["count"].tolist() == [1, 1, 0, 1]


def test_an_instruction_is_told_once_by_address_words_and_text() -> None:
    log = (
        "IN: \n0xffffffff81c00083:  65 48 89 24 25 14 60 00  movq     %rsp, "
        "%gs:0x6014\n0xffffffff81c0008b:  00\n\n"
        + step(0xFFFFFFFF81C00083, KERNEL)
        + "IN: start_kernel\n0xffff800008010c00:  d10543ff  sub      sp, sp, #0x150\n\n"
        + "IN: \nPriv: 1; Virt: 0\n0xffffffff80a766da:  f81a              sd                      "
        "t1,48(sp)\n\n"
        + "IN: \n0x00000000:  Address 0x0 is out of bounds.\n\n"
        + "IN: \n0x00401000:  00 d0                    addb     %dl, %al\n\n"
    )
    found = blocks.code(log.encode())
    assert {pc: (code.data.hex(), code.insn, code.text) for pc, code in found.items()} == {
        0xFFFFFFFF81C00083: ("654889242514600000", 0x24894865, "movq %rsp, %gs:0x6014"),
        0xFFFF800008010C00: ("ff4305d1", 0xD10543FF, "sub sp, sp, #0x150"),
        0xFFFFFFFF80A766DA: ("1af8", 0xF81A, "sd t1,48(sp)"),
        0x401000: ("00d0", 0xD000, "addb %dl, %al"),
    }


def test_instructions_are_named_and_so_is_where_they_jump() -> None:
    base = 0xFFFFFFFF81000000
    symbols = Symbols([base, base + 0x100], ["caller", "callee"])
    texts = {
        base: f"callq 0x{base + 0x100:x}",
        base + 8: f"cbz x0, #0x{base + 0x20:x}",
        base + 16: f"auipc gp,12 # 0x{base + 0x180:x}",
        base + 0x104: "movq $0x1, %rax",
    }
    code = {pc: Code(bytes((0xE8, 1, 0, 0, 0)), text) for pc, text in texts.items()}
    places = guest_trace._kernel_places(code, symbols)
    assert [(place.function, place.starts, place.insn) for place in places.values()] == [
        ("caller", True, 0x1E8),
        ("caller", False, 0x1E8),
        ("caller", False, 0x1E8),
        ("callee", False, 0x1E8),
    ]
    named = [place.text.removeprefix(texts[pc]) for pc, place in places.items()]
    # an address of data is within no function that it names
    assert named == [" <callee>", " <caller>", "", ""]


def test_a_system_call_is_a_trap_that_counts() -> None:
    steps = np.zeros(3, STEP)
    steps["pc"], steps["privilege"], steps["insn"] = (1, 9, 2), (0, 1, 0), (0xC3_050F, 0, 0x90)
    found = guest_trace._with_code(steps, {9: Place("entry", insn=0xF8010F)}, qemu_trace.X86_64)
    assert found["flags"].tolist() == [TRAPPED, 0, 0]
    assert found["insn"].tolist() == [0xC3_050F, 0xF8010F, 0x90]
    assert steps["flags"].tolist() == [0, 0, 0]


def test_an_instruction_that_was_not_told_is_refused() -> None:
    steps = np.zeros(2, STEP)
    steps["pc"], steps["privilege"] = (1, 9), (0, 1)
    with pytest.raises(MeasurementFailed, match="did not log the instruction at 0x9"):
        guest_trace._with_code(steps, {}, qemu_trace.X86_64)


def test_a_window_holds_a_turn_where_a_program_comes_back_after_as_many_instructions() -> None:
    steps = np.zeros(6, STEP)
    steps["pc"] = 0x10, 0x20, 0x90, 0x10, 0x20, 0x10
    steps["privilege"] = 0, 0, 1, 0, 0, 0
    steps["clock"] = 1, 2, 3, 7, 9, 12
    assert [qemu_trace.holds_turn(steps, n) for n in (6, 7, 5, None)] == [True] * 4
    # from first to third is not one turn, and the kernel's are not the circle's
    assert [qemu_trace.holds_turn(steps, n) for n in (11, 4, 5.5)] == [False] * 3


def group(turns: int, values: list[int], interrupts: list[int]) -> Group:
    return Group(
        1, "a", "accumulated", 0, 0, turns, values, [0] * len(values), {"interrupts": interrupts}
    )


def test_the_quietest_candidate_is_taken_and_stands_alone_in_its_record() -> None:
    visits = [Visit(1, "a", "accumulated", guest_trace.Flow(8, 8, 2, 4))]
    wanted = guest_trace._candidates(visits)
    assert wanted == {5: "a", 6: "a", 7: "a"}
    records = [
        group(8, [90, 80, 95, 81], [1, 0, 0, 0]),
        group(16, [150, 170, 160, 161], [0, 1, 0, 0]),
    ]
    chosen = guest_trace._quietest(records, wanted)
    assert chosen == [6]  # the shortest of all is not a candidate: it was not written down
    # one with the turn that was measured is better than a shorter one
    assert guest_trace._quietest(records, wanted, {7}) == [7]
    small, large = guest_trace._only(records, chosen)
    assert (small.values, large.values) == ([80], [160])  # type: ignore[union-attr]


def test_of_passes_from_cold_to_hot_the_first_is_wanted_and_of_others_the_last() -> None:
    passes = [
        Visit(1, "a", "passes", guest_trace.Flow(1, 0, 1, 8)),
        Visit(1, "b", "direct", guest_trace.Flow(1, 0, 1, 8)),
    ]
    assert guest_trace._candidates(passes) == {8: "a", 29: "b", 30: "b", 31: "b"}
    overhead = Pass(1, "a", "passes", 0, 0, 1, list(range(8)), [0] * 8)
    assert guest_trace._values([overhead])[3] == (3, overhead, 3)


def test_large_turns_are_traced_few_at_a_time() -> None:
    sizes = [sizes_of(cost) for cost in (337, 11_000, 30_000, 60_000)]
    assert sizes == [(4, 8), (2, 4), (1, 2), (1, 2)]


def test_a_flow_is_heeded_as_far_as_a_log_can_hold_it() -> None:
    asked = Flow(1, 195, 2, 1)
    assert [sizes_of(cost, asked) for cost in (337, 2000)] == [(98, 196), (30, 60)]


def sizes_of(cost: float, flow: Flow | None = None, few: bool = False) -> tuple[int, int]:
    found = guest_trace._visit("a", "accumulated", cost, flow, 120_000, few).flow
    return found.initial, found.initial + found.delta


def test_many_circles_are_traced_in_short_tests() -> None:
    assert sizes_of(11_000, few=True) == (1, 3)


def test_a_circle_whose_cost_is_not_known_is_not_visited() -> None:
    methods = dict.fromkeys(("short", "skipped"), "accumulated")
    visits = guest_trace._visits(methods, {"short": 337}, None, 120_000, False)
    assert [visit.key for visit in visits] == ["short"]


def test_what_a_turn_costs_is_of_the_quietest_tests_without_what_is_fixed() -> None:
    ticks = {"interrupts": [1, 0, 0]}
    records = [
        Group(1, "pipe", "accumulated", 0, 0, 2, [199, 230, 220], [0] * 3, counters=ticks),
        Group(2, "pipe", "accumulated", 0, 1, 8, [900, 820, 821], [0] * 3, counters=ticks),
        Pass(3, "fault", "passes", 0, 0, 1, [70, 60], [0, 0]),
    ]
    assert guest_trace._costs(records) == {"pipe": 100, "fault": 60}
