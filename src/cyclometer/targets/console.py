# SPDX-License-Identifier: BSD-2-Clause
"""Reads what a machine prints to its console, within bounds of time and size; starts and stops the
machine where it is a process of ours.
"""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from cyclometer.targets import child

CONSOLE_MAX_BYTES = 256 << 20
_CHUNK_BYTES = 1 << 16
END_RECORD = b'{"kind":"end",'
_TAIL_BYTES = 256  # the longest text that ends a console
_BY_ITSELF = "ended by itself"
_DONE = "said that it was done"
_LEAVE_S = 30  # between asking a process to end and its exit, where a file is to be finished
_EXIT_S = 10  # between the end of the output and that of the process
_LOOK_S = 0.5  # between two looks at `stop`
_QUIET_S = 3.0  # behind _HALTED; until then output that the host takes late may wake the machine
# QEMU's own word, with -icount sleep=off, for a machine of halted processors without a timer.
_HALTED = b"warning: icount sleep disabled and no active timers"
IDLE = "went idle, with no timer to wake it"
IDLE_STATUS = 3  # of our simulators (machines/board/README.md), which say so in their last line
_LOST = b": idle for ever, without a timer, "

# Waits so many seconds at most for bytes: None if none came, empty at the console's end.
Take = Callable[[float], bytes | None]


@dataclass(frozen=True)
class BootResult:
    """A machine's console, and why it ended: a phrase that completes "the machine ..."."""

    console: bytes
    why: str
    done: bool = False  # the `end` record came, or what else ends a console
    status: int | None = None  # of the process, where it ended by itself


def read_console(
    command: Sequence[str],
    bound_s: float,
    stop: threading.Event | None = None,
    *,
    to_exit: bool = False,
    ends: Sequence[bytes] = (),
    shared: Sequence[int] = (),
    where: Callable[[], bytes] | None = None,
    tell: Callable[[bytes], None] | None = None,
) -> BootResult:
    """Starts `command` and reads its output until the `end` record or a line with one of the texts
    `ends`, its exit, its idling for ever, `bound_s`, CONSOLE_MAX_BYTES or `stop`.

    `to_exit` is for a process that finishes a file, and says where it was, when SIGTERM asks it to
    end: our simulators. Others are killed, not asked: an idle guest under icount makes QEMU deaf to
    SIGTERM. `shared` are files that the process inherits; `where` says at the bound where it is,
    as a last line of the console; `tell` is given the newest of the output now and then.
    """
    process = child.started(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=shared,
    )
    assert process.stdout is not None
    try:
        deadline_s = time.monotonic() + bound_s
        bounds = (deadline_s, bound_s, stop or threading.Event())
        ask = process.terminate if to_exit else None
        take = partial(_take, process.stdout.fileno())
        found = _read(_told(take, tell) if tell else take, *bounds, ask, (END_RECORD, *ends))
        if where is not None and not found.done and found.why != _BY_ITSELF:
            found = replace(found, console=found.console + where())
        return _exited(found, process.wait(_EXIT_S)) if found.why == _BY_ITSELF else found
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _exited(found: BootResult, status: int) -> BootResult:
    """A boot that ended by itself, with the code of its process."""
    if status == IDLE_STATUS and _LOST in found.console[-_TAIL_BYTES:]:
        return replace(found, why=found.why if found.done else IDLE)
    return replace(found, status=status)


def read_stream(
    take: Take, bound_s: float, stop: threading.Event, ends: Sequence[bytes] = ()
) -> BootResult:
    """Reads the console of a machine that others start and stop, as `read_console` does."""
    deadline_s = time.monotonic() + bound_s
    return _read(take, deadline_s, bound_s, stop, None, (END_RECORD, *ends))


def _take(file: int, wait_s: float) -> bytes | None:
    ready, _, _ = select.select([file], [], [], wait_s)
    return os.read(file, _CHUNK_BYTES) if ready else None


def _told(take: Take, tell: Callable[[bytes], None]) -> Take:
    """Passes on what is taken, and tells of it each _LOOK_S at most."""
    newest, told_s = b"", 0.0

    def taken(wait_s: float) -> bytes | None:
        nonlocal newest, told_s
        data = take(wait_s)
        newest = (newest + (data or b""))[-_TAIL_BYTES:]
        if time.monotonic() >= told_s + _LOOK_S:
            told_s = time.monotonic()
            tell(newest)
        return data

    return taken


def _read(
    take: Take,
    deadline_s: float,
    bound_s: float,
    stop: threading.Event,
    ask: Callable[[], None] | None,
    ends: Sequence[bytes],
) -> BootResult:
    console = bytearray()
    ended_at: int | None = None  # where the text that ends a console begins
    late, heard_s = "", time.monotonic()  # why it was asked to end; when it last said something
    while True:
        left_s = deadline_s - time.monotonic()
        data = take(max(0, min(left_s, _LOOK_S)))
        if stop.is_set():
            return BootResult(bytes(console + (data or b"")), "was interrupted")
        if data is None and left_s > _LOOK_S:
            idle = console[-_TAIL_BYTES:].rstrip().endswith(_HALTED)
            if idle and time.monotonic() > heard_s + _QUIET_S:
                return BootResult(bytes(console), IDLE)
            continue
        if data is None:
            silent = "was silent" if not console else "had not finished"
            why = late or f"{silent} after {bound_s:g} s (--watchdog allows more)"
            if ask is None or late:
                return BootResult(bytes(console), why, done=late == _DONE)
            ask()
            late, deadline_s = why, time.monotonic() + _LEAVE_S
            continue
        if not data:
            done = ended_at is not None
            return BootResult(bytes(console), late or _BY_ITSELF, done=done)
        if late == _DONE:
            continue  # where it was when it was asked to end differs from boot to boot
        before, heard_s = len(console), time.monotonic()
        console += data
        if ended_at is None:
            ended_at = _found(console, max(0, before - _TAIL_BYTES), ends)
        if not late and ended_at is not None and console.find(b"\n", ended_at) >= 0:
            if ask is None:
                return BootResult(bytes(console), _DONE, done=True)
            ask()
            late, deadline_s = _DONE, time.monotonic() + _LEAVE_S
        if len(console) > CONSOLE_MAX_BYTES:
            return BootResult(bytes(console), f"printed more than {CONSOLE_MAX_BYTES >> 20} MiB")


def _found(console: bytearray, start: int, ends: Sequence[bytes]) -> int | None:
    """Where the first of the texts begins."""
    places = [at for text in ends if (at := console.find(text, start)) >= 0]
    return min(places, default=None)
