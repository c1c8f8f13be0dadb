# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer sweep`: a plan's tasks on many workers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import common
from cyclometer.errors import FAILED, PASS, MeasurementFailed, UsageError
from cyclometer.units import percent

if TYPE_CHECKING:
    from cyclometer.report.documents import swept
    from cyclometer.store.location import Location
    from cyclometer.sweep.plan import SweepPlan
    from cyclometer.sweep.sweep import SweepReport

_MOST_NAMED = 20


def _share(_: click.Context, parameter: click.Parameter, value: str) -> float:
    try:
        share = percent(value)
    except ValueError as error:
        raise click.BadParameter(str(error), param=parameter) from error
    if not 0 <= share <= 1:
        raise click.BadParameter(f"{value!r} is not a share from 0% to 100%", param=parameter)
    return share


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@click.option(
    "--store",
    "url",
    default="results/store",
    show_default=True,
    metavar="URL",
    help="Store for the bundles; a missing folder is created.",
)
@click.option("--dry-run", is_flag=True, help="List the tasks and the expected time, and run none.")
@click.option("--task", "number", type=click.IntRange(1), help="Run only task N, here and now.")
@click.option("--status", is_flag=True, help="Print which tasks the store has, and run none.")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Run on this Dask scheduler, such as tcp://host:8786.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 1024),
    help="Workers on this machine.  [default: one per CPU]",
)
@click.option(
    "--check",
    "share",
    default="5%",
    show_default=True,
    callback=_share,
    metavar="SHARE",
    help="Share of the tasks with an exact clock that another worker measures again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result of the sweep as JSON.")
def command(
    plan: Path,
    url: str,
    dry_run: bool,
    number: int | None,
    status: bool,
    scheduler: str | None,
    workers: int | None,
    share: float,
    as_json: bool,
) -> None:
    """Run the tasks of PLAN that are not in the store, on all processors or on a Dask cluster.

    An interrupted sweep continues where it stopped.

    Exit codes: 0 if the sweep is complete, 5 if tasks are missing, or if a task with an exact clock
    gave another result when it was measured again.

    Example: cyclometer sweep plan.toml --dry-run

    Example: cyclometer sweep examples/sweeps/layouts.toml --store results/store
    """
    from cyclometer.sweep import plan as plans

    if sum((dry_run, number is not None, status)) > 1:
        raise UsageError("--dry-run, --task and --status exclude each other; choose one")
    read = plans.read(plan)
    if dry_run:
        _list(read, url, workers, as_json)
        return
    location = _store(url)
    if number is not None:
        sys.exit(_one(read, location, number, as_json))
    report = (
        _status(read, location) if status else _swept(read, location, scheduler, workers, share)
    )
    if as_json:
        common.print_json(_document(report))
    else:
        _print(read, _document(report))
    sys.exit(PASS if report.is_complete else FAILED)


def _store(url: str) -> Location:
    """The store at `url`; a local folder that is not there is made one."""
    from cyclometer.store import layout
    from cyclometer.store.location import Location

    location = Location(url)
    if location.is_local:
        url = str(location.local("").resolve())  # workers have other working directories
        if not Path(url).exists():
            layout.init(Location(url))
    return layout.opened(url)


def _list(plan: SweepPlan, url: str, workers: int | None, as_json: bool) -> None:
    """Prints the tasks with what the store knows of them; nothing is made or changed."""
    from cyclometer.report.documents import swept
    from cyclometer.store import layout
    from cyclometer.sweep import done
    from cyclometer.targets import build

    there = "://" in url or (Path(url) / layout.MARK).exists()
    location = layout.opened(url) if there else None
    known = done.of(location, plan.tasks) if location else {}
    typical = done.typical_s(location) if location else {}
    missing = [task for task in plan.tasks if task.name not in known]
    lanes = workers or build.cores()
    timed = [typical.get(task.target) for task in missing]
    expected_s = sum(t for t in timed if t) / lanes if all(timed) else None
    tasks = [
        swept.PlannedTask(n, task.name, task.title, task.name in known)
        for n, task in enumerate(plan.tasks, 1)
    ]
    if as_json:
        common.print_json(swept.SweepPlan(tasks, expected_s))
        return
    for one, title in zip(tasks, plan.titles, strict=True):
        mark = "done" if one.done else "    "
        click.echo(f"{one.n:5} {one.task[:12]} {mark} {title}")
    duration = "the time is unknown: the store has no bundle of their kind"
    if expected_s is not None:
        duration = f"about {_spelled(expected_s)} on {lanes} workers"
    click.echo(f"{len(missing)} of {len(tasks)} tasks to run; {duration}")


def _spelled(time_s: float) -> str:
    """A duration to two digits or so: 40 s, 12 min, 3.4 h."""
    if time_s < 100:
        return f"{time_s:.0f} s"
    return f"{time_s / 60:.0f} min" if time_s < 6000 else f"{time_s / 3600:.1f} h"


def _one(plan: SweepPlan, location: Location, number: int, as_json: bool) -> int:
    """Runs one task in this process; the exit code."""
    from cyclometer.report.documents.swept import SweepTask
    from cyclometer.sweep import done, work

    if number > len(plan.tasks):
        raise UsageError(f"the plan has {len(plan.tasks)} tasks; --task {number} names none")
    task, title = plan.tasks[number - 1], plan.titles[number - 1]
    if task.image:
        done.put_image(location, plan.images[task.image])
    outcome = work.perform(task, location.url)
    if outcome.error:
        raise MeasurementFailed(f"task {number} ({title}) failed: {outcome.error}")
    record = SweepTask(task.name, outcome.result, outcome.was_there)
    if as_json:
        common.print_json(record)
    else:
        state = "was there" if record.was_there else "done"
        click.echo(f"{record.task[:12]} {state}: {title}")
    return PASS


def _status(plan: SweepPlan, location: Location) -> SweepReport:
    from cyclometer.sweep import done
    from cyclometer.sweep.sweep import SweepReport

    known = done.of(location, plan.tasks)
    missing = [task.name for task in plan.tasks if task.name not in known]
    return SweepReport(len(plan.tasks), len(known), len(known), missing=missing)


def _swept(
    plan: SweepPlan, location: Location, scheduler: str | None, workers: int | None, share: float
) -> SweepReport:
    from cyclometer.cli.progress import Display
    from cyclometer.sweep import sweep

    with Display() as display:
        return sweep.run(plan, location, scheduler, workers, share, display.show)


def _document(report: SweepReport) -> swept.Sweep:
    from cyclometer.report.documents import swept

    return swept.Sweep(
        tasks=report.tasks,
        done=report.done,
        there=report.there,
        checked=report.checked,
        failed=report.failed,
        missing=report.missing,
        unlike=report.unlike,
        duplicates=report.duplicates,
        interrupted=report.interrupted,
    )


def _print(plan: SweepPlan, report: swept.Sweep) -> None:
    titles = {
        task.name: (n, title)
        for n, (task, title) in enumerate(zip(plan.tasks, plan.titles, strict=True), 1)
    }
    for why in (report.failed, report.unlike):
        for name, reason in list(why.items())[:_MOST_NAMED]:
            n, title = titles[name]
            click.echo(f"task {n} ({title}): {reason}", err=True)
    quiet = [name for name in report.missing if name not in report.failed]
    for name in quiet[:_MOST_NAMED]:
        n, title = titles[name]
        click.echo(f"task {n} ({title}): not run", err=True)
    click.echo(_sentence(report))


def _sentence(report: swept.Sweep) -> str:
    parts = [f"{report.done} of {report.tasks} tasks done, {report.there} of them before"]
    if report.checked:
        same = report.checked - len(report.unlike)
        parts.append(f"{same} of {report.checked} measured again with the same result")
    if report.duplicates:
        parts.append(f"{report.duplicates} bundles measured twice were taken out")
    if report.interrupted:
        parts.append(f"{report.interrupted}; the same command goes on from here")
    elif report.missing:
        parts.append(f"{len(report.missing)} missing; the same command runs them")
    return "; ".join(parts) + "."
