# SPDX-License-Identifier: BSD-2-Clause
"""Names of the functions at addresses of running processes and of their kernel."""

from __future__ import annotations

import bisect
import re
import shutil
import struct
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cyclometer.targets.qemu_linux import symbols
from cyclometer.targets.qemu_linux.symbols import Symbols

_LINE = re.compile(rb"^([0-9a-f]+) [tTwWi] (\S+?)(?:@\S*)?$", re.MULTILINE)
_MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) ..x. ([0-9a-f]+) \S+ \d+ *(.*)$", re.MULTILINE)
_LOAD = 1
_KERNEL_FILE = Path("/proc/kallsyms")


class Mapping(NamedTuple):
    """Executable memory of a process, and where in its file it begins."""

    start: int
    stop: int
    offset: int
    file: str


def mappings(pid: int) -> list[Mapping]:
    """Those of a process; none if it has ended or is not ours."""
    try:
        text = Path(f"/proc/{pid}/maps").read_text("utf-8", "replace")
    except OSError:
        return []
    return [
        Mapping(int(start, 16), int(stop, 16), int(offset, 16), file)
        for start, stop, offset, file in _MAPPING.findall(text)
    ]


def user(address: int, where: list[Mapping]) -> str:
    """The function at an address of a process with these mappings."""
    for one in where:
        if one.start <= address < one.stop:
            known = _of_file(one.file)
            name = known.at(address - one.start + one.offset) if known else None
            return name or f"[{Path(one.file).name or 'anonymous'}]"
    return "[unknown]"


class _File(NamedTuple):
    """Functions of an ELF file by the offset in it."""

    offsets: list[int]
    names: list[str]

    def at(self, offset: int) -> str | None:
        found = bisect.bisect_right(self.offsets, offset) - 1
        return self.names[found] if found >= 0 else None


@cache
def _of_file(path: str) -> _File | None:
    nm = shutil.which("nm")
    if nm is None or not path.startswith("/"):
        return None
    loads = _loads(Path(path))
    found: dict[int, str] = {}
    for option in ("-D", "-a"):  # a stripped file has dynamic symbols alone
        done = subprocess.run([nm, option, "--defined-only", "--", path], capture_output=True)  # noqa: PLW1510
        for text, name in _LINE.findall(done.stdout):
            offset = _offset(int(text, 16), loads)
            if offset is not None:
                found[offset] = name.decode(errors="replace")
    ordered = sorted(found.items())
    return _File([at for at, _ in ordered], [name for _, name in ordered]) if ordered else None


def _loads(path: Path) -> list[tuple[int, int, int]]:
    """(offset, address, bytes) of each loaded segment of a 64-bit little-endian ELF file."""
    try:
        with path.open("rb") as file:
            head = file.read(64)
            if head[:6] != b"\x7fELF\x02\x01":
                return []
            (start,), (size, count) = (
                struct.unpack_from("<Q", head, 32),
                struct.unpack_from("<HH", head, 54),
            )
            file.seek(start)
            table = file.read(size * count)
    except (OSError, struct.error):
        return []
    rows = [
        struct.unpack_from("<IIQQQQ", table, i * size)
        for i in range(len(table) // max(size, 1))
        if size >= 56
    ]
    return [(row[2], row[3], row[5]) for row in rows if row[0] == _LOAD]


def _offset(address: int, loads: list[tuple[int, int, int]]) -> int | None:
    for offset, start, length in loads:
        if start <= address < start + length:
            return address - start + offset
    return None


def kernel() -> Symbols | None:
    """The functions of the running kernel; None if it does not show their addresses."""
    try:
        text = _KERNEL_FILE.read_bytes()
    except OSError:
        return None
    found = symbols.read(text)
    # all are 0 to whom the kernel hides them
    return found if found and found.addresses[len(found.addresses) // 2] else None
