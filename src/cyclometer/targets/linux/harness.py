# SPDX-License-Identifier: BSD-2-Clause
"""One run of the Linux harness: a process that takes plan lines and answers with records."""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cyclometer.errors import MeasurementFailed, NotComparable, UsageError
from cyclometer.record.decode import Decoder
from cyclometer.record.schema import Flow, Record

_DONE = re.compile(rb"^done (\d+)\s*$", re.MULTILINE)
_CHUNK_BYTES = 1 << 16
_LIST_S = 60.0
PAUSE_SHARE = 0.07
"""Of the time of a visit, in which nothing is measured behind it."""
_ERRORS = {error.exit_code: error for error in (UsageError, NotComparable)}


@dataclass(frozen=True)
class Visit:
    """One line of the plan: a circle, a method and a flow, measured in `run`."""

    run: int
    key: str
    method: str
    flow: Flow

    def line(self) -> str:
        """As the harness reads it."""
        f = self.flow
        return f"visit {self.key} {self.method} {f.initial} {f.delta} {f.groups} {f.tests}\n"


@dataclass(frozen=True)
class Launch:
    """How a harness is started: the words before its name, and what its environment has besides."""

    wrapper: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def everything(self) -> dict[str, str]:
        """The whole environment of a process started so."""
        return {**os.environ, **self.environment}


PLAIN = Launch()


class Harness:
    """A started harness. `console` holds every byte it printed; `alive` turns False when it is
    gone, and `why_gone` says how, as "ended (status -9)".
    """

    def __init__(
        self,
        program: Path,
        run: int,
        options: list[str],
        watchdog_s: int,
        launch: Launch = PLAIN,
    ):
        command = [str(program), "--run", str(run), "--watchdog", str(watchdog_s), *options]
        # A session of its own: Ctrl-C is for the laboratory, which ends its harnesses in order.
        self._process = subprocess.Popen(
            [*launch.wrapper, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env=launch.everything(),
        )
        self.console = bytearray()
        self.decoder = Decoder()
        self._taken = 0  # bytes of the console that are decoded
        self._complete = False
        self.alive = True
        self.why_gone = ""
        self._silent = False
        self._patience_s = watchdog_s + 10.0
        self.open = True

    def visit(self, visit: Visit) -> list[Record]:
        """Runs one visit and returns its records; fewer where the harness died on the way."""
        self.perform(visit)
        return self.take()

    def perform(self, visit: Visit) -> None:
        """Runs one visit, whose records wait for `take`: decoding them takes time that need not
        pass before the visit is known to have ended.
        """
        assert self._process.stdin is not None
        start = len(self.console)
        if self.open:
            with contextlib.suppress(BrokenPipeError):  # what it still printed is read below
                self._process.stdin.write(visit.line().encode())
                self._process.stdin.flush()
        while self.open and not _DONE.search(self.console, start):
            if not self._read():
                self._end()

    def take(self) -> list[Record]:
        """The records that arrived since the last call."""
        records = self.decoder.feed(bytes(self.console[self._taken :]))
        self._taken = len(self.console)
        if not self.open and not self._complete:
            self._complete = True
            records += self.decoder.finish()
        return records

    def finish(self) -> list[Record]:
        """Ends the plan and returns what was still to come, `end` included, and what an interrupted
        visit left.
        """
        if self.open:
            self._end()
        return self.take()

    def _end(self) -> None:
        assert self._process.stdin is not None
        self.open = False
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        while self._read():
            pass
        self.alive = False
        self._process.kill()
        # a process the kernel cannot end must not hold us
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        self.why_gone = f"ended (status {self._process.returncode})"
        if self._silent:
            self.why_gone = f"was silent for {self._patience_s:g} s and was ended"
        if self._process.stdout is not None:
            self._process.stdout.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _read(self) -> bool:
        """Takes the next bytes; False at the end, or when a harness is silent beyond its own
        watchdog.
        """
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], self._patience_s)
        self._silent |= not ready
        data = os.read(self._process.stdout.fileno(), _CHUNK_BYTES) if ready else b""
        self.console += data
        return bool(data)


def list_circles(program: Path, options: list[str], launch: Launch = PLAIN) -> list[Record]:
    """`hello` and every `circle` of the harness. Raises UsageError, NotComparable or
    MeasurementFailed with its own sentence.
    """
    try:
        done = subprocess.run(
            [*launch.wrapper, str(program), "--list", *options],
            capture_output=True,
            check=False,
            timeout=_LIST_S,
            env=launch.everything(),
        )
    except subprocess.TimeoutExpired:
        raise MeasurementFailed(
            f"the harness did not list its circles within {_LIST_S:g} s; try again when the "
            "machine is less busy"
        ) from None
    if done.returncode != 0:
        kind = _ERRORS.get(done.returncode, MeasurementFailed)
        said = done.stderr.decode(errors="replace").strip().removeprefix("cyclometer-linux: ")
        raise kind(said or f"the harness ended with status {done.returncode}")
    decoder = Decoder()
    return decoder.feed(done.stdout) + decoder.finish()


def pause_for_throttling(busy_s: float, ended_s: float) -> None:
    """Leaves other threads their share behind a visit that ended at `ended_s` (time.monotonic()):
    the kernel stops real-time threads that take more than 95 % of a second.
    """
    time.sleep(max(0.0, ended_s + busy_s * PAUSE_SHARE - time.monotonic()))
