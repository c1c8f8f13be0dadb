# SPDX-License-Identifier: BSD-2-Clause
"""A guest that has booted and waits for its orders: saved once, and continued as often as there is
something to measure or to trace, for a boot takes longer than most of what follows it.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from cyclometer.errors import CyclometerError
from cyclometer.record.instructions import NAMED
from cyclometer.targets import build
from cyclometer.targets.api import emulator_version
from cyclometer.targets.disassembly import disassemble, program
from cyclometer.targets.qemu.debugger import Debugger
from cyclometer.targets.qemu_linux import orders
from cyclometer.targets.qemu_linux.guest import Guest

_KEPT = 8  # states of some 80 MB


def booted(guest: Guest, bound_s: float, stop: threading.Event | None = None) -> Guest:
    """The guest with a state to continue from, out of the cache or of a boot. One that cannot be
    saved is left as it is, and boots each time.
    """
    if not guest.kernel.machine.saved:
        return guest
    folder = build.cache() / "booted" / _content(guest)
    state = folder / "state"
    with build.alone(folder):
        if not state.exists() and not _save(guest, state, bound_s, stop):
            return guest
        os.utime(state)
    build.keep_newest(folder.parent.glob("*/state"), _KEPT)
    return replace(guest, state=state)


def _content(guest: Guest) -> str:
    """A name for all that a state depends on."""
    total = hashlib.sha256()
    with guest.unordered() as command:
        archive = command[command.index("-initrd") + 1]
        same = [word for word in command if word not in (archive, str(guest.kernel.image))]
        total.update(Path(archive).read_bytes())
    same += [guest.kernel.sha256, emulator_version(guest.kernel.machine.emulator)]
    total.update("\0".join(same).encode())
    return total.hexdigest()[:16]


def _save(guest: Guest, state: Path, bound_s: float, stop: threading.Event | None) -> bool:
    """Boots the guest to its hint and saves it; whether that went well."""
    try:
        with (
            guest.unordered() as command,
            build.unfinished(state.parent) as folder,
            Debugger(command, bound_s, stop) as machine,
        ):
            draft = folder / state.name
            machine.run_to(list(hints(guest.program, guest.kernel.machine.name)))
            machine.save(draft)
            orders.make_ready(draft)
            draft.rename(state)
    except CyclometerError:
        return False
    return True


@cache
def hints(harness: Path, machine: str) -> Mapping[int, str]:
    """Where the harness lets itself be moved, and in which function."""
    known = NAMED[machine]
    places = disassemble(harness, program(known), build.sources())
    return {pc: place.function for pc, place in places.items() if place.insn == known.moves}
