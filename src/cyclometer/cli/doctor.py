# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer doctor`: examine, tune and restore the machine."""

from __future__ import annotations

import shutil
import sys
import textwrap
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import rich_click as click

from cyclometer import errors
from cyclometer.cli import common, sides
from cyclometer.cli.common import print_json
from cyclometer.cli.progress import Display
from cyclometer.environment import ROOT

if TYPE_CHECKING:
    from cyclometer.doctor.checks import CheckResult
    from cyclometer.doctor.observe import Observation
    from cyclometer.doctor.tune import SettingChange
    from cyclometer.report.documents import machine

SESSIONS = 5
"""Sessions of a calibration: ten pairs."""
CALIBRATION_S = 300.0
COLOURS = {"ok": "green", "warn": "yellow", "bad": "red", "unknown": "blue"}


@click.command("doctor")
@click.option(
    "--cpu",
    type=click.IntRange(min=0),
    help="The CPU to measure on.  [default: the last one available]",
)
@click.option(
    "--tune",
    "action",
    flag_value="tune",
    help="Change the settings that disturb measurements, as far as possible.",
)
@click.option(
    "--restore", "action", flag_value="restore", help="Undo every change that --tune or `ab` made."
)
@click.option(
    "--calibrate",
    "action",
    flag_value="calibrate",
    help="Measure how far sessions of this machine differ, and keep it for `compare`.",
)
@click.option(
    "--exact",
    "action",
    flag_value="exact",
    help="Measure the exact targets, and count their rows; with --json, print every value.",
)
@click.option(
    "--against",
    metavar="ssh://HOST",
    help="Compare the counts of the exact targets with those on another host, to the byte.",
)
@click.option(
    "--budget",
    callback=common.duration,
    metavar="TIME",
    help="Time for --calibrate.  [default: 5m]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.argument("bundles", nargs=-1, type=click.Path(exists=True, path_type=Path))
def command(
    cpu: int | None,
    action: str | None,
    against: str | None,
    budget: float | None,
    as_json: bool,
    bundles: tuple[Path, ...],
) -> None:
    """Check this machine for sources of noise; print what each costs and how to remove it.

    --tune writes the old value of each setting to a journal on disk before it changes it, so that
    --restore can bring all of them back, even after a crash. A reboot undoes --tune by itself.

    --calibrate measures five sessions, one after the other. With BUNDLES, it learns from these
    instead; they are sessions of an unchanged machine, and may be days apart.

    --against runs the exact targets here and on another host, and lists the rows and the versions
    that differ.

    Exit codes: 0, or 4 if a check fails, if --tune or --restore could change none of the settings
    that it had to, or if two hosts disagree.

    Example: cyclometer doctor

    Example: cyclometer doctor --tune && cyclometer run && cyclometer doctor --restore
    """
    if action == "calibrate":
        _calibrate(cpu, budget or CALIBRATION_S, bundles, as_json)
        return
    if bundles or budget is not None:
        raise errors.UsageError("BUNDLES and --budget are for --calibrate; add it")
    if against is not None and action is not None:
        raise errors.UsageError(f"--against compares hosts; leave --{action} out")
    if against is not None:
        sys.exit(errors.PASS if _agrees(against, as_json) else errors.NOT_COMPARABLE)
    if action == "exact":
        _count(as_json)
        return
    done = {"tune": _tune, "restore": _restore}.get(action or "", _examine)(cpu, as_json)
    sys.exit(errors.PASS if done else errors.NOT_COMPARABLE)


def _examine(cpu: int | None, as_json: bool) -> bool:
    from cyclometer.doctor import checks, observe, tune
    from cyclometer.report.documents import machine

    seen = observe.observe(cpu, ROOT)
    found = machine.Machine(
        seen.cpu,
        [_result(one) for one in (*checks.examine(seen), _check_clocks(seen))],
        tune.tuned(tune.default_journal(), ROOT),
        dict(seen.facts),
    )
    if as_json:
        print_json(found)
    else:
        _print_machine(found)
    return not any(one.state == checks.BAD for one in found.findings)


def _result(one: CheckResult) -> machine.CheckResult:
    from cyclometer.report.documents import machine

    return machine.CheckResult(one.name, one.state, one.found, one.cost, one.change)


def _print_machine(found: machine.Machine) -> None:
    click.echo(f"CPU {found.cpu} of {found.environment.get('cpu_model', 'a nameless machine')}")
    for one in found.findings:
        _print_finding(one)
    if found.tuned:
        click.echo(
            f"{len(found.tuned)} settings are tuned; `cyclometer doctor --restore` undoes that"
        )


def _check_clocks(seen: Observation) -> CheckResult:
    """Which clocks of the harness work here, tried with it."""
    from cyclometer.doctor.checks import OK, UNKNOWN, WARN, CheckResult
    from cyclometer.targets.linux import clocks
    from cyclometer.targets.linux.harness import PLAIN
    from cyclometer.targets.linux.target import program_for

    try:
        found = clocks.usable(program_for([PLAIN]), seen.cpu)
    except errors.CyclometerError as error:
        return CheckResult("clocks", UNKNOWN, f"the harness cannot try them: {error}")
    said = f"native ({found.native.name} at {found.native.hz / 1e9:.3g} GHz)"
    if found.reference:
        said += f", referenced (by {found.reference})"
    said += f"; cycles is refused: {found.cycles_refusal}" if found.cycles_refusal else ", cycles"
    if not seen.abilities.counter_offered or found.reference != clocks.CHAIN:
        return CheckResult("clocks", OK, said)
    cost = "the machine emulates the counter: each reading takes thousands of ticks"
    return CheckResult("clocks", WARN, said, cost, "measure with --clock referenced")


def _print_finding(finding: machine.CheckResult) -> None:
    state = click.style(f"{finding.state:<8}", fg=COLOURS[finding.state])
    click.echo(f"{state}{finding.name:<17}{_wrap(finding.found)}")
    for label, sentence in (("costs", finding.cost), ("change", finding.change)):
        if sentence:
            click.echo(f"{'':<17}{label:<8}{_wrap(sentence)}")


def _wrap(sentence: str) -> str:
    width = max(shutil.get_terminal_size((120, 24)).columns - 25, 40)
    return ("\n" + " " * 25).join(textwrap.wrap(sentence, width))


def _tune(cpu: int | None, as_json: bool) -> bool:
    from cyclometer.doctor import knobs, observe, tune

    journal = tune.default_journal()
    changes = tune.tune(knobs.knobs(ROOT, observe.chosen_cpu(cpu, ROOT)), journal, ROOT)
    return _print_changes(
        changes, as_json, f"`cyclometer doctor --restore` undoes this (journal {journal})"
    )


def _restore(cpu: int | None, as_json: bool) -> bool:
    from cyclometer.doctor import switch, tune

    if cpu is not None:
        raise errors.UsageError("--restore undoes every change, whichever the CPU; leave --cpu out")
    changes = [
        change
        for journal in (switch.default_journal(), tune.default_journal())
        for change in tune.restore(journal, ROOT)
    ]
    return _print_changes(changes, as_json, "every setting is as it was")


def _count(as_json: bool) -> None:
    """Prints what the exact targets of this machine count."""
    from cyclometer.sweep import agreement
    from cyclometer.targets.api import Progress

    with Display() as display:
        found = agreement.counted(Progress(display.show))
    if as_json:
        print_json(found)
        return
    for name, one in found.targets.items():
        click.echo(f"{name}: {one.missing or f'{len(one.rows)} rows counted'}")


def _agrees(url: str, as_json: bool) -> bool:
    """Compares the exact targets of this machine with those of another, and prints how they do."""
    from cyclometer.report.documents import machine
    from cyclometer.sweep import agreement
    from cyclometer.targets.api import Progress
    from cyclometer.targets.ssh.line import parse

    line = parse(url)
    there = agreement.asked(line)
    with Display() as display:
        found = agreement.compared(agreement.counted(Progress(display.show)), there)
    if as_json:
        print_json(machine.Agreement(line.host, found))
    else:
        for one in found:
            click.echo(agreement.sentence(one))
    return agreement.agree(found)


def _calibrate(cpu: int | None, budget_s: float, bundles: tuple[Path, ...], as_json: bool) -> None:
    """Learns from bundles, or from sessions that it measures and keeps in the store."""
    from cyclometer.compare import calibration, pairing
    from cyclometer.report.documents import machine

    paths = list(bundles) or _sessions(cpu, budget_s)
    known = calibration.learn([pairing.side([bundle]) for bundle in sides.load(paths)])
    kept = calibration.keep(known, sides.calibrations())
    if as_json:
        content = msgspec.to_builtins(known) | {"kept": str(kept)}
        print_json(msgspec.convert(content, machine.Calibration))
        return
    for sentence in calibration.sentences(known):
        click.echo(sentence)
    click.echo(f"kept in {kept}; `cyclometer compare` reads it")


def _sessions(cpu: int | None, budget_s: float) -> list[Path]:
    """Measures sessions one after the other; where their bundles are."""
    from cyclometer import environment
    from cyclometer.bundle import store
    from cyclometer.targets.api import Progress, Request
    from cyclometer.targets.registry import TARGETS

    folder = common.STORE / f"{datetime.now().astimezone():%Y-%m-%dT%H-%M-%S}-calibration"
    found = []
    for number in range(1, SESSIONS + 1):
        request = Request(budget_s=budget_s / SESSIONS, cpu=cpu)
        with Display() as display:
            measured = TARGETS.load("linux").measure(
                request, environment.collect(), Progress(display.show)
            )
        if measured.interrupted:
            raise errors.MeasurementFailed("interrupted; nothing about sessions is kept")
        path = folder / str(number)
        store.write(measured.bundle, path, {store.CONSOLE: measured.console})
        found.append(path)
    return found


def _print_changes(changes: list[SettingChange], as_json: bool, closing: str) -> bool:
    """Print what was changed and, one sentence per reason, what was not; False if nothing was that
    had to be.
    """
    from cyclometer.report.documents import machine

    made = [machine.Setting(one.path, one.was, one.now, one.refusal) for one in changes]
    refused = [one for one in made if one.refusal]
    done = len(refused) < len(made) or not made
    if as_json:
        print_json(machine.Settings(made))
        return done
    for one in made:
        if not one.refusal:
            click.echo(f"/{one.path}: {one.was} -> {one.now}")
    for reason in sorted({one.refusal for one in refused}):
        paths = ", ".join(f"/{one.path}" for one in refused if one.refusal == reason)
        click.echo(_wrap(f"not changed ({reason}): {paths}"))
    click.echo(closing if len(refused) < len(made) else "nothing was changed")
    return done
