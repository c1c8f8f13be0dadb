# SPDX-License-Identifier: BSD-2-Clause
"""A whole sweep: what a store lacks of a plan is measured, and a share of it measured twice."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cyclometer.errors import MeasurementFailed
from cyclometer.store import index, layout
from cyclometer.store.location import Location
from cyclometer.sweep import done, engine
from cyclometer.sweep.plan import SweepPlan
from cyclometer.sweep.task import Task
from cyclometer.sweep.work import Outcome


@dataclass
class SweepReport:
    """What a sweep came to. `failed` and `unlike` hold a sentence a task, by its name."""

    tasks: int
    there: int  # done before
    done: int = 0  # in the end, those included
    checked: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unlike: dict[str, str] = field(default_factory=dict)
    duplicates: int = 0  # bundles taken out of the table again
    interrupted: str = ""  # why it ended early

    @property
    def is_complete(self) -> bool:
        return not (self.missing or self.unlike or self.interrupted)


Progress = Callable[[int, int, str], None]


def run(
    plan: SweepPlan,
    location: Location,
    scheduler: str | None,
    workers: int | None,
    share: float,
    progress: Progress,
) -> SweepReport:
    """Measures what the store lacks on a cluster.

    share: of the exact tasks measured now, how many are measured again on another worker; one at
    least unless it is 0. An interrupt or a lost scheduler ends the sweep with what is done.
    """
    known = done.of(location, plan.tasks)
    missing = [task for task in plan.tasks if task.name not in known]
    report = SweepReport(len(plan.tasks), len(known))
    for path in plan.images.values():
        done.put_image(location, path)
    if missing:
        _measure(location, missing, scheduler, workers, share, progress, report)
    return _settled(plan, location, report)


def _measure(
    location: Location,
    missing: Sequence[Task],
    scheduler: str | None,
    workers: int | None,
    share: float,
    progress: Progress,
    report: SweepReport,
) -> None:
    by_name = {task.name: task for task in missing}
    ended: dict[str, Outcome] = {}

    def note(outcome: Outcome) -> None:
        ended[outcome.name] = outcome
        if outcome.error:
            report.failed[outcome.name] = outcome.error
        failed = f", {len(report.failed)} failed" if report.failed else ""
        progress(len(ended), len(missing), f"{outcome.where}{failed}")

    progress(0, len(missing), "starting workers")
    try:
        with engine.cluster(scheduler, workers) as client:
            engine.perform(client, missing, location.url, note)
            fresh = [
                (by_name[name], outcome)
                for name, outcome in ended.items()
                if not outcome.error and by_name[name].is_exact
            ]
            _check(client, location, _sample(fresh, share), progress, report)
    except KeyboardInterrupt:
        report.interrupted = "interrupted"
    except MeasurementFailed as error:
        report.interrupted = str(error)


def _sample(fresh: Sequence[tuple[Task, Outcome]], share: float) -> list[tuple[Task, Outcome]]:
    """The tasks to be checked, the same ones for the same tasks."""
    number = math.ceil(share * len(fresh))
    ordered = sorted(fresh, key=lambda pair: pair[0].name)
    return random.Random(len(ordered)).sample(ordered, number)


def _check(
    client: object,
    location: Location,
    sample: Sequence[tuple[Task, Outcome]],
    progress: Progress,
    report: SweepReport,
) -> None:
    first = {task.name: (task, outcome) for task, outcome in sample}

    def note(outcome: Outcome) -> None:
        report.checked += 1
        progress(report.checked, len(sample), f"checking on {outcome.where}")
        task, before = first[outcome.name]
        if outcome.error:
            report.unlike[task.name] = f"measuring it again failed: {outcome.error}"
        elif outcome.result != before.result:
            report.unlike[task.name] = (
                f"{before.where} measured {before.result[:12]}, "
                f"{outcome.where} {outcome.result[:12]}"
            )

    pairs = [(task, outcome.where) for task, outcome in sample]
    engine.check(client, pairs, location.url, note)


def _settled(plan: SweepPlan, location: Location, report: SweepReport) -> SweepReport:
    """Asks the store what is there, and takes out what a worker given up for dead measured too."""
    owners: dict[str, list[str]] = {}
    with index.tables(location) as database:
        listed = database.execute("SELECT task, bundle FROM bundles WHERE task <> ''").fetchall()
    entries = {layout.digest_of(name): name for name in location.names("bundles")}
    for task, bundle in listed:
        if bundle in entries:
            owners.setdefault(task, []).append(entries[bundle])
    report.duplicates = done.settle(location, plan.tasks, owners)
    known = done.of(location, plan.tasks)
    report.done = len(known)
    report.missing = [task.name for task in plan.tasks if task.name not in known]
    report.failed = {name: why for name, why in report.failed.items() if name not in known}
    return report
