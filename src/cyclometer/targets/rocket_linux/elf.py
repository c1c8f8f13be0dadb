# SPDX-License-Identifier: BSD-2-Clause
"""Writes RISC-V executables (System V ABI, chapters 4 and 5)."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_HEADER_BYTES, _ENTRY_BYTES = 64, 56
_MACHINE, _EXECUTABLE, _VERSION = 243, 2, 1
_LOAD, _ALL_RIGHTS, _UNALIGNED = 1, 7, 1


def executable(entry: int, segments: Sequence[tuple[int, bytes]]) -> bytes:
    """An ELF file of segments (physical address, content) that starts at `entry`."""
    at = _HEADER_BYTES + _ENTRY_BYTES * len(segments)
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    fields = (entry, _HEADER_BYTES, 0, 0, _HEADER_BYTES, _ENTRY_BYTES, len(segments), 0, 0, 0)
    parts = [ident, struct.pack("<HHIQQQIHHHHHH", _EXECUTABLE, _MACHINE, _VERSION, *fields)]
    for address, content in segments:
        place = (at, address, address, len(content), len(content), _UNALIGNED)
        parts.append(struct.pack("<IIQQQQQQ", _LOAD, _ALL_RIGHTS, *place))
        at += len(content)
    return b"".join([*parts, *(content for _, content in segments)])
