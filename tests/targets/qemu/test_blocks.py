# SPDX-License-Identifier: BSD-2-Clause
"""Whole blocks that QEMU logs become the instructions that ran, with the stack pointer of each."""

from __future__ import annotations

import pytest

from cyclometer.errors import MeasurementFailed
from cyclometer.record.trace import INTERRUPTED, TRAPPED
from cyclometer.targets.qemu import trace as qemu_trace
from cyclometer.targets.qemu.blocks import Blocks, listed
from tests.targets.qemu.logs import x86_block

ANY, ONE, AGAIN = "00020000", "00020001", "00038001"  # how many instructions, and what else
LISTING = (
    b"0x00000010:  55                       pushq    %rbp\n"
    b"0x00000011:  48 83 ec 28              subq     $0x28, %rsp\n"
    b"0x00000015:  48 c7 05 00 00 00 00 01  movq     $1, (%rip)\n"
    b"0x0000001d:  00 00 00\n"
    b"0x00000020:  e8 00 00 00 00           callq    0x25\n"
)
PCS = [0x10, 0x11, 0x15, 0x20]


def ran(pc: int, stack: int, translation: str = ANY) -> str:
    return x86_block(pc, "0040c290", translation, stack)


def fault(at: int, vector: int = 0x0E) -> str:
    return f"     0: v={vector:02x} e=0000 i=0 cpl=0 IP=0010:{at:016x} pc={at:016x} SP=0018:0\n"


def steps(*parts: str, blocks: Blocks | None = None) -> qemu_trace._Logged:
    log = "".join(("IN: f\n", LISTING.decode(), "\n", *parts)).encode()
    return qemu_trace._parsed(log, qemu_trace.Spaces(), qemu_trace.X86_64, blocks)


def test_a_block_is_each_of_its_instructions_and_a_long_one_is_one() -> None:
    found = steps(ran(0x10, 0x1000), ran(0x100, 0xFC8, ONE))
    assert found["pc"].tolist() == [*PCS, 0x100]
    assert found["count"].tolist() == [1] * 5
    assert listed(LISTING)[0x15].data.hex() == "48c7050000000001000000"


def test_pushes_and_additions_move_the_stack_pointer_within_a_block() -> None:
    found = steps(ran(0x10, 0x1000), ran(0x100, 0xFC8, ONE))
    assert found["stack"].tolist() == [0x1000, 0xFF8, 0xFD0, 0xFD0, 0xFC8]


def test_behind_a_loaded_stack_pointer_the_next_block_says_what_it_was() -> None:
    code = listed(
        b"0x00000010:  53                       pushq    %rbx\n"
        b"0x00000011:  48 8b 26                 movq     (%rsi), %rsp\n"
        b"0x00000014:  5b                       popq     %rbx\n"
        b"0x00000015:  c3                       retq\n"
    )
    known = Blocks(code)
    assert known.pointers(tuple(code), 0x1000, 0x8010) == [0x1000, 0xFF8, 0x8000, 0x8008]
    assert known.pointers(tuple(code), 0x1000, None) == [0x1000, 0xFF8, 0xFF8, 0xFF8]


def test_a_fault_ends_a_block_at_its_instruction() -> None:
    found = steps(ran(0x10, 0x1000), fault(0x15), ran(0x100, 0x900, ONE), ran(0x15, 0xFD0, ONE))
    assert found["pc"].tolist() == [*PCS[:3], 0x100, 0x15]
    assert found["flags"].tolist() == [0, 0, TRAPPED, 0, 0]
    assert found["count"].tolist() == [1, 1, 0, 1, 1]


def test_an_instruction_that_cannot_be_fetched_undoes_nothing_of_the_block_before() -> None:
    found = steps(ran(0x10, 0x1000), fault(0x25), ran(0x100, 0x900, ONE))
    assert found["pc"].tolist() == [*PCS, 0x100]
    assert found["flags"].tolist() == [0, 0, 0, 0, INTERRUPTED]
    assert found["count"].tolist() == [1] * 5


def test_what_is_done_again_for_a_device_ends_the_block_before_it() -> None:
    found = steps(ran(0x10, 0x1000), ran(0x15, 0xFD0, AGAIN), ran(0x100, 0xFD0, ONE))
    assert found["pc"].tolist() == [*PCS[:2], 0x15, 0x100]


def test_a_jump_into_the_block_is_no_repetition() -> None:
    found = steps(
        ran(0x10, 0x1000),
        "IN: f\n0x00000011:  90                       nop\n\n",
        ran(0x11, 0x1000),
    )
    assert found["pc"].tolist() == [*PCS, 0x11]


def test_a_block_that_was_stopped_did_not_run_and_runs_after_the_interrupt() -> None:
    stopped = "Stopped execution of TB chain before 0x7f [0000000000000010] f\n"
    found = steps(
        ran(0x10, 0x1000), stopped, fault(0x10, 0xEC), ran(0x100, 0xF00, ONE), ran(0x10, 0x1000)
    )
    assert found["pc"].tolist() == [0x100, *PCS]
    assert found["flags"][0] == INTERRUPTED


def test_a_block_that_was_translated_before_is_known_in_the_next_window() -> None:
    blocks = Blocks()
    steps(ran(0x10, 0x1000), blocks=blocks)
    log = ran(0x10, 0x1000).encode()
    again = qemu_trace._parsed(log, qemu_trace.Spaces(), qemu_trace.X86_64, blocks)
    assert again["pc"].tolist() == PCS


def test_a_block_that_qemu_did_not_log_is_named() -> None:
    with pytest.raises(MeasurementFailed, match="the instructions at 0x30"):
        steps(ran(0x30, 0x1000))
