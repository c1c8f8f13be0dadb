# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer ab`: two settings of one running machine, compared visit by visit in one session."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

from cyclometer.cli import assignments, common, judging
from cyclometer.cli.judging import Judging
from cyclometer.cli.progress import Display
from cyclometer.errors import FAILED, UsageError

if TYPE_CHECKING:
    from cyclometer.targets.api import MeasurementResult, Request
    from cyclometer.targets.linux.paired import Variant

_Command = TypeVar("_Command", bound=Callable[..., object])
_SIDES = ("before", "after")
_BUDGET_S = 60.0


def _of_each_side(command: _Command) -> _Command:
    """The options that each side has for itself."""
    for side in reversed(_SIDES):
        for decorate in (
            click.option(
                f"--harness-{side}",
                type=click.Path(exists=True, dir_okay=False, path_type=Path),
                help=f"Another build of the harness for {side.upper()}.",
            ),
            click.option(
                f"--wrap-{side}",
                metavar="WORDS",
                default="",
                help=f"Command prefix of {side.upper()}'s harness, such as 'chrt -b 0'.",
            ),
            assignments.option(
                f"--env-{side}",
                help=f"Environment variable of {side.upper()}'s circles; may be repeated.",
            ),
            click.option(
                f"--{side}",
                metavar="COMMAND",
                default="",
                help=f"Command that switches to {side.upper()}, such as 'sysctl -w kernel.x=0'.",
            ),
        ):
            command = decorate(command)
    return command


@click.command()
@_of_each_side
@click.option(
    "--undo",
    metavar="COMMAND",
    default="",
    help="Command that undoes --before and --after, if they are not plain settings.",
)
@click.option(
    "--only", multiple=True, metavar="GLOB", help="Only circles whose key matches; may be repeated."
)
@click.option(
    "--budget",
    callback=common.duration,
    metavar="TIME",
    help="Time for both sides.  [default: 60s]",
)
@common.session_options
@judging.options
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="New folder for both bundles.  [default: results/TIME-ab]",
)
def command(
    undo: str,
    only: tuple[str, ...],
    budget: float | None,
    spread_s: float | None,
    cpu: int | None,
    cpus: str | None,
    clock: str | None,
    seed: int | None,
    how: Judging,
    output: Path | None,
    **of_sides: Any,
) -> None:
    """Compare two settings of this machine in one session, visit by visit.

    This works for anything that can be switched while the machine runs: a sysctl or a file below
    /sys, environment variables (LD_PRELOAD, GLIBC_TUNABLES), a command that wraps a process
    (taskset, a container runtime), or another build of the harness. Visits of BEFORE and AFTER
    alternate, so that drift of the machine affects both alike. Settings are read back after they
    were written, and are undone however the command ends.

    Exit codes are those of `cyclometer gate`; 5 also means that the session ended early.

    Example: cyclometer ab --before 'sysctl -w kernel.sched_rt_runtime_us=950000' --after 'sysctl -w
    kernel.sched_rt_runtime_us=-1' --only 'pipe.*'

    Example: cyclometer ab --env-after LD_PRELOAD=libjemalloc.so.2 --only 'memory.*'
    """
    from cyclometer.bundle import store
    from cyclometer.compare import pairing, verdicts
    from cyclometer.doctor.switch import Switch, parse
    from cyclometer.report import comparison
    from cyclometer.targets.api import Request

    variants = [_variant(side, of_sides) for side in _SIDES]
    if variants[0].facts == variants[1].facts:
        raise UsageError("BEFORE and AFTER are alike; name what differs, as with --after COMMAND")
    folder = output or common.STORE / f"{datetime.now().astimezone():%Y-%m-%dT%H-%M-%S}-ab"
    store.refuse_existing(folder)
    request = Request(
        only=only or ("*",),
        budget_s=budget or _BUDGET_S,
        spread_s=spread_s,
        cpu=cpu,
        cpus=cpus,
        clock=clock,
        seed=seed,
    )
    switch = Switch([parse(of_sides[side]) for side in _SIDES], undo)
    try:
        results = _measure(request, variants, switch.to)
    finally:
        switch.close()
    bundles = [
        store.write(one.bundle, folder / side, {store.CONSOLE: one.console})
        for one, side in zip(results, _SIDES, strict=True)
    ]
    before, after = (pairing.side([bundle], how.options.level) for bundle in bundles)
    found = verdicts.compare(before, after, how.options)
    how.form.print(comparison, found)
    click.echo(f"stored in {folder}", err=True)
    cut_short = any(one.interrupted or one.broken for one in results)
    sys.exit(FAILED if cut_short else verdicts.gate_code(found))


def _measure(
    request: Request, variants: list[Variant], switch: Callable[[int], None]
) -> list[MeasurementResult]:
    from cyclometer import environment
    from cyclometer.targets.api import Progress
    from cyclometer.targets.linux.target import LinuxTarget

    with Display() as display:
        return LinuxTarget().measure_pair(
            request, variants, switch, environment.collect, Progress(display.show)
        )


def _variant(side: str, chosen: dict[str, Any]) -> Variant:
    """How the harness of a side is started, from its options."""
    from cyclometer.targets.linux.harness import Launch
    from cyclometer.targets.linux.paired import Variant

    named, added = partial(_option, side), chosen[f"env_{side}"]
    try:
        wrapper = tuple(shlex.split(chosen[f"wrap_{side}"]))
    except ValueError as error:
        raise UsageError(f"{named('wrap')}: {error}; check its quotes") from None
    if wrapper and shutil.which(wrapper[0]) is None:
        raise UsageError(f"{named('wrap')}: there is no program {wrapper[0]!r} here")
    program: Path | None = chosen[f"harness_{side}"]
    if program is not None and not os.access(program, os.X_OK):
        raise UsageError(f"{named('harness')}: {program} cannot be executed")
    facts = {
        "command": chosen[side],
        "environment": shlex.join(f"{name}={value}" for name, value in sorted(added.items())),
        "wrapper": chosen[f"wrap_{side}"],
        "harness": "" if program is None else str(program.resolve()),
    }
    stated = {name: value for name, value in facts.items() if value}
    return Variant(Launch(wrapper, added), program and program.resolve(), stated)


def _option(side: str, name: str) -> str:
    return f"--{name}-{side}"
