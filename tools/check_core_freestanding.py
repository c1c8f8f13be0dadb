# SPDX-License-Identifier: BSD-2-Clause
"""The core needs no C library: no header but three, no floating point, no symbol from outside."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from findings import c_code, line_of, run, sources

HEADERS = ("stdint.h", "stddef.h", "stdbool.h")
# GCC emits calls to these four even when freestanding; whoever links the core provides them.
COMPILERS_OWN = {"memcpy", "memmove", "memset", "memcmp"}

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.M)
_FLOAT = re.compile(r"\b(?:float|double)\b")


def check(root: Path) -> Iterator[str]:
    core = [(path, content) for path, content in sources(root, ".c", ".h", ".S", under=("core",)) if _is_core(path)]
    for path, content in core:
        for header in _INCLUDE.finditer(content):
            if header[1] not in HEADERS:
                line = line_of(content, header.start())
                yield f"{path}:{line}: includes <{header[1]}>; the core may include {', '.join(HEADERS)} only"
        code = c_code(content)
        for number in _FLOAT.finditer(code):
            yield f"{path}:{line_of(code, number.start())}: uses {number[0]}; statistics belong into src/cyclometer"
    yield from _foreign_symbols(root, [path for path, _ in core if not path.endswith(".h")])


def _is_core(path: str) -> bool:
    return Path(path).parent.as_posix() == "core"  # core/test runs on a host


def _foreign_symbols(root: Path, paths: list[str]) -> Iterator[str]:
    """What the core's objects, linked to each other only, still want."""
    if not paths:
        return
    with tempfile.NamedTemporaryFile(suffix=".o") as linked:
        options = ["-std=c11", "-ffreestanding", "-nostdlib", "-r", "-w", "-o", linked.name]
        compiler = os.environ.get("CC", "cc")
        built = subprocess.run([compiler, *options, *paths], cwd=root, capture_output=True, text=True, check=False)
        if built.returncode != 0:
            yield f"core: does not compile freestanding: {(built.stderr.splitlines() or ['no message'])[0]}"
            return
        wanted = subprocess.run(["nm", "-u", linked.name], capture_output=True, text=True, check=True).stdout.split()
    for symbol in sorted(set(wanted) - {"U", "_GLOBAL_OFFSET_TABLE_"} - COMPILERS_OWN):
        yield f"core: wants the symbol {symbol} from outside; write it in core or do without"


if __name__ == "__main__":
    run(check)
