# SPDX-License-Identifier: BSD-2-Clause
"""What a guest needs of this machine to run a program of the user's: its file and its libraries."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cyclometer.errors import UsageError
from cyclometer.targets.linux.programs import Program
from cyclometer.targets.linux.programs import description as programs_described

DESCRIPTION = "programs"  # the file in the guest's root that `--exec` names there
_FOLDER = "carried"  # of programs: the harness mounts file systems over /tmp and others
_LIBRARY = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)


def files(programs: Sequence[Program]) -> dict[str, bytes]:
    """Path in the guest's root -> content, of all programs and of the libraries they load.

    Raises UsageError for a program that is a script: the guest holds no interpreter.
    """
    found: dict[str, bytes] = {}
    for program in programs:
        path = Path(program.command[0])
        content = path.read_bytes()
        if not content.startswith(b"\x7fELF"):
            raise UsageError(
                f"--exec: {path.name} is a script, and the guest has no interpreter; name a "
                "compiled program"
            )
        found[_inside(program)] = content
        found |= {str(one).lstrip("/"): one.read_bytes() for one in _libraries(path)}
    return found


def description(programs: Sequence[Program]) -> str:
    """The programs as the harness in the guest reads them."""
    moved = [replace(one, command=(f"/{_inside(one)}", *one.command[1:])) for one in programs]
    return programs_described(moved)


def _inside(program: Program) -> str:
    return f"{_FOLDER}/{program.name}"


def _libraries(path: Path) -> list[Path]:
    """The shared libraries and the loader of a program; none for a static or a foreign one."""
    said = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)
    return [Path(library) for library in _LIBRARY.findall(said.stdout)]
