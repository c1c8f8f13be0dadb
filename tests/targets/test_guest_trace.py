# SPDX-License-Identifier: BSD-2-Clause
"""What QEMU's log of an x86-64 guest, its memory and its symbols are made into."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from cyclometer.record.schema import Group, Pass
from cyclometer.record.trace import INTERRUPTED, STEP, TRAPPED
from cyclometer.targets import guest_trace, qemu_trace
from cyclometer.targets.disassembly import Place
from cyclometer.targets.harness import Visit
from cyclometer.targets.kernel_symbols import Symbols

USER, KERNEL = "0040c2b3", "0040c290"  # flags of a block: privilege level 3 and 0


def step(pc: int, flags: str, root: int = 0x5552000) -> str:
    registers = f"RIP={pc:016x} RFL=00000246 CPL=0\nCR0=80050033 CR2=0000000000000000 CR3={root:016x} CR4=000006b0\n"
    return f"Trace 0: 0x7f109d600100 [0000000000000000/{pc:016x}/{flags}/ff020201] \n{registers}"


def interrupt(vector: int) -> str:
    return f"Servicing hardware INT=0x{vector:02x}\n     0: v={vector:02x} e=0000 i=0 cpl=3 IP=0033:0 pc=0 SP=002b:0\n"


def told(log: str) -> list[qemu_trace._Logged]:
    return qemu_trace._told(log.encode(), qemu_trace.Spaces(), qemu_trace.X86_64)


def test_privilege_and_space_come_from_each_steps_own_words() -> None:
    steps = told(step(0x401000, USER) + step(0xFFFFFFFF81000000, KERNEL) + step(0x401004, USER, 0x7777000))
    assert [(s.pc, s.privilege, s.space, s.count) for s in steps] == [
        (0x401000, 0, 0, 1), (0xFFFFFFFF81000000, 1, 0, 1), (0x401004, 0, 1, 1),
    ]  # fmt: skip


def test_an_interrupt_marks_the_step_it_led_to_and_a_fault_the_step_it_undid() -> None:
    steps = told(step(1, USER) + interrupt(0xEC) + step(2, KERNEL) + step(3, USER) + interrupt(0x0E) + step(4, KERNEL))
    assert [s.flags for s in steps] == [0, INTERRUPTED, TRAPPED, 0]
    assert [s.count for s in steps] == [1, 1, 0, 1]


@pytest.mark.skipif(not shutil.which("objdump"), reason="binutils are not installed")
def test_instructions_are_read_from_memory_and_named() -> None:
    base = 0xFFFFFFFF81000000
    symbols = Symbols([base, base + 0x100], ["caller", "callee"])
    memory = {base: bytes.fromhex("55e8fa000000c3"), base + 0x100: bytes.fromhex("0f05c3")}
    code = {start + i: data[i:] for start, data in memory.items() for i in (0, 1, 2)}
    code[base + 6] = bytes.fromhex("c3" + "0f84" * 7)  # what follows is cut off
    places = guest_trace._kernel_places(code, symbols)
    assert set(places) == set(code)
    assert (places[base].function, places[base].starts, places[base].text) == ("caller", True, "push %rbp")
    assert places[base + 1].text == f"call {base + 0x100:x} <callee>"
    assert places[base + 1].insn == 0x0000FAE8
    assert (places[base + 6].text, places[base + 0x100].text) == ("ret", "syscall")
    assert (places[base + 0x102].function, places[base + 0x102].insn & 0xFF) == ("callee", 0xC3)


def test_code_of_a_window_is_whole_whatever_stretch_of_it_another_window_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    base, memory = 0xFFFFFFFF81000000, bytes(range(256))
    monkeypatch.setattr(qemu_trace._Machine, "_read", lambda _, at, count: memory[at - base :][:count])
    machine = object.__new__(qemu_trace._Machine)
    code: dict[int, bytes] = {}
    for offsets in ((0, 3, 9, 60), (0, 3), (3, 9, 250)):
        steps = np.zeros(len(offsets) + 1, STEP)
        steps["pc"], steps["privilege"] = [*(base + offset for offset in offsets), 0x401000], [1] * len(offsets) + [0]
        code |= machine.code(steps)
    assert code == {base + offset: memory[offset : offset + 15] for offset in (0, 3, 9, 60, 250)}
    assert machine.code(np.zeros(1, STEP)) == {}


def test_a_system_call_is_a_trap_that_counts() -> None:
    steps = np.zeros(3, STEP)
    steps["pc"], steps["privilege"], steps["insn"] = (1, 9, 2), (0, 1, 0), (0xC3_050F, 0, 0x90)
    found = guest_trace._told(steps, {9: Place("entry", insn=0xF8010F)})
    assert found["flags"].tolist() == [TRAPPED, 0, 0]
    assert found["insn"].tolist() == [0xC3_050F, 0xF8010F, 0x90]
    assert steps["flags"].tolist() == [0, 0, 0]


def group(turns: int, values: list[int], interrupts: list[int]) -> Group:
    return Group(1, "a", "accumulated", 0, 0, turns, values, [0] * len(values), {"interrupts": interrupts})


def test_the_quietest_candidate_is_taken_and_stands_alone_in_its_record() -> None:
    visits = [Visit(1, "a", "accumulated", guest_trace.Flow(8, 8, 2, 4))]
    wanted = guest_trace._candidates(visits)
    assert wanted == {5: "a", 6: "a", 7: "a"}
    records = [group(8, [90, 80, 95, 81], [1, 0, 0, 0]), group(16, [150, 170, 160, 161], [0, 1, 0, 0])]
    chosen = guest_trace._quietest(records, wanted)
    assert chosen == [6]  # the shortest of all is no candidate: it was not written down
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
    assert guest_trace._visit("a", "accumulated", 337).flow.initial == 8
    assert guest_trace._visit("a", "accumulated", 30_000).flow.initial == 2
    assert guest_trace._visit("a", "accumulated", 300_000).flow.initial == 1


def test_a_turn_too_long_for_a_log_and_one_that_did_not_run_are_not_visited() -> None:
    methods = dict.fromkeys(("short", "long", "skipped"), "accumulated")
    assert [visit.key for visit in guest_trace._visits(methods, {"short": 337, "long": 278_258})] == ["short"]
