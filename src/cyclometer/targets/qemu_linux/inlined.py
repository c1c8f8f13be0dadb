# SPDX-License-Identifier: BSD-2-Clause
"""What a kernel's compiler put inline, as the debugging information of its vmlinux tells: which
call in a function each instruction belongs to.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from posixpath import normpath

from cyclometer.record.instructions import InstructionSet
from cyclometer.targets.disassembly import program

_INFORMATION = re.compile(r"^ *\d+ \.z?debug_info ", re.MULTILINE)
_ADDRESS = re.compile(r"^0x[0-9a-f]+\n", re.MULTILINE)
_REMARK = re.compile(r" \(discriminator \d+\)$")


def calls(debug: Path | None, pcs: Iterable[int], known: InstructionSet) -> dict[int, str]:
    """By address the call that its function has inline there, `name (file:line)` with the line of
    the call; without addresses that are the function's own. Empty without debugging information,
    or the tool that reads it.
    """
    objdump = program(known)
    reader = shutil.which(objdump.removesuffix("objdump") + "addr2line")
    if debug is None or reader is None:
        return {}
    if not _INFORMATION.search(_said([objdump, "-h", "--", str(debug)])):
        return {}
    asked = sorted(set(pcs))
    words = "".join(f"{pc:#x}\n" for pc in asked)
    answers = _ADDRESS.split(_said([reader, "-aif", "-e", str(debug)], words))[1:]
    root = f"{debug.resolve().parent}/"
    found = {}
    for pc, answer in zip(asked, answers, strict=True):
        frames = _frames(answer.splitlines())
        if len(frames) > 1:
            (callee, _), (_, place) = frames[-2:]
            found[pc] = f"{callee} ({normpath(place).removeprefix(root)})"
    return found


def _frames(lines: list[str]) -> list[tuple[str, str]]:
    """Function and place of an address, innermost first; all but the last are inline."""
    return [
        (name, _REMARK.sub("", place)) for name, place in zip(lines[::2], lines[1::2], strict=False)
    ]


def _said(command: list[str], words: str = "") -> str:
    done = subprocess.run(
        command, input=words, capture_output=True, text=True, errors="replace", check=False
    )
    return done.stdout
