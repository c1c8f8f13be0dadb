# SPDX-License-Identifier: BSD-2-Clause
"""What a sweep adds to its tasks, and what a second worker gains: plans, swept on one and on two.

`python tools/sweep_speed.py PLAN...` prints two lines for each plan, whose tasks must be exact.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from cyclometer.errors import MeasurementFailed
from cyclometer.store import layout
from cyclometer.store.location import Location
from cyclometer.sweep import done, engine, plan
from cyclometer.sweep.task import Task, facts

ADDED_TARGET_MS = 50.0
SPEED_UP_TARGET = 1.8
WORKERS = 2


@dataclass(frozen=True)
class Sweep:
    """What tasks took: from the first one's start to the last one's end, and the runs alone."""

    tasks: int
    wall_s: float
    runs_s: float

    @property
    def added_ms(self) -> float:
        """What one worker takes for a task beside its run: the engine's part and the store's."""
        return 1e3 * (self.wall_s - self.runs_s) / self.tasks


def write_plan(path: Path, target: str, circle: str, tasks: int) -> Path:
    """A plan of equal tasks of one circle, of which the first ones will prepare the workers."""
    path.write_text(
        f'[sweep]\ntarget = "{target}"\ncircles = ["{circle}"]\nruns = 1\n'
        f"repetitions = {WORKERS + tasks}\n"
    )
    return path


def measure(path: Path) -> None:
    """Prints the lines of a plan. Raises MeasurementFailed if a task does."""
    tasks = plan.read(path).tasks
    target = tasks[0].target
    one, two = _swept(tasks, 1), _swept(tasks, WORKERS)
    print(
        f"sweep            {one.added_ms:.0f} ms a task of {target} beside its run of "
        f"{one.runs_s / one.tasks:.2f} s, bundle stored (target {ADDED_TARGET_MS:.0f} ms)"
    )
    print(
        f"sweep            {one.tasks} tasks of {target} {one.wall_s / two.wall_s:.2f} times as "
        f"fast on {WORKERS} workers as on 1 (target {SPEED_UP_TARGET})"
    )


def _swept(tasks: Sequence[Task], workers: int) -> Sweep:
    """All tasks but the first ones, which build and load what the others find ready."""
    with tempfile.TemporaryDirectory() as folder, engine.cluster(None, workers) as client:
        layout.init(Location(folder))
        location = layout.opened(folder)
        client.run(facts, tasks[0].target)
        _perform(client, tasks[:WORKERS], folder)
        rest = tasks[WORKERS:]
        began = monotonic()
        _perform(client, rest, folder)
        wall_s = monotonic() - began
        return Sweep(len(rest), wall_s, sum(d.took_s for d in done.of(location, rest).values()))


def _perform(client: object, tasks: Sequence[Task], url: str) -> None:
    failed: list[str] = []
    engine.perform(client, tasks, url, lambda outcome: failed.append(outcome.error))
    if any(failed):
        raise MeasurementFailed(next(filter(None, failed)))


def main(paths: Sequence[str]) -> None:
    for path in paths:
        measure(Path(path))


if __name__ == "__main__":
    main(sys.argv[1:])
