# SPDX-License-Identifier: BSD-2-Clause
"""Writes RISC-V executables (System V ABI, chapters 4 and 5)."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_HEADER_BYTES, _ENTRY_BYTES = 64, 56
_MACHINE, _EXECUTABLE, _VERSION = 243, 2, 1
_LOAD, _ALL_RIGHTS, _UNALIGNED = 1, 7, 1
_SECTION_BYTES, _CONTENT, _NAMES, _CODE = 64, 1, 3, 6  # types of sections; flags ALLOC, EXECINSTR
_SECTION_NAMES = b"\0.text\0.shstrtab\0"


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


def code_sections(runs: Sequence[tuple[int, bytes]]) -> bytes:
    """An ELF file that no machine loads, with a section of code for each (virtual address,
    content): what a disassembler reads.
    """
    at = _HEADER_BYTES
    headers = [bytes(_SECTION_BYTES)]
    for address, content in runs:
        headers.append(_section(1, _CONTENT, _CODE, (address, at, len(content))))
        at += len(content)
    headers.append(_section(len(b"\0.text\0"), _NAMES, 0, (0, at, len(_SECTION_NAMES))))
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    behind = at + len(_SECTION_NAMES)
    last = len(headers) - 1
    fields = (0, 0, behind, 0, _HEADER_BYTES, 0, 0, _SECTION_BYTES, len(headers), last)
    head = struct.pack("<HHIQQQIHHHHHH", _EXECUTABLE, _MACHINE, _VERSION, *fields)
    contents = (content for _, content in runs)
    return b"".join([ident, head, *contents, _SECTION_NAMES, *headers])


def _section(name: int, kind: int, flags: int, place: tuple[int, int, int]) -> bytes:
    return struct.pack("<IIQQQQIIQQ", name, kind, flags, *place, 0, 0, 2, 0)
