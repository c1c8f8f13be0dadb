# SPDX-License-Identifier: BSD-2-Clause
"""SBI firmware that somebody else wrote, below an image on the RTL: OpenSBI's fw_dynamic."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from cyclometer.errors import CyclometerError, UsageError
from cyclometer.record.address_map import Place
from cyclometer.record.instructions import RISCV64
from cyclometer.targets.disassembly import disassemble, program
from cyclometer.targets.qemu.image import emulator
from cyclometer.targets.qemu.target import EMULATOR

# fw_dynamic learns from its loader what follows it, and looks for the word "OSBI" there: this is
# `lui rd, 0x49425`, the upper half of the word, whatever rd is.
_LOOKS_FOR_MAGIC, _BUT_RD = 0x49425037, 0xFFFFF07F
_INSTRUCTION_BYTES = 2
_MAX_BYTES = 64 << 20  # with all debugging information


def find(path: str) -> Path:
    """The firmware file. Raises UsageError if it is not a fw_dynamic for RISC-V."""
    file = Path(path)
    try:
        runs_on = emulator(file)[0]
    except CyclometerError as error:
        raise UsageError(f"{file} is not an ELF file; name OpenSBI's fw_dynamic.elf") from error
    if runs_on != EMULATOR:
        raise UsageError(f"{file} is not firmware for RISC-V, and the simulated cores run no other")
    with file.open("rb") as opened:
        content = opened.read(_MAX_BYTES)
    if not _looks_for_magic(content):
        raise UsageError(
            f"{file} continues at a fixed address; name OpenSBI's fw_dynamic.elf, which continues "
            "where the board says"
        )
    return file


def _looks_for_magic(content: bytes) -> bool:
    """Whether the instruction stands anywhere."""
    for start in (0, _INSTRUCTION_BYTES):
        words = np.frombuffer(content, "<u4", (len(content) - start) // 4, start)
        if np.any(words & _BUT_RD == _LOOKS_FOR_MAGIC):
            return True
    return False


def facts(path: str | None) -> dict[str, Any]:
    """What a bundle keeps of the firmware that was asked for."""
    if path is None:
        return {}
    file = Path(path)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return {"firmware": {"name": file.name, "sha256": digest}}


def places(file: Path) -> dict[int, Place]:
    """Its instructions, as one function: as distributions carry it, it has no symbols."""
    found = disassemble(file, program(RISCV64), file.resolve().parent)
    named = msgspec.structs.replace
    return {pc: named(place, function="[firmware]") for pc, place in found.items()}
