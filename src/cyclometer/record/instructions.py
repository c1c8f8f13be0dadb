# SPDX-License-Identifier: BSD-2-Clause
"""What a trace's instructions mean, so far as turns and call stacks need it: one table an
instruction set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Pattern = tuple[int, int]  # mask and what the masked encoding equals


@dataclass(frozen=True)
class InstructionSet:
    """Encodings as a trace holds them: the first four bytes, little-endian; the low half of a
    compressed one.
    """

    name: str
    objdump: tuple[str, ...]  # disassemblers that know it, the best first
    opens: int  # the hints of core/clock.h
    closes: int
    moves: int
    # clock's name in the records -> instructions that read it
    clock_reads: Mapping[str, tuple[Pattern, ...]]
    calls: tuple[Pattern, ...]
    returns: tuple[Pattern, ...]  # from functions and from traps
    # functions in which a thread hands over, of Linux and of the reference kernel
    switches: tuple[str, ...]
    pushes: bool = False  # a call pushes its return address


_CSRR = 0xFFFFF07F  # csrrs rd, csr, x0: everything but rd


def _csrr(csr: int) -> tuple[Pattern, ...]:
    return ((_CSRR, csr << 20 | 2 << 12 | 0x73),)


# RISC-V Unprivileged ISA: a call links to ra or t0; a return jumps there without linking (section
# 2.5.1).
RISCV64 = InstructionSet(
    name="riscv64",
    objdump=("riscv64-unknown-elf-objdump", "riscv64-linux-gnu-objdump"),
    opens=0x7C102013,
    closes=0x7C202013,
    moves=0x7C302013,
    clock_reads={"cycle": _csrr(0xC00), "mcycle": _csrr(0xC00), "time": _csrr(0xC01)}
    | dict.fromkeys(("instret", "icount"), _csrr(0xC02)),
    calls=((0xFFF, 0x0EF), (0xFFF, 0x2EF), (0x7FFF, 0x0E7), (0x7FFF, 0x2E7), (0xFFFFF07F, 0x9002)),
    returns=(
        (0xFFFFFFFF, 0x8067),
        (0xFFFFFFFF, 0x8082),
        (0xFFFFFFFF, 0x10200073),
        (0xFFFFFFFF, 0x30200073),
    ),
    switches=("context_switch", "__switch_to"),
)
# Intel SDM vol. 2: call rel32, also behind a prefix that fills up a patched one; call near indirect
# (FF /2, memory or register, with REX.B, with NOTRACK), syscall is a trap; ret, also behind a
# prefix, ret imm16, iretq, sysretq.
X86_64 = InstructionSet(
    name="x86_64",
    objdump=("objdump", "x86_64-linux-gnu-objdump"),
    opens=0xC1801F0F,
    closes=0xC2801F0F,
    moves=0xC3801F0F,
    clock_reads=dict.fromkeys(("tsc", "icount"), ((0xFFFF, 0x310F), (0xFFFFFF, 0xF9010F))),
    calls=(
        (0xFF, 0xE8),
        (0xFFFF, 0xE82E),
        (0xFFFF, 0xE8F2),
        (0x38FF, 0x10FF),
        (0x38FFFF, 0x10FF41),
        (0x38FFFF, 0x10FF3E),
        (0x38FFFFFF, 0x10FF413E),
    ),
    returns=(
        (0xFF, 0xC3),
        (0xFF, 0xC2),
        (0xFFFF, 0xC3F2),
        (0xFFFF, 0xC3F3),
        (0xFFFF, 0xCF48),
        (0xFFFFFF, 0x070F48),
    ),
    switches=("__switch_to_asm",),
    pushes=True,
)
# Arm ARM C6.2: bl, blr and its forms with a checked pointer; ret with any register and its such
# forms, eret likewise.
AARCH64 = InstructionSet(
    name="aarch64",
    objdump=("aarch64-linux-gnu-objdump", "objdump"),
    opens=0xD280F83F,
    closes=0xD280F85F,
    moves=0xD280F87F,
    clock_reads=dict.fromkeys(("cntvct", "icount"), ((0xFFFFFFE0, 0xD53BE040),)),
    calls=((0xFC000000, 0x94000000), (0xFEFFF000, 0xD63F0000)),
    returns=((0xFFFFF000, 0xD65F0000), (0xFFFFF000, 0xD69F0000)),
    switches=("cpu_switch_to",),
)
SETS = (RISCV64, X86_64, AARCH64)
NAMED = {known.name: known for known in SETS}


def matches(insn: NDArray[np.uint32], patterns: Iterable[Pattern]) -> NDArray[np.bool_]:
    """Which of the encodings, shape (n,), fit one of the patterns."""
    found = np.zeros(len(insn), dtype=np.bool_)
    for mask, value in patterns:
        found |= (insn & np.uint32(mask)) == np.uint32(value)
    return found
