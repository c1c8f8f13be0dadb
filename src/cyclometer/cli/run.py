# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer run`: measure a target and store a bundle."""

from __future__ import annotations

import json
import sys
import time
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import common
from cyclometer.errors import FAILED, UsageError
from cyclometer.units import seconds

if TYPE_CHECKING:
    from cyclometer.bundle.model import Bundle
    from cyclometer.targets.linux import Measured, Settings

_SAY_EVERY_S = 5.0
_QUICK = {"runs": 3, "rounds": 1, "budget_s": 12.0}


def _duration(_: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    try:
        return None if value is None else seconds(value)
    except ValueError as error:
        raise click.BadParameter(str(error), param=parameter) from error


@click.command()
@click.option("--target", default="linux", show_default=True, help="What to measure; see `cyclometer list`.")
@click.option("--only", multiple=True, metavar="GLOB", help="Only circles whose key matches; may be repeated.")
@click.option("--runs", type=click.IntRange(1, 100), help="Process starts.  [default: 5]")
@click.option("--budget", callback=_duration, metavar="TIME", help="Time for everything, as 60s or 2m.  [default: 60s]")
@click.option("--quick", is_flag=True, help="Three short runs, about 12 s: a first look.")
@click.option("--method", type=click.Choice(["accumulated", "direct", "passes"]), help="Instead of each circle's own.")
@click.option("--cpu", type=click.IntRange(0), help="CPU of all participants.  [default: the last one]")
@click.option("--clock", type=click.Choice(["native", "cycles"]), default="native", show_default=True)
@click.option("--seed", type=int, help="Seed of the random order.  [default: from the time; always recorded]")
@click.option("--watchdog", type=click.IntRange(1, 3600), default=10, show_default=True, help="Seconds for a visit.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The new bundle.  [default: results/TIME-TARGET]")
@click.option("--json", "as_json", is_flag=True, help="Print the estimates as JSON instead of the table.")
def command(
    target: str, only: tuple[str, ...], runs: int | None, budget: float | None, quick: bool, method: str | None,
    cpu: int | None, clock: str, seed: int | None, watchdog: int, output: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Measure a target and store a bundle.

    Circles and runs are visited in one random, recorded order; Ctrl-C keeps what was measured.

    Example: cyclometer run --only 'pipe.*' --budget 20s -o results/before
    """
    from cyclometer.targets.linux import Settings

    if target != "linux":
        raise UsageError(f"there is no target {target!r}; `cyclometer list` names those there are")
    chosen = {"runs": 5, "rounds": 3, "budget_s": 60.0} | (_QUICK if quick else {})
    chosen |= {k: v for k, v in {"runs": runs, "budget_s": budget}.items() if v is not None}
    settings = Settings(
        runs=int(chosen["runs"]), rounds=int(chosen["rounds"]), budget_s=chosen["budget_s"], only=only or ("*",),
        method=method, cpu=cpu, clock=clock, seed=time.time_ns() % 2**31 if seed is None else seed, watchdog_s=watchdog,
    )  # fmt: skip
    measured = _measure(settings)
    stored = _store(measured, output or _default_path(target))
    _print(stored, as_json)
    click.echo(f"stored in {stored.path}", err=True)
    if measured.interrupted:
        click.echo("cyclometer: interrupted; the bundle holds what was measured until then", err=True)
        sys.exit(FAILED)


def _measure(settings: Settings) -> Measured:
    from cyclometer import environment
    from cyclometer.targets.linux import LinuxTarget, Progress

    with _Display() as display:
        return LinuxTarget().measure(settings, environment.collect(), Progress(display.show))


def _store(measured: Measured, path: Path) -> Bundle:
    from cyclometer.bundle import store

    console = b"".join(f"== {name}\n".encode() + text for name, text in measured.consoles.items())
    return store.write(measured.bundle, path, {store.CONSOLE: console})


def _default_path(target: str) -> Path:
    return common.STORE / f"{datetime.now().astimezone():%Y-%m-%dT%H-%M-%S}-{target}"


def _print(bundle: Bundle, as_json: bool) -> None:
    from cyclometer.report import table

    if as_json:
        click.echo(json.dumps(table.as_json(bundle), indent=1))
    else:
        table.show(bundle)


class _Display(AbstractContextManager["_Display"]):
    """A progress bar on a terminal, a line now and then elsewhere. Redrawn between visits only, never during one."""

    def __init__(self) -> None:
        self._bar = None
        self._said = 0.0
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description:44}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
            console = Console(stderr=True)
            self._bar = Progress(*columns, TimeRemainingColumn(), console=console, auto_refresh=False, transient=True)
            self._task = self._bar.add_task("")
            self._bar.start()

    def show(self, done: int, total: int, key: str) -> None:
        """Called between visits."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, description=key[:44], refresh=True)
        elif time.monotonic() - self._said > _SAY_EVERY_S:
            self._said = time.monotonic()
            click.echo(f"{done}/{total} {key}", err=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
