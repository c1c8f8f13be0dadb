# SPDX-License-Identifier: BSD-2-Clause
"""An ELF image that continues a stopped machine: its RAM, its state, and the program that puts the
state back.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cyclometer.errors import MeasurementFailed
from cyclometer.targets.rocket_linux.device_tree import FOREIGN_FIRMWARE_BYTES, RAM_BASE
from cyclometer.targets.rocket_linux.elf import executable
from cyclometer.targets.rocket_linux.state import (
    CLINT_MSIP,
    CLINT_MTIME,
    CLINT_MTIMECMP,
    CSRS,
    MachineState,
    Writes,
)

PROGRAM_BYTES = 0x1000  # machines/restore/restore.S: the state begins behind so many
_PAGE_BYTES, _WORD_BYTES = 4096, 8
_WRITABLE_MIP = 0x22  # software and timer interrupt of S mode; the others are levels of devices
_PMP_ADDRESS = (1 << 30) - 1  # the bits that the Rocket core has
_MIE, _MPIE, _MPP, _MPP_SHIFT, _TVM = 1 << 3, 1 << 7, 3 << 11, 11, 1 << 20
# What machines/restore restores above firmware that has started by itself.
_SUPERVISOR_CSRS = ("fcsr", "scounteren", "sscratch", "stvec", "scause", "stval")
_SUPERVISOR_INTERRUPTS, _SOFTWARE_INTERRUPT = 0x222, 0x2
_SIE, _SPIE, _SPP_SHIFT, _SUPERVISOR_STATUS = 1 << 1, 1 << 5, 8, 0xC_6000  # MXR, SUM, FS
_TABLE, _GIGAPAGE_SHIFT = (1 << 44) - 1, 30
_MAPPED = 0xCF  # valid, readable, writable, executable, accessed, dirty


def moved_image(ram: bytes, program: bytes, state: MachineState) -> bytes:
    """The image for a machine whose RAM is larger than `ram`: what is needed to continue stands
    behind it. `ram` is a whole number of pages.
    """
    return _image(ram, program, _restored(state))


def moved_supervisor(ram: bytes, program: bytes, state: MachineState) -> bytes:
    """The same for S mode alone, above firmware that starts by itself where the guest's firmware
    was. The file ends with the guest's time, from which the machine has to go on.

    Raises MeasurementFailed if the guest has mapped something where RAM is.
    """
    kept = bytearray(ram)
    kept[:FOREIGN_FIRMWARE_BYTES] = bytes(FOREIGN_FIRMWARE_BYTES)
    _map_ram(kept, state.csrs["satp"])
    return _image(bytes(kept), program, _restored_supervisor(state))


def time_ticks(image: Path) -> int:
    """The time at the end of such a file."""
    with image.open("rb") as file:
        file.seek(-_WORD_BYTES, os.SEEK_END)
        return int.from_bytes(file.read(), "little")


def _map_ram(ram: bytearray, satp: int) -> None:
    """Maps the gigabyte that holds RAM to itself in the guest's page tables, for S mode, so that
    the program which switches to these tables goes on behind the switch.
    """
    number = RAM_BASE >> _GIGAPAGE_SHIFT
    at = ((satp & _TABLE) * _PAGE_BYTES - RAM_BASE) + number * _WORD_BYTES
    if any(ram[at : at + _WORD_BYTES]):
        raise MeasurementFailed(
            f"the harness has mapped memory at {RAM_BASE:#x}, where --firmware needs to continue "
            "it; leave out --firmware"
        )
    # a leaf in the root table maps the whole gigabyte
    entry = number << _GIGAPAGE_SHIFT >> 2 | _MAPPED
    ram[at : at + _WORD_BYTES] = entry.to_bytes(_WORD_BYTES, "little")


def _image(ram: bytes, program: bytes, state: bytes) -> bytes:
    pages = np.frombuffer(ram, np.uint8).reshape(-1, _PAGE_BYTES)
    parts = [
        (RAM_BASE + first * _PAGE_BYTES, ram[first * _PAGE_BYTES : end * _PAGE_BYTES])
        for first, end in _runs(np.any(pages, axis=1))
    ]
    behind = program.ljust(PROGRAM_BYTES, b"\0") + state
    return executable(RAM_BASE + len(ram), [*parts, (RAM_BASE + len(ram), behind)])


def _restored(state: MachineState) -> bytes:
    """Doublewords in the order in which the program reads them."""
    csrs = _writable(state)
    words = [*state.f, *(csrs[name] for name in CSRS)]
    for writes in (state.bytes_, state.words, state.doubles):
        words += _listed(writes)
    return struct.pack(f"<{len(words) + len(state.x)}Q", *words, *state.x)


def _restored_supervisor(state: MachineState) -> bytes:
    """As `_restored`, for S mode; the time stands behind it all."""
    csrs, doubles = state.csrs, dict(state.doubles)
    status = csrs["mstatus"] & _SUPERVISOR_STATUS | state.privilege << _SPP_SHIFT
    words = [*state.f, *(csrs[name] for name in _SUPERVISOR_CSRS)]
    words += [csrs["mie"] & _SUPERVISOR_INTERRUPTS, csrs["mip"] & _SOFTWARE_INTERRUPT, state.pc]
    words += [status | (_SPIE if csrs["mstatus"] & _SIE else 0)]
    words += _listed(state.bytes_)
    words += _listed([each for each in state.words if each[0] != CLINT_MSIP]) + _listed([])
    words += [doubles[CLINT_MTIMECMP], csrs["satp"], *state.x, doubles[CLINT_MTIME]]
    return struct.pack(f"<{len(words)}Q", *words)


def _listed(writes: Writes) -> list[int]:
    return [len(writes), *(word for pair in writes for word in pair)]


def _writable(state: MachineState) -> Mapping[str, int]:
    """The CSRs with what M mode must hold so that its `mret` continues the guest.

    TVM, by which the firmware hides what the RTL does not have, is for QEMU alone.
    """
    found = dict(state.csrs)
    status = found["mstatus"] & ~(_MIE | _MPIE | _MPP | _TVM)
    enabled = _MPIE if found["mstatus"] & _MIE else 0
    found["mstatus"] = status | enabled | state.privilege << _MPP_SHIFT
    found["mepc"] = state.pc
    found["mip"] &= _WRITABLE_MIP
    for name in found:
        if name.startswith("pmpaddr"):
            found[name] &= _PMP_ADDRESS
    return found


def _runs(used: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """First page and the one behind the last, of every run of used pages."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], used, [False]))))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
