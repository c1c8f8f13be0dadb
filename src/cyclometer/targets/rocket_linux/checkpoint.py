# SPDX-License-Identifier: BSD-2-Clause
"""A kernel that stands before the first test of a circle, written down by QEMU: the image with
which the RTL continues it. Made once for the same kernel, harness, circle and tests.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cyclometer.errors import MeasurementFailed
from cyclometer.record.instructions import RISCV64
from cyclometer.targets import build
from cyclometer.targets.api import emulator_version
from cyclometer.targets.linux.harness import Visit
from cyclometer.targets.qemu.debugger import Debugger
from cyclometer.targets.qemu_linux.booted import hints
from cyclometer.targets.qemu_linux.guest import Guest
from cyclometer.targets.rocket_linux import device_tree, m_mode
from cyclometer.targets.rocket_linux.device_tree import QEMU_UART_SOURCE, ROCKET_UART_SOURCE
from cyclometer.targets.rocket_linux.moved_image import (
    moved_image,
    moved_supervisor,
    time_ticks,
)
from cyclometer.targets.rocket_linux.state import MachineState, read_state

MEMORY_MIB = 128
_BEHIND_MIB = 8  # for the program that restores, and for QEMU's own device tree
_KEPT = 32  # checkpoints of some 35 MB
_HINT_BYTES = 4
_USER = 0
_SV39 = 8
_SATP_MODE, _SATP_IDENTIFIER = 60, (1 << 60) - (1 << 44)


@dataclass(frozen=True)
class Checkpoint:
    """The image, and the hash of its bytes. Above firmware that is not moved, the time from which
    the machine goes on.
    """

    image: Path
    sha256: str
    time_ticks: int | None = None


@contextmanager
def on_board(
    guest: Guest, to_be_moved: bool, firmware_bytes: int = device_tree.FIRMWARE_BYTES
) -> Iterator[Guest]:
    """The guest on the machine that QEMU and the RTL have in common; its tree is there as long as
    the context.

    A machine that will be moved has its UART where the RTL has it, and interrupts of QEMU's never
    come: it prints only afterwards.
    """
    source = ROCKET_UART_SOURCE if to_be_moved else QEMU_UART_SOURCE
    with tempfile.NamedTemporaryFile(prefix="cyclometer-", suffix=".dtb") as tree:
        board = device_tree.board(MEMORY_MIB, source, firmware_bytes)
        tree.write(device_tree.flatten(board))
        tree.flush()
        # QEMU puts a random number into the tree, for the kernel's own
        hardware = ("-bios", str(m_mode.firmware()), "-dtb", tree.name, "-seed", "1")
        yield replace(_moving(guest), memory_mib=MEMORY_MIB, hardware=hardware)


def _moving(guest: Guest) -> Guest:
    return replace(guest, clock="moved")


def checkpoint(guest: Guest, visit: Visit, bound_s: float, supervisor: bool) -> Checkpoint:
    """The guest before the first test of `visit`, out of the cache or of a machine that continues
    the one boot; with its firmware, or with `supervisor` without.

    Raises MeasurementFailed if the kernel does not come there, or in a state that the RTL does
    not have.
    """

    def made() -> bytes:
        waiting = _waiting(guest, bound_s, supervisor)
        with _moving(guest).restored(waiting, MEMORY_MIB + _BEHIND_MIB, visit) as command:
            return _stopped(guest, command, bound_s, supervisor)

    image = _kept(_content(guest, supervisor, str(visit.run), visit.line()), made)
    with image.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Checkpoint(image, digest, time_ticks(image) if supervisor else None)


def _waiting(guest: Guest, bound_s: float, supervisor: bool) -> Path:
    """The guest where the harness waits for its orders, as an image that QEMU continues. All
    circles begin there, each in a machine of its own: none finds what another left.
    """

    def made() -> bytes:
        reserved = _reserved_bytes(supervisor)
        with (
            on_board(guest, to_be_moved=True, firmware_bytes=reserved) as board,
            board.unordered() as command,
        ):
            return _stopped(guest, command, bound_s, False)

    return _kept(_content(guest, supervisor, "waiting"), made)


def _kept(name: str, made: Callable[[], bytes]) -> Path:
    """A file of the cache; `made` if it is not there, by one of those who ask for it."""
    image = build.cache() / "checkpoints" / f"{name}.elf"
    own = image.parent / name
    with build.alone(own):
        if not image.exists():
            content = made()
            with build.unfinished(own) as folder:
                draft = folder / image.name
                draft.write_bytes(content)
                draft.replace(image)  # whole or not at all
        os.utime(image)
    build.keep_newest(image.parent.glob("*.elf"), _KEPT)
    return image


def _reserved_bytes(supervisor: bool) -> int:
    return device_tree.FOREIGN_FIRMWARE_BYTES if supervisor else device_tree.FIRMWARE_BYTES


def _content(guest: Guest, supervisor: bool, *where: str) -> str:
    """A name for all that a machine which stopped there depends on."""
    board = device_tree.board(MEMORY_MIB, ROCKET_UART_SOURCE, _reserved_bytes(supervisor))
    tree = device_tree.flatten(board)
    words = [guest.kernel.sha256, guest.command_line, guest.cpu_model, *where]
    words += [emulator_version(guest.kernel.machine.emulator)]
    restore = m_mode.restore_program(supervisor)
    parts = (guest.program.read_bytes(), m_mode.firmware().read_bytes(), restore)
    total = hashlib.sha256("\0".join(words).encode() + tree)
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()[:16]


def _stopped(guest: Guest, command: Sequence[str], bound_s: float, supervisor: bool) -> bytes:
    """The machine behind its next hint, as an image that continues it. It stops this once: its
    clock leaps while it stands.
    """
    image = moved_supervisor if supervisor else moved_image
    with tempfile.TemporaryDirectory() as folder, Debugger(command, bound_s) as machine:
        machine.run_to(list(hints(guest.program, RISCV64.name)))
        state = read_state(machine)
        _check(state, guest.kernel.name)
        ram = Path(folder) / "ram"
        machine.monitor(f'pmemsave {device_tree.RAM_BASE:#x} {MEMORY_MIB << 20} "{ram}"')
        behind = replace(state, pc=state.pc + _HINT_BYTES)
        return image(ram.read_bytes(), m_mode.restore_program(supervisor), behind)


def _check(state: MachineState, kernel: str) -> None:
    """Raises MeasurementFailed for what a Rocket core does not have."""
    satp = state.csrs["satp"]
    if state.privilege != _USER:
        raise MeasurementFailed(
            f"{kernel} stopped outside of user code; is it the kernel's debugger?"
        )
    if satp >> _SATP_MODE != _SV39:
        raise MeasurementFailed(
            f"{kernel} has translation mode {satp >> _SATP_MODE}, and the Rocket core has only "
            "Sv39, mode 8; add no4lvl to its command line with --append"
        )
    if satp & _SATP_IDENTIFIER:
        raise MeasurementFailed(
            f"{kernel} uses address-space identifiers, which the Rocket core does not have; use a "
            "kernel that probes for them, as Linux does"
        )
