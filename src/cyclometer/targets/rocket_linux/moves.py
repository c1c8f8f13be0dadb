# SPDX-License-Identifier: BSD-2-Clause
"""Moves a kernel to the RTL, once for each circle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar

from cyclometer.errors import CyclometerError
from cyclometer.targets import build
from cyclometer.targets.api import Progress
from cyclometer.targets.console import BootResult, read_console
from cyclometer.targets.linux.harness import Visit
from cyclometer.targets.qemu_linux.guest import Guest
from cyclometer.targets.rocket_linux.checkpoint import MEMORY_MIB, Checkpoint, checkpoint

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Moved:
    """What became of one circle: the boot on the RTL, or why there was none."""

    visit: Visit
    ended: BootResult
    sha256: str = ""  # of the checkpoint


class Moves:
    """Moves one kernel before each of several circles, together with its firmware; as a
    `supervisor`, above the firmware that `command` names.
    """

    def __init__(
        self,
        guest: Guest,
        command: Sequence[str],
        bound_s: float,
        progress: Progress,
        supervisor: bool = False,
    ):
        self.guest, self.progress = guest, progress
        self._command = [*command, "--leap", "--memory-mib", str(MEMORY_MIB + 1)]
        self._supervisor = supervisor
        self._bound_s = bound_s
        self._done = count(2)

    def all(self, visits: Sequence[Visit]) -> list[Moved]:
        """As many at once as there are cores, in the order given. An interrupt ends those that run,
        and the others are not begun.
        """
        self.progress.visits(1, len(visits) + 1, visits[0].key if visits else "")
        return at_once(lambda visit: self._one(visit, len(visits)), visits, self.progress)

    def traced(self, visit: Visit, file: Path) -> BootResult:
        """One circle whose windows are written into `file`."""
        command = [*self._started(self._checkpoint(visit)), "--trace", str(file)]
        return read_console(command, self._bound_s, self.progress.stop, to_exit=True)

    def _checkpoint(self, visit: Visit) -> Checkpoint:
        return checkpoint(self.guest, visit, self._bound_s, self._supervisor)

    def _started(self, made: Checkpoint) -> list[str]:
        """The simulator's command."""
        time = [] if made.time_ticks is None else ["--time", str(made.time_ticks)]
        return [*self._command, *time, str(made.image)]

    def _one(self, visit: Visit, number: int) -> Moved:
        if self.progress.stop.is_set():
            return Moved(visit, BootResult(b"", "was not begun"))
        try:
            made = self._checkpoint(visit)
        except CyclometerError as error:
            return Moved(visit, BootResult(b"", f"was not moved: {error}"))
        ended = read_console(self._started(made), self._bound_s, self.progress.stop)
        self.progress.visits(next(self._done), number + 1, visit.key)
        return Moved(visit, ended, made.sha256)


def at_once(work: Callable[[T], R], items: Sequence[T], progress: Progress) -> list[R]:
    """`work` of each item, as many at once as there are cores. An interrupt sets
    `progress.stop`.
    """
    with ThreadPoolExecutor(max_workers=build.cores()) as pool:
        started: list[Future[R]] = [pool.submit(work, item) for item in items]
        try:
            wait(started)
        except KeyboardInterrupt:
            progress.stop.set()
        return [future.result() for future in started]
