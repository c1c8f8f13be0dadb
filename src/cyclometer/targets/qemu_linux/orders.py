# SPDX-License-Identifier: BSD-2-Clause
"""What a guest that was booted before is to do: written into the saved machine, where the harness
left pages for it (linux/init.c).
"""

from __future__ import annotations

import mmap
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cyclometer.errors import MeasurementFailed, UsageError

# QEMU: migration/global_state.c: numbers, and the name of the state that the machine was in
_STOOD = re.compile(rb"(?<=globalstate)(.{12})(debug\0\0)", re.DOTALL)
PAGE_BYTES, PAGES = 4096, 16
# A page has its number, and else the same byte: what it is made from, in the program, has not.
_PAGE = re.compile(rb"cyclometer: orders (\d\d)\n\0\.{64}")


@contextmanager
def given(state: Path, arguments: str, plan: str) -> Iterator[Path]:
    """A copy of a saved machine with its orders in it, there as long as the context.

    Raises UsageError for more orders than fit, MeasurementFailed for a file without such pages.
    """
    text = f"{arguments}\n{plan}".encode()
    if len(text) >= PAGES * PAGE_BYTES:
        raise UsageError("too many circles for one boot; choose fewer of them by --only")
    with tempfile.TemporaryDirectory(prefix="cyclometer-") as folder:
        copy = Path(folder) / "state"
        try:
            shutil.copyfile(state, copy)
        except OSError as error:
            raise MeasurementFailed(
                f"the saved machine {state} cannot be copied ({error.strerror}); run it again"
            ) from error
        with copy.open("r+b") as file, mmap.mmap(file.fileno(), 0) as machine:
            for page, at in enumerate(places(machine)):
                part = text[page * PAGE_BYTES : (page + 1) * PAGE_BYTES]
                machine[at : at + PAGE_BYTES] = part.ljust(PAGE_BYTES, b"\0")
        yield copy


def make_ready(state: Path) -> None:
    """Makes a machine that a debugger stopped one that runs as soon as it is continued. Raises
    MeasurementFailed if it cannot be given orders.
    """
    with state.open("r+b") as file, mmap.mmap(file.fileno(), 0) as machine:
        places(machine)
        if stood := _STOOD.search(machine):
            machine[stood.start(2) : stood.end(2)] = b"running"


def places(machine: bytes | mmap.mmap) -> list[int]:
    """Where the pages for orders lie in a saved machine, in their order."""
    found = {int(match[1]): match.start() for match in _PAGE.finditer(machine)}
    if sorted(found) != list(range(PAGES)):
        raise MeasurementFailed(
            "the saved machine has no place for its orders; remove it from the cache"
        )
    return [found[page] for page in range(PAGES)]


def reading(state: Path) -> str:
    """What `-incoming` takes to continue a saved machine."""
    return f"exec:cat {shlex.quote(str(state))}"
