# SPDX-License-Identifier: BSD-2-Clause
"""The two sides of `compare` and `gate`: operands, options, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import rich_click as click
from click import get_current_context
from click.core import ParameterSource

from cyclometer.cli import assignments
from cyclometer.cli.common import print_json
from cyclometer.errors import NothingMeasured, UsageError
from cyclometer.units import percent

if TYPE_CHECKING:
    from cyclometer.bundle.model import Bundle
    from cyclometer.compare.finding import Options
    from cyclometer.compare.pairing import Across, Side
    from cyclometer.compare.verdicts import Comparison

_BETWEEN = "\0"  # stands for `--` among the operands; no path can hold it
_STATES = ("before", "after")
_Result_contra = TypeVar("_Result_contra", contravariant=True)
_Command = TypeVar("_Command", bound=Callable[..., object])


class TwoSides(click.RichCommand):
    """A command whose operands may be separated by `--`, which click alone would swallow."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [_BETWEEN if arg == "--" else arg for arg in args])


def share(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """A share such as 1%, as a fraction."""
    if value is None:
        return None
    try:
        part = percent(value)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, parameter) from error
    if not 0 <= part < 1 or (part == 0 and parameter.name == "fdr"):
        raise click.BadParameter(
            f"{value!r} is not a share between 0 and 1; write it as 1%", ctx, parameter
        )
    return part


def options_of(
    margin: float,
    fdr: float,
    layout_floor: float | None = None,
    on: tuple[str, ...] = ("latency",),
) -> Options:
    """What the options of a command that judges come to."""
    from cyclometer.compare import finding

    return finding.Options(margin, fdr, layout_floor, exact_margin=given_margin(margin), on=on)


def given_margin(margin: float) -> float | None:
    """The margin if the user gave it: an exact clock needs none."""
    source = get_current_context().get_parameter_source("margin")
    return margin if source is ParameterSource.COMMANDLINE else None


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


_JUDGING = (
    click.option(
        "--margin",
        default="1%",
        show_default=True,
        callback=share,
        metavar="SHARE",
        help="Smaller changes count as equivalent; exact counts are judged only if given.",
    ),
    click.option(
        "--fdr",
        default="5%",
        show_default=True,
        callback=share,
        metavar="SHARE",
        help="False discovery rate across the suite; the confidence level is 1 - SHARE.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print rows and summary as JSON."),
    click.option(
        "--markdown", "as_markdown", is_flag=True, help="Print a short table for a pull request."
    ),
    click.option(
        "--format",
        "form",
        type=click.Choice(["table", "wide", "json", "markdown", "mail"]),
        help="How to print: wide is the table with every column, mail plain ASCII of 72 columns.  "
        "[default: table]",
    ),
)
_STATISTICS = ("latency", "base", "overall", "mean", "p99", "max")


def _on(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    names = [name for value in values for name in value.split(",")]
    for name in names:
        if name not in _STATISTICS:
            told = f"{name!r} is none of {', '.join(_STATISTICS)}"
            raise click.BadParameter(told, ctx, parameter)
    return tuple(dict.fromkeys(names)) or ("latency",)


_on_option = click.option(
    "--on",
    multiple=True,
    callback=_on,
    metavar="NAME[,NAME]",
    help="Judge rows on latency, base, overall, mean, p99 or max, or on several of them.  "
    "[default: latency]",
)
layout_floor_option = click.option(
    "--layout-floor",
    callback=share,
    metavar="SHARE",
    help="On an exact clock, call no change up to this size real: moving code causes as much.  "
    "[default: 10% of cycles of turns, 15% of passes, 30% of few passes; 0% of other units]",
)
across_option = click.option(
    "--across",
    multiple=True,
    callback=_across,
    metavar="NAME[=X,Y]",
    help="Compare although option NAME (or target, cpu) differs; X,Y choose the two sides' rows.",
)
_OPERANDS = click.argument("operands", nargs=-1, required=True, metavar="BEFORE... [--] AFTER...")


def options(command: _Command) -> _Command:
    """The operands and options that `compare` and `gate` share."""
    return _OPERANDS(_on_option(layout_floor_option(across_option(judging(command)))))


def judging(command: _Command) -> _Command:
    """The options of whatever ends in verdicts."""
    for decorate in reversed(_JUDGING):
        command = decorate(command)
    return command


class Report(Protocol[_Result_contra]):
    """A module that prints one kind of result. `KIND` is that of its JSON (report.documents)."""

    KIND: str

    def show(self, result: _Result_contra, /) -> None: ...

    def as_json(self, result: _Result_contra, /) -> dict[str, Any]: ...

    def markdown(self, result: _Result_contra, /) -> str: ...


class Form(Enum):
    """How a result is printed."""

    TERMINAL = 0
    JSON = 1
    MARKDOWN = 2
    MAIL = 3
    WIDE = 4

    @staticmethod
    def of(as_json: bool, as_markdown: bool, form: str | None = None) -> Form:
        """The form that the options ask for. Raises UsageError for several at once."""
        asked = {"json"} if as_json else set()
        asked |= {"markdown"} if as_markdown else set()
        asked |= {form} if form else set()
        if len(asked) > 1:
            raise UsageError(f"the forms {' and '.join(sorted(asked))} exclude each other")
        return _FORMS[asked.pop() if asked else "table"]

    def print(self, report: Report[_Result_contra], result: _Result_contra) -> None:
        """Prints `result` on standard output."""
        if self is Form.JSON:
            print_json(report.KIND, report.as_json(result))
        elif self is Form.MARKDOWN:
            click.echo(report.markdown(result), nl=False)
        elif self is Form.MAIL:
            click.echo(_mail(report, result), nl=False)
        elif self is Form.WIDE:
            _wide(report, result)
        else:
            report.show(result)


_FORMS = {
    "table": Form.TERMINAL,
    "json": Form.JSON,
    "markdown": Form.MARKDOWN,
    "mail": Form.MAIL,
    "wide": Form.WIDE,
}


def _mail(report: object, result: Any) -> str:
    from cyclometer.report import mail

    _check_two_sides(report, "mail")
    return mail.mail(result)


def _wide(report: object, result: Any) -> None:
    from cyclometer.report import comparison

    _check_two_sides(report, "wide")
    comparison.show(result, wide=True)


def _check_two_sides(report: object, form: str) -> None:
    from cyclometer.report import comparison

    if report is not comparison:
        raise UsageError(
            f"--format {form} prints a comparison of two sides: `cyclometer compare`; choose "
            "table, json or markdown"
        )


def compare(operands: Sequence[str], chosen: Options, across: Across) -> Comparison:
    """Loads both sides and judges every circle. Raises UsageError if the operands do not say
    which side is which.
    """
    from cyclometer.compare import verdicts

    before, after = _parted(operands)
    if after:
        sides = _side(before, chosen.level), _side(after, chosen.level)
        found = verdicts.compare(*sides, calibrated(chosen, sides[0]), across)
        if not found.findings and all(side.circles for side in sides):
            asked = " or ".join(chosen.on)
            raise NothingMeasured(f"no circle has {asked} on both sides; leave --on out")
        return found
    both = _side(before, chosen.level)
    if not any(across.values()):
        across = {**across, "state": _STATES}
    found = verdicts.compare(both, both, chosen, across)
    if both.circles and not found.findings:
        asked = ", ".join(f"{name}={', '.join(ends)}" for name, ends in across.items() if ends)
        raise UsageError(
            f"{before[0]} does not hold both sides (rows of {asked}); name what came after, too"
        )
    return found


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
            raise UsageError("`--` parts two sides, and this command has none; leave it out")
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
                "`--` parts the files before from those after, and stands once between them"
            )
        return before, after
    if len(listed) > 2:
        raise UsageError(
            f"{len(listed)} operands do not say which are before; put `--` before the first one "
            "after"
        )
    return listed[:1], listed[1:]
