# SPDX-License-Identifier: BSD-2-Clause
"""What every command that judges shares: margin, error rate, statistics, and how it prints."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import rich_click as click
from click import get_current_context
from click.core import ParameterSource

from cyclometer.cli.common import print_json
from cyclometer.errors import UsageError
from cyclometer.units import UNITS, percent

if TYPE_CHECKING:
    from msgspec import Struct

    from cyclometer.compare.finding import Options

_Result_contra = TypeVar("_Result_contra", contravariant=True)


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


_AMOUNT = re.compile(r"(\d{1,12}(?:\.\d{1,6})?) ?([a-z]+)")


def _margin(
    ctx: click.Context, parameter: click.Parameter, value: str
) -> tuple[float, dict[str, float]]:
    """A share, and amounts by the clock's unit, which are the whole margin where they are alone."""
    words = [word.strip() for word in value.split(",")]
    found = {word: _AMOUNT.fullmatch(word) for word in words}
    amounts = {match[2]: float(match[1]) for match in found.values() if match}
    for unit in amounts:
        if unit not in UNITS:
            message = f"{unit!r} is not a unit of a clock; units are {', '.join(UNITS)}"
            raise click.BadParameter(message, ctx, parameter)
    shares = [word for word, match in found.items() if not match] or ["0%"]
    if len(shares) > 1:
        raise click.BadParameter(f"{value!r} has more than one share", ctx, parameter)
    return share(ctx, parameter, shares[0]) or 0.0, amounts


_OPTIONS = (
    click.option(
        "--margin",
        default="1%",
        show_default=True,
        callback=_margin,
        metavar="SHARE[,AMOUNT]",
        help="Smaller changes count as equivalent: 1%, or the larger of the two in 1%,2cycles. "
        "Exact counts get a verdict only if this is given.",
    ),
    click.option(
        "--fdr",
        default="5%",
        show_default=True,
        callback=share,
        metavar="SHARE",
        help="False discovery rate across the suite; the confidence level is 1 - SHARE.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    click.option(
        "--markdown", "as_markdown", is_flag=True, help="Print a short table in Markdown."
    ),
    click.option(
        "--format",
        "form",
        type=click.Choice(["table", "wide", "json", "markdown", "mail"]),
        help="How to print; wide is the table with every column, mail is plain ASCII of 72 columns "
        "(wide and mail: two sides only).  [default: table]",
    ),
)
_STATISTICS = ("latency", "base", "overall", "mean", "p99", "max")


def _on(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    names = [name for value in values for name in value.split(",")]
    for name in names:
        if name not in _STATISTICS:
            message = f"{name!r} is none of {', '.join(_STATISTICS)}"
            raise click.BadParameter(message, ctx, parameter)
    return tuple(dict.fromkeys(names)) or ("latency",)


on_option = click.option(
    "--on",
    multiple=True,
    callback=_on,
    metavar="NAME[,NAME]",
    help="Statistic that decides: latency, base, overall, mean, p99 or max; may be repeated.  "
    "[default: latency]",
)
layout_floor_option = click.option(
    "--layout-floor",
    callback=share,
    metavar="SHARE",
    help="On an exact clock, ignore changes up to this size, which moving code alone can cause.  "
    "[default: 10% of cycles of turns, 15% of passes, 30% of few passes; 0% of other units]",
)


class Report(Protocol[_Result_contra]):
    """A module that prints one kind of result."""

    def show(self, result: _Result_contra, /) -> None: ...

    def as_json(self, result: _Result_contra, /) -> Struct: ...

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
            raise UsageError(f"{' and '.join(sorted(asked))} exclude each other; choose one")
        return _FORMS[asked.pop() if asked else "table"]

    def print(self, report: Report[_Result_contra], result: _Result_contra) -> None:
        """Prints `result` on standard output."""
        if self is Form.JSON:
            print_json(report.as_json(result))
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


@dataclass(frozen=True)
class Judging:
    """How a command judges, and how it prints what it found."""

    options: Options
    form: Form


def options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of whatever ends in verdicts; the command receives them as one `how`."""

    @functools.wraps(command)
    def collected(
        *,
        margin: tuple[float, dict[str, float]],
        fdr: float,
        as_json: bool,
        as_markdown: bool,
        form: str | None,
        on: tuple[str, ...] = ("latency",),
        layout_floor: float | None = None,
        **rest: Any,
    ) -> None:
        from cyclometer.compare import finding

        given = get_current_context().get_parameter_source("margin") is ParameterSource.COMMANDLINE
        # an exact clock needs no margin, so one counts there only if the user gave it
        least, amounts = margin
        exact_margin = least if given else None
        asked = finding.Options(
            least, fdr, layout_floor, exact_margin=exact_margin, on=on, amounts=amounts
        )
        command(how=Judging(asked, Form.of(as_json, as_markdown, form)), **rest)

    for decorate in reversed(_OPTIONS):
        collected = decorate(collected)
    return collected
