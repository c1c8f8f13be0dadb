# SPDX-License-Identifier: BSD-2-Clause
"""The two sides of `compare` and `gate`: operands, options, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import assignments, judging
from cyclometer.errors import NothingMeasured, UsageError

if TYPE_CHECKING:
    from cyclometer.bundle.model import Bundle
    from cyclometer.compare.finding import Options
    from cyclometer.compare.pairing import Across, Side
    from cyclometer.compare.verdicts import Comparison

_BETWEEN = "\0"  # stands for `--` among the operands; no path can hold it
_STATES = ("before", "after")


class TwoSides(click.RichCommand):
    """A command whose operands may be separated by `--`, which click alone would swallow."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [_BETWEEN if arg == "--" else arg for arg in args])


def _across(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, tuple[str, str] | None]:
    found: dict[str, tuple[str, str] | None] = {}
    for value in values:
        name, ends = assignments.choices(value) if "=" in value else (value, [])
        if not name or len(ends) not in (0, 2):
            raise click.BadParameter(
                f"{value!r} is neither NAME nor NAME=BEFORE,AFTER", ctx, parameter
            )
        found[name] = (ends[0], ends[1]) if ends else None
    return found


across_option = click.option(
    "--across",
    multiple=True,
    callback=_across,
    metavar="NAME[=X,Y]",
    help=(
        "Compare rows even if option NAME (or target, cpu) differs; with X,Y, before has NAME=X "
        "and after has NAME=Y."
    ),
)
_OPERANDS = click.argument("operands", nargs=-1, required=True, metavar="BEFORE... [--] AFTER...")


def options(command: Callable[..., None]) -> Callable[..., None]:
    """The operands and options that `compare` and `gate` share."""
    judged = across_option(judging.options(command))
    return _OPERANDS(judging.on_option(judging.layout_floor_option(judged)))


def compare(operands: Sequence[str], chosen: Options, across: Across) -> Comparison:
    """Loads both sides and judges every circle. Raises UsageError if the operands do not say
    which side is which.
    """
    from cyclometer.compare import verdicts

    before, after = _parted(operands)
    if after:
        sides = _side(before, chosen.level), _side(after, chosen.level)
        _refuse_unknown(across, sides)
        found = verdicts.compare(*sides, calibrated(chosen, sides[0]), across)
        if not found.findings and all(side.circles for side in sides):
            asked = " or ".join(chosen.on)
            raise NothingMeasured(f"no circle has {asked} on both sides; leave --on out")
        return found
    both = _side(before, chosen.level)
    _refuse_unknown(across, (both,))
    if not any(across.values()):
        across = {**across, "state": _STATES}
    found = verdicts.compare(both, both, chosen, across)
    if both.circles and not found.findings:
        asked = ", ".join(f"{name}={', '.join(ends)}" for name, ends in across.items() if ends)
        raise UsageError(
            f"{before[0]} does not hold both sides (rows of {asked}); name what came after, too"
        )
    return found


def _refuse_unknown(across: Across, sides: Sequence[Side]) -> None:
    """Raises UsageError for an option that no circle has: a mistyped one would free nothing."""
    from cyclometer.compare.pairing import OF_MACHINE

    known = {name for side in sides for circle in side.circles for name in circle.circumstances}
    for name in across:
        if known and name not in known | OF_MACHINE:
            listed = ", ".join(sorted(known))
            raise UsageError(f"--across {name}: no circle has that option; they have {listed}")


def calibrated(chosen: Options, side: Side) -> Options:
    """The options with what is kept about the machine of a side's sessions."""
    from cyclometer.compare import calibration

    sessions = [one for circle in side.circles for one in circle.estimate.sessions]
    if not sessions:
        return chosen
    file = calibration.path(calibrations(), calibration.machine(sessions[0].occasion))
    return replace(chosen, calibration=calibration.read(file))


def calibrations() -> Path:
    """The folder of calibrations, one file a machine."""
    from cyclometer.doctor import tune

    return tune.default_journal().with_name("sessions")


def load(paths: Sequence[Path]) -> list[Bundle]:
    """Bundles as they are stored, and all foreign files together as one more, whose runs they are.

    Raises UsageError for a path given twice, whose runs would count twice; BadFile for what cannot
    be read.
    """
    from cyclometer.bundle import store

    resolved = [path.resolve() for path in paths]
    for path, real in zip(paths, resolved, strict=True):
        if resolved.count(real) > 1:
            raise UsageError(
                f"{path} is named twice on one side, and its runs would count twice; name it once"
            )
    found = [store.read(path) for path in paths if path.is_dir()]
    files = [path for path in paths if not path.is_dir()]
    if files:
        from cyclometer.ingest import ingest

        found.append(ingest(files)[0])
    return found


def together(operands: Sequence[str]) -> list[Path]:
    """The operands of a command without sides: a store stands for its bundles, oldest first."""
    from cyclometer.bundle import store

    found = []
    for operand in operands:
        if operand == _BETWEEN:
            raise UsageError("`--` separates two sides, and this command has none; leave it out")
        path = Path(operand)
        found += (
            store.bundles(path)
            if path.is_dir() and not (path / store.IDENTITY).exists()
            else [path]
        )
    if not found:
        raise NothingMeasured(
            f"there is no bundle in {', '.join(operands)}; make one with `cyclometer run`"
        )
    return found


def _side(paths: Sequence[str], level: float) -> Side:
    from cyclometer.compare import pairing

    return pairing.side(load([Path(path) for path in paths]), level)


def _parted(operands: Sequence[str]) -> tuple[list[str], list[str]]:
    """The operands of either side; none of the second where one file is to hold both."""
    listed = list(operands)
    if _BETWEEN in listed:
        at = listed.index(_BETWEEN)
        before, after = listed[:at], listed[at + 1 :]
        if not before or not after or _BETWEEN in after:
            raise UsageError(
                "`--` separates the files before from those after; write it once, between them"
            )
        return before, after
    if len(listed) > 2:
        raise UsageError(
            f"it is not clear which of the {len(listed)} operands come before; write `--` between "
            "those before and those after"
        )
    return listed[:1], listed[1:]
