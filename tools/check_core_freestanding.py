# SPDX-License-Identifier: BSD-2-Clause
"""The core needs no C library: it includes three headers of the compiler and its own, uses no
floating point, and needs no symbol from outside.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from findings import c_code, line_of, run, sources

PUBLIC = "core/include"  # where its own headers lie
HEADERS = ("stdint.h", "stddef.h", "stdbool.h")
# Compilers turn assignments of structs, and loops, into calls of memset() and memcpy(), some at one
# level and some at another.
LEVELS = ("-O0", "-O2", "-Os")

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.M)
_FLOAT = re.compile(r"\b(?:float|double)\b")


def check(root: Path) -> Iterator[str]:
    core = [
        (path, content)
        for path, content in sources(root, ".c", ".h", ".S", under=("core",))
        if _is_core(path)
    ]
    for path, content in core:
        for header in _INCLUDE.finditer(content):
            if header[1] not in HEADERS and not (root / PUBLIC / header[1]).is_file():
                line = line_of(content, header.start())
                yield (
                    f"{path}:{line}: includes <{header[1]}>; the core may include "
                    f"{', '.join(HEADERS)} and the headers of {PUBLIC} only"
                )
        code = c_code(content)
        for number in _FLOAT.finditer(code):
            yield (
                f"{path}:{line_of(code, number.start())}: uses {number[0]}; statistics belong "
                "into src/cyclometer"
            )
    yield from _foreign_symbols(root, [path for path, _ in core if not path.endswith(".h")])


def _is_core(path: str) -> bool:
    return Path(path).parent.as_posix() in ("core", f"{PUBLIC}/cyc")  # core/test runs on a host


def _foreign_symbols(root: Path, paths: list[str]) -> Iterator[str]:
    """What the core's objects, linked to each other only, still want."""
    wanted: dict[str, list[str]] = {}  # symbol -> levels
    for level in LEVELS if paths else ():
        with tempfile.NamedTemporaryFile(suffix=".o") as linked:
            options = ["-std=c11", level, "-ffreestanding", "-nostdlib", "-r", "-w", f"-I{PUBLIC}"]
            command = [os.environ.get("CC", "cc"), *options, "-o", linked.name, *paths]
            built = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
            if built.returncode != 0:
                complaint = (built.stderr.splitlines() or ["no message"])[0]
                yield f"core: does not compile freestanding: {complaint}"
                return
            symbols = subprocess.run(
                ["nm", "-u", linked.name], capture_output=True, text=True, check=True
            ).stdout.split()
        for symbol in sorted(set(symbols) - {"U", "_GLOBAL_OFFSET_TABLE_"}):
            wanted.setdefault(symbol, []).append(level)
    for symbol, levels in wanted.items():
        yield (
            f"core: wants the symbol {symbol} from outside (at {', '.join(levels)}); write it in "
            "core or do without"
        )


if __name__ == "__main__":
    run(check)
