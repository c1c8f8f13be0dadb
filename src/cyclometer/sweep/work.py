# SPDX-License-Identifier: BSD-2-Clause
"""What a worker does with a task: measure it and push its bundle, or measure it again to check."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from cyclometer import environment
from cyclometer.bundle import store as folders
from cyclometer.bundle.model import Bundle
from cyclometer.errors import CyclometerError, MeasurementFailed, NotComparable
from cyclometer.store import layout, rows, transfer
from cyclometer.store.location import Location
from cyclometer.sweep import done
from cyclometer.sweep.done import Done
from cyclometer.sweep.task import Task, facts, request
from cyclometer.targets.api import SILENT, MeasurementResult
from cyclometer.targets.registry import TARGETS


class Outcome(msgspec.Struct, frozen=True):
    """What became of a task on a worker. `result` is empty where it failed; `error` says why."""

    name: str
    where: str
    result: str = ""
    error: str = ""
    was_there: bool = False


def perform(task: Task, url: str, core: int | None = None, worker: str = "") -> Outcome:
    """Measures a task and pushes its bundle into the store, unless it is there already.

    core: the processor of an exact task; None: all of them.
    """
    where = f"{platform.node()} {worker}".strip()
    try:
        location = layout.opened(url)
        known = done.one(location, task)
        if known is not None:
            return Outcome(task.name, known.where, known.result, was_there=True)
        began = time.monotonic()
        with _on(core if task.is_exact else None):
            measured = _measured(task, location)
        return Outcome(
            task.name, where, _pushed(task, measured, location, time.monotonic() - began, where)
        )
    except (CyclometerError, OSError) as error:
        return Outcome(task.name, where, error=" ".join(str(error).split()))


def again(task: Task, url: str, core: int | None = None, worker: str = "") -> Outcome:
    """Measures a task and says with which result; nothing is stored."""
    where = f"{platform.node()} {worker}".strip()
    try:
        with _on(core):
            measured = _measured(task, layout.opened(url))
        return Outcome(task.name, where, rows.result(measured.bundle))
    except (CyclometerError, OSError) as error:
        return Outcome(task.name, where, error=" ".join(str(error).split()))


def _measured(task: Task, location: Location) -> MeasurementResult:
    """Raises NotComparable on a machine whose versions or sources are not those of the plan's,
    MeasurementFailed if it was interrupted.
    """
    here = facts(task.target)
    if here != task.facts:
        names = sorted({*here, *task.facts})
        unlike = [n for n in names if here.get(n) != task.facts.get(n)]
        differences = "; ".join(
            f"{n} {here.get(n, 'none')} against {task.facts.get(n, 'none')}" for n in unlike
        )
        raise NotComparable(
            f"{platform.node()} differs from the machine that made the plan ({differences}); "
            "install the same versions there"
        )
    image = done.get_image(location, task.image) if task.image else None
    measured: MeasurementResult = TARGETS.load(task.target).measure(
        request(task, image), environment.collect(), SILENT
    )
    if measured.interrupted:  # it holds only some of the circles
        raise MeasurementFailed("the measurement was interrupted; the same sweep runs it again")
    return measured


def _pushed(
    task: Task, measured: MeasurementResult, location: Location, took_s: float, where: str
) -> str:
    """Stores what was measured as the task's bundle; its result."""
    identity = measured.bundle.identity
    plan = {**identity.plan, rows.TASK: task.name}
    bundle = Bundle(
        msgspec.structs.replace(identity, plan=plan, title=identity.title or task.title),
        measured.bundle.samples,
    )
    result = rows.result(bundle)

    def announce(stored: Bundle, entry: str) -> None:
        note = Done(stored.digest, entry, result, took_s, where, task.target)
        location.write(done.note_of(task.name), msgspec.json.encode(note))

    console = b"".join(f"== {name}\n".encode() + text for name, text in measured.consoles.items())
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "bundle")
        folders.write(bundle, path, {folders.CONSOLE: console})
        transfer.push(location, path, announce)
    return result


@contextmanager
def _on(core: int | None) -> Iterator[None]:
    """Runs this thread, and what it starts, on one processor."""
    before = os.sched_getaffinity(0)
    if core is not None:
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
