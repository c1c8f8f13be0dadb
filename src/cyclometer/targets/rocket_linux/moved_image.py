# SPDX-License-Identifier: BSD-2-Clause
"""An ELF image that continues a stopped machine: its RAM, its state, and the program that puts the
state back.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from cyclometer.targets.rocket_linux.device_tree import RAM_BASE
from cyclometer.targets.rocket_linux.elf import executable
from cyclometer.targets.rocket_linux.state import CSRS, MachineState, Writes

PROGRAM_BYTES = 0x1000  # machines/restore/restore.S: the state begins behind so many
_PAGE_BYTES = 4096
_WRITABLE_MIP = 0x22  # software and timer interrupt of S mode; the others are levels of devices
_PMP_ADDRESS = (1 << 30) - 1  # the bits that the Rocket core has
_MIE, _MPIE, _MPP, _MPP_SHIFT, _TVM = 1 << 3, 1 << 7, 3 << 11, 11, 1 << 20


def moved_image(ram: bytes, program: bytes, state: MachineState) -> bytes:
    """The image for a machine whose RAM is larger than `ram`: what is needed to continue stands
    behind it. `ram` is a whole number of pages.
    """
    behind = program.ljust(PROGRAM_BYTES, b"\0") + _restored(state)
    pages = np.frombuffer(ram, np.uint8).reshape(-1, _PAGE_BYTES)
    parts = [
        (RAM_BASE + first * _PAGE_BYTES, ram[first * _PAGE_BYTES : end * _PAGE_BYTES])
        for first, end in _runs(np.any(pages, axis=1))
    ]
    return executable(RAM_BASE + len(ram), [*parts, (RAM_BASE + len(ram), behind)])


def _restored(state: MachineState) -> bytes:
    """Doublewords in the order in which the program reads them."""
    csrs = _writable(state)
    words = [*state.f, *(csrs[name] for name in CSRS)]
    for writes in (state.bytes_, state.words, state.doubles):
        words += _listed(writes)
    return struct.pack(f"<{len(words) + len(state.x)}Q", *words, *state.x)


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
