# SPDX-License-Identifier: BSD-2-Clause
"""The functions of a Linux kernel by address: as the kernel itself lists them, or its System.map,
or its vmlinux.
"""

from __future__ import annotations

import bisect
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclometer.errors import BadFile
from cyclometer.record.instructions import X86_64
from cyclometer.targets import build
from cyclometer.targets.disassembly import program

_LINE = re.compile(rb"^([0-9a-f]{8,16}) [tTwW] (?!\$|\.L)([\w.$]+)\r?$", re.MULTILINE)
_FEWEST = 1000  # a distribution's System.map is a remark of one line
_MAP_BYTES = 64 << 20
# of a function; what stands farther behind one is firmware, or a trampoline mapped elsewhere
_LONGEST_BYTES = 1 << 20


@dataclass(frozen=True)
class Symbols:
    """Functions by address, in ascending order."""

    addresses: Sequence[int]
    names: Sequence[str]

    def at(self, pc: int) -> tuple[str, bool]:
        """The function that holds an address, and whether it begins there."""
        found = bisect.bisect_right(self.addresses, pc) - 1
        if found < 0 or pc - self.addresses[found] > _LONGEST_BYTES:
            return f"[no symbol, {pc & ~0xFFF:#x}]", False
        return self.names[found], self.addresses[found] == pc

    def text(self) -> bytes:
        """Lines that `read` understands."""
        return b"".join(
            b"%016x t %s\n" % (a, n.encode())
            for a, n in zip(self.addresses, self.names, strict=True)
        )


def read(text: bytes) -> Symbols | None:
    """Functions out of lines as /proc/kallsyms and System.map have them; None if they are not
    there.
    """
    found = sorted((int(address, 16), name.decode()) for address, name in _LINE.findall(text))
    if len(found) < _FEWEST:
        return None
    return Symbols([address for address, _ in found], [name for _, name in found])


def load(path: Path) -> Symbols:
    """Those of a System.map, or of a vmlinux by binutils. Raises BadFile if they are not
    there.
    """
    with path.open("rb") as file:
        text = file.read(_MAP_BYTES)
    if text[:4] == b"\x7fELF":
        nm = program(X86_64).removesuffix("objdump") + "nm"
        text = _printed([nm, "--", str(path)])
    if found := read(text):
        return found
    raise BadFile(
        f"{path} does not list a kernel's functions; name the System.map or the vmlinux of its "
        "build"
    )


def kept(kernel_sha256: str) -> Path:
    """Where the list is kept that a kernel has printed."""
    return build.cache() / "symbols" / f"{kernel_sha256}.map"


def keep(kernel_sha256: str, symbols: Symbols) -> None:
    """Keeps the list, whole or not at all, for others read it."""
    target = kept(kernel_sha256)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_suffix(f".{os.getpid()}")
    draft.write_bytes(symbols.text())
    draft.replace(target)


def _printed(command: Sequence[str]) -> bytes:
    """As much of a program's output as a map may have: what the file that it reads makes it print
    is unknown.
    """
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        text = process.stdout.read(_MAP_BYTES)
        process.kill()
    return text
