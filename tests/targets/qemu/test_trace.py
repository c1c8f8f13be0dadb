# SPDX-License-Identifier: BSD-2-Clause
"""QEMU's log becomes steps: what QEMU undid did not happen, what trapped is marked, other harts are
not ours.
"""

from __future__ import annotations

from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.trace import INTERRUPTED, TRAPPED, windows
from cyclometer.targets.qemu import trace as qemu_trace
from cyclometer.targets.qemu.trace import Spaces

HINTS = (0x7C102013, 0x7C202013)
PLACES = AddressMap(
    {0x80200000: Place("entry", insn=0x14021273), 0x8000004C: Place("monitor", insn=0x73)},
    {
        0x1000: Place("f", insn=HINTS[0]),
        0x1004: Place("f", insn=0x73),
        0x1008: Place("f", insn=HINTS[1]),
    },
)
USER, SUPERVISOR, MACHINE = 0x00201000, 0x00209001, 0x00209003


def step(
    pc: int, flags: int, satp: int = 0x8000_5000_0008_0000, hart: int = 0, block: str = "ff020201"
) -> str:
    return (
        f"Trace {hart}: 0x7fa66c000100 [0000000000000000/{pc:016x}/{flags:08x}/{block}] \n"
        f" pc       {pc:016x}\n satp     {satp:016x}\n x0/zero  0000000000000000 x1/ra    "
        "0000000000012c26\n"
    )


def trap(cause: int, asynchronous: int = 0, hart: int = 0) -> str:
    what = f"async:{asynchronous}, cause:{cause:016x}, epc:0x1004, tval:0x0, desc=x"
    return f"riscv_cpu_do_interrupt: hart:{hart}, {what}\n"


OPEN, CLOSE = step(0x1000, USER), step(0x1008, USER)


def steps(*parts: str):
    return qemu_trace._steps(
        qemu_trace._parsed("".join(parts).encode(), Spaces(), qemu_trace.RISCV64), PLACES
    )


def test_each_instruction_is_one_step_of_the_clock() -> None:
    found = steps(OPEN, step(0x1004, USER), CLOSE)
    assert found["clock"].tolist() == [1, 2, 3]
    assert found["pc"].tolist() == [0x1000, 0x1004, 0x1008]
    assert found["insn"].tolist() == [HINTS[0], 0x73, HINTS[1]]
    assert found["space"].tolist() == [5, 5, 5]
    assert len(windows(found, "x")) == 1


def test_a_system_call_counts_and_traps() -> None:
    found = steps(OPEN, step(0x1004, USER), trap(8), step(0x80200000, SUPERVISOR), CLOSE)
    assert found["flags"].tolist() == [0, TRAPPED, 0, 0]
    assert found["privilege"].tolist() == [0, 0, 1, 0]
    assert found["clock"].tolist() == [1, 2, 3, 4]


def test_an_instruction_that_faults_does_not_count_for_it_runs_again() -> None:
    found = steps(
        OPEN, step(0x1004, USER), trap(13), step(0x80200000, SUPERVISOR), step(0x1004, USER), CLOSE
    )
    assert found["clock"].tolist() == [1, 1, 2, 3, 4]
    assert found["flags"].tolist() == [0, TRAPPED, 0, 0, 0]


def test_what_is_done_again_for_a_device_was_not_done() -> None:
    found = steps(OPEN, step(0x1004, USER), step(0x1004, USER, block="ff038201"), CLOSE)
    assert found["pc"].tolist() == [0x1000, 0x1004, 0x1008]


def test_what_an_interrupt_stopped_was_not_done() -> None:
    stopped = "Stopped execution of TB chain before 0x7f [0000000000001004] f\n"
    interrupt = trap(0x8000000000000007, asynchronous=1)
    found = steps(
        OPEN,
        step(0x1004, USER),
        stopped,
        interrupt,
        step(0x8000004C, MACHINE),
        step(0x1004, USER),
        CLOSE,
    )
    assert found["pc"].tolist() == [0x1000, 0x8000004C, 0x1004, 0x1008]
    assert found["flags"].tolist() == [0, INTERRUPTED, 0, 0]
    assert found["privilege"].tolist() == [0, 3, 0, 0]


def test_an_interrupt_that_was_pending_at_the_stop_came_before_the_window() -> None:
    interrupt = trap(0x8000000000000007, asynchronous=1)
    stopped = "Stopped execution of TB chain before 0x7f [0000000000001000] f\n"
    log = "".join(
        [OPEN, stopped, interrupt, step(0x80200000, SUPERVISOR), OPEN, step(0x1004, USER), CLOSE]
    )
    steps = qemu_trace._parsed(log.encode(), Spaces(), qemu_trace.RISCV64)
    assert qemu_trace._opened(steps, [0x1000, 0x2000])["pc"].tolist() == [0x1000, 0x1004, 0x1008]


def test_other_harts_are_left_out() -> None:
    other = step(0x80200000, SUPERVISOR, satp=0, hart=1)
    found = steps(OPEN, other, trap(8, hart=1), step(0x1004, USER), other, CLOSE)
    assert found["pc"].tolist() == [0x1000, 0x1004, 0x1008]
    assert found["flags"].tolist() == [0, 0, 0]
    assert found["space"].tolist() == [5, 5, 5]


def test_supervisor_with_access_to_user_memory_is_supervisor() -> None:
    assert steps(OPEN, step(0x80200000, 0x00209002), CLOSE)["privilege"].tolist() == [0, 1, 0]


def test_spaces_are_numbered_by_identifier_or_root() -> None:
    spaces = Spaces()
    roots = [0x8000_0000_0008_0000, 0x8000_0000_0008_1000, 0x8000_0000_0008_0000]
    assert [spaces.number(satp) for satp in roots] == [0, 1, 0]
    assert spaces.number(0x8000_2000_0008_0000) == 2
    assert spaces.number(0x8FFF_F000_0008_0000) == 0xFFFF
