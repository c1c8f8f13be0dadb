# SPDX-License-Identifier: BSD-2-Clause
"""What QEMU's log of an arm64 guest is made into: it tells the exception level, and not the root of
the page tables.
"""

from __future__ import annotations

import numpy as np

from cyclometer.record.instructions import AARCH64, matches
from cyclometer.record.trace import INTERRUPTED, TRAPPED
from cyclometer.targets.qemu import trace as qemu_trace
from cyclometer.targets.qemu.blocks import Code
from cyclometer.targets.qemu.trace import Spaces

KERNEL = 0xFFFF800008010000
SET_ROOT, SET_NONE, NOP = 0xD5182003, 0xD518201F, 0xD503201F  # msr ttbr0_el1, x3 and xzr


def step(pc: int, level: int, x3: int = 0, block: str = "ff020201", secure: str = "") -> str:
    registers = (
        f" PC={pc:016x} X00=0000000000000003 X01=00000000004de2d0\nX02=0000000000000005 "
        f"X03={x3:016x}\n"
    )
    state = f"PSTATE=60000000 -ZC- {secure}EL{level}{'h' if level else 't'}\n"
    return (
        f"Trace 0: 0x7f01b0000100 [0000000000003001/{pc:016x}/00000061/{block}] "
        f"\n{registers}{state}"
    )


def trap(number: int, name: str) -> str:
    return (
        f"Taking exception {number} [{name}] on CPU 0\n...from EL0 to EL1\n...with ESR "
        "0x15/0x56000000\n"
    )


def result(*parts: str) -> qemu_trace._Logged:
    return qemu_trace._parsed("".join(parts).encode(), Spaces(), qemu_trace.AARCH64)


def test_privilege_is_the_exception_level_with_and_without_a_secure_world() -> None:
    steps = result(
        step(1, 0),
        step(KERNEL, 1),
        step(2, 0, secure="NS "),
        step(KERNEL, 1, secure="S "),
        step(9, 3),
    )
    assert steps["privilege"].tolist() == [0, 1, 0, 1, 3]


def test_a_system_call_counts_and_an_access_that_faults_does_not_for_it_runs_again() -> None:
    steps = result(
        step(1, 0),
        trap(2, "SVC"),
        step(KERNEL, 1),
        step(5, 0),
        trap(4, "Data Abort"),
        step(KERNEL, 1),
    )
    assert steps["flags"].tolist() == [TRAPPED, 0, TRAPPED, 0]
    assert steps["count"].tolist() == [1, 1, 0, 1]


def test_an_interrupt_and_an_instruction_that_cannot_be_fetched_undo_no_step() -> None:
    steps = result(
        step(1, 0),
        trap(5, "IRQ"),
        step(KERNEL, 1),
        step(5, 0),
        trap(3, "Prefetch Abort"),
        step(KERNEL, 1),
    )
    assert steps["flags"].tolist() == [0, INTERRUPTED, 0, INTERRUPTED]
    assert steps["count"].tolist() == [1, 1, 1, 1]


def test_what_is_done_again_for_a_device_was_not_done() -> None:
    steps = result(step(1, 0), step(5, 0), step(5, 0, block="ff038201"), step(9, 0))
    assert steps["pc"].tolist() == [1, 5, 9]


def spaces_of(*parts: str, root: int) -> list[int]:
    log = "".join(parts).encode()
    spaces, register = Spaces(), qemu_trace.AARCH64.root
    steps = qemu_trace._parsed(log, spaces, qemu_trace.AARCH64)
    code = {
        KERNEL + offset: Code(insn.to_bytes(4, "little"), "")
        for offset, insn in ((0, NOP), (4, SET_ROOT), (8, SET_NONE))
    }
    assert register is not None
    qemu_trace._follow(register, root, steps, log, code, spaces)
    return steps["space"].tolist()


def test_an_address_space_lasts_until_the_kernel_writes_another_root() -> None:
    log = (
        step(1, 0, x3=7),
        step(KERNEL, 1, x3=0x5000),
        step(KERNEL + 4, 1, x3=0x6000),
        step(KERNEL, 1),
        step(KERNEL + 8, 1, x3=0x6000),
        step(KERNEL, 1, x3=0x6000),
        step(KERNEL + 4, 1, x3=0x4000),
        step(5, 0),
    )
    assert spaces_of(*log, root=0x4000) == [0, 0, 0, 1, 1, 2, 2, 0]


def test_identifier_and_hint_beside_a_root_make_no_other_space() -> None:
    assert spaces_of(step(KERNEL + 4, 1, x3=0x0007_0000_0000_4001), step(5, 0), root=0x4000) == [
        0,
        0,
    ]


def test_a_program_at_an_address_of_the_kernels_sets_no_root() -> None:
    assert spaces_of(step(KERNEL + 4, 0, x3=0x6000), step(5, 0), root=0x4000) == [0, 0]


def test_calls_returns_and_readings_of_the_clock_are_known() -> None:
    insn = np.array(
        [0x9400E2A5, 0xD63F0040, 0xD73F0801, 0xD65F03C0, 0xD65F0BFF, 0xD69F03E0, 0xD61F0200, NOP],
        np.uint32,
    )
    assert matches(insn, AARCH64.calls).tolist() == [True] * 3 + [False] * 5
    assert matches(insn, AARCH64.returns).tolist() == [False] * 3 + [True] * 3 + [False] * 2
    # cntvct_el0 twice, cntpct_el0
    clock = np.array([0xD53BE040, 0xD53BE055, 0xD53BE020, NOP], np.uint32)
    assert matches(clock, AARCH64.clock_reads["icount"]).tolist() == [True, True, False, False]
