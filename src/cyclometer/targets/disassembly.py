# SPDX-License-Identifier: BSD-2-Clause
"""What stands at an address of an image: function, source line and instruction, as binutils'
objdump prints.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from posixpath import normpath

from cyclometer.errors import NotComparable
from cyclometer.record.address_map import Place
from cyclometer.record.instructions import InstructionSet

_LINE = re.compile(
    r"(?P<start>[0-9a-f]{8,16}) <(?P<function>.+)>:$"
    r"|(?P<file>/?[^:\s][^:]*):(?P<line>\d+)(?: \(discriminator \d+\))?$"
    r"|\s*(?P<pc>[0-9a-f]+):\t(?P<insn>[0-9a-f ]+?)\s*\t(?P<text>.*)$"
)
_WORD_DIGITS = 8


def program(known: InstructionSet) -> str:
    """The disassembler for an instruction set. Raises NotComparable if none is installed."""
    for name in known.objdump:
        if path := shutil.which(name):
            return path
    raise NotComparable(
        f"no disassembler for {known.name}; install {' or '.join(known.objdump)} (binutils)"
    )


def disassemble(image: Path, objdump: str, root: Path) -> dict[int, Place]:
    """Every instruction of an ELF image by its address; files below `root` are named from there.

    Names are as the source has them: all instances of a generic function of Rust have one.
    """
    options = ("--disassemble", "--demangle", "--line-numbers", "--wide")
    command = [objdump, *options, str(image)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise NotComparable(f"{objdump} cannot read {image}: {done.stderr.strip()[:200]}")
    return _places(done.stdout.splitlines(), f"{root}/")


def _places(lines: Iterable[str], prefix: str) -> dict[int, Place]:
    found: dict[int, Place] = {}
    function, start, file, line = "", -1, "", 0
    for match in filter(None, map(_LINE.match, lines)):
        if match["start"]:
            function, start, file, line = match["function"], int(match["start"], 16), "", 0
        elif match["file"]:
            file, line = normpath(match["file"]).removeprefix(prefix), int(match["line"])
        else:
            pc, text = int(match["pc"], 16), " ".join(match["text"].split())
            found[pc] = Place(
                function, text, file, line, pc == start, _encoding(match["insn"].split())
            )
    return found


def _encoding(words: Sequence[str]) -> int:
    """The first four bytes as a trace holds them: objdump prints words on RISC-V, single bytes on
    x86.
    """
    if len(words) == 1:
        return int(words[0], 16)
    return int.from_bytes(bytes.fromhex("".join(words)[:_WORD_DIGITS]), "little")
