# SPDX-License-Identifier: BSD-2-Clause
"""What objdump prints becomes places, on either kind of machine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cyclometer.errors import NotComparable
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.instructions import X86_64, InstructionSet
from cyclometer.targets.disassembly import _places, disassemble, program

RISCV = """
kernel.elf:     file format elf64-littleriscv

0000000080200000 <sys_poke>:
sys_poke():
/src/kernel/poke.c:12 (discriminator 3)
    80200000:\t8082                \tret
/src/kernel/circles/../timeout.h:20
    80200002:\tc0102573          \trdtime\ta0
0000000080200006 <poke>:
    80200006:\tff010113          \tadd\tsp,sp,-16 # 10 <x>
"""
X86 = """
ffffffff81000000 <do_it>:
do_it():
kernel/do:it.c:7
ffffffff81000000:\t0f 1f 80 c1 07 bc 0c \tnopl   0xcbc07c1(%rax)
ffffffff81000007:\tc3                   \tret
"""


def test_places_on_risc_v() -> None:
    found = _places(RISCV.splitlines(), "/src/")
    assert found[0x80200000] == Place("sys_poke", "ret", "kernel/poke.c", 12, True, 0x8082)
    assert found[0x80200002] == Place(
        "sys_poke", "rdtime a0", "kernel/timeout.h", 20, False, 0xC0102573
    )
    assert found[0x80200006] == Place("poke", "add sp,sp,-16 # 10 <x>", "", 0, True, 0xFF010113)


def test_places_on_x86() -> None:
    found = _places(X86.splitlines(), "/src/")
    assert found[0xFFFFFFFF81000000].insn == X86_64.opens
    assert found[0xFFFFFFFF81000007] == Place("do_it", "ret", "", 0, False, 0xC3)


def test_programs_and_kernel_may_share_addresses() -> None:
    places = AddressMap({16: Place("kernel", insn=1)}, {16: Place("user", insn=1)})
    assert (places.at(16, True).function, places.at(16, False).function) == ("user", "kernel")
    assert places.at(0x12345, True).function == "[no symbol, 0x12000]"
    assert places.addresses(1) == [16]


def test_a_missing_disassembler_is_one_sentence() -> None:
    with pytest.raises(NotComparable, match="no disassembler for pdp11; install pdp11-objdump"):
        program(InstructionSet("pdp11", ("pdp11-objdump",), 0, 0, {}, (), (), (), ()))


@pytest.mark.skipif(
    not shutil.which("objdump") or not shutil.which("cc"),
    reason="binutils or a compiler is missing",
)
def test_a_real_image(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text("int twice(int a)\n{\n    return 2 * a;\n}\n")
    subprocess.run(["cc", "-g", "-O1", "-c", "x.c", "-o", "x.o"], cwd=tmp_path, check=True)
    found = disassemble(tmp_path / "x.o", "objdump", tmp_path)
    assert {place.function for place in found.values()} == {"twice"}
    assert found[0].starts
    assert {place.file for place in found.values() if place.file} == {"x.c"}
    twice = "_ZN4core5twice17h0123456789abcdefE"  # as rustc mangles core::twice
    (tmp_path / "x.c").write_text(f"int {twice}(int a)\n{{\n    return 2 * a;\n}}\n")
    subprocess.run(["cc", "-c", "x.c", "-o", "x.o"], cwd=tmp_path, check=True)
    assert {p.function for p in disassemble(tmp_path / "x.o", "objdump", tmp_path).values()} == {
        "core::twice"
    }
    with pytest.raises(NotComparable, match="cannot read"):
        disassemble(tmp_path / "x.c", "objdump", tmp_path)
