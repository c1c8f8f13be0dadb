# SPDX-License-Identifier: BSD-2-Clause
"""What a parser gives back, and the settings it gets.

A parser module has NAME, DESCRIPTION, `detect(head: bytes, filename: str) -> int` (0: not mine,
100: certain) and `parse(foreign: Foreign, settings: Settings) -> Parsed`. It fills a `Collector`
and returns what its `finish` gives.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cyclometer import text
from cyclometer.bundle.model import Clock, Contract, Flow, Problem, Row, Source, Span, Summary
from cyclometer.bundle.validate import is_possible, numbers
from cyclometer.errors import BadFile, UsageError
from cyclometer.ingest.quantities import Quantity
from cyclometer.ingest.reading import Foreign
from cyclometer.record.schema import MAX_TURNS
from cyclometer.units import UNITS

MAX_FIGURES = 200_000
MAX_PROBLEMS = 1_000
MAX_VALUES = 5_000_000  # raw values a file may list
MAX_TEXT_CHARS = 500  # of any name, title or note

_T = TypeVar("_T")

SETTINGS = {
    "hz": "rate of the clock, for example 120e6",
    "clock": "name of the clock, for example PMCCNTR",
    "unit": f"unit of the clock: {', '.join(UNITS)}",
    "board": "the machine, for example qemu_cortex_a53",
    "kernel": "kernel version; of a history it selects the runs of this kernel",
    "configuration": "a name for how the kernel was built",
    "config.OPTION": "the value of one build option, for example config.mcs=on",
    "icount_shift": "QEMU's -icount shift: nanoseconds become instructions",
    "tool": "the program that printed the file, if it does not say so",
    "encoding": "encoding of the file, if it is not UTF-8",
    "title": "title of the bundle",
}


@dataclass(frozen=True)
class Settings:
    """What the user said about the files with --set NAME=VALUE; names are those of SETTINGS."""

    values: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.values:
            if name not in SETTINGS and not name.startswith("config."):
                raise UsageError(f"--set {name}: no such setting; there are {', '.join(SETTINGS)}")
        if self.text("unit") and self.text("unit") not in UNITS:
            raise UsageError(f"--set unit={self.text('unit')}: a unit is one of {', '.join(UNITS)}")

    def text(self, name: str, default: str = "") -> str:
        return self.values.get(name, default)

    def number(self, name: str) -> float | None:
        """The setting as a finite number, None if it was not given; UsageError if it is not a
        number, or a rate that no clock has.
        """
        if name not in self.values:
            return None
        value = number(self.values[name])
        if value is None or value < 0 or (name == "hz" and not (value == 0 or 1 <= value <= 1e15)):
            raise UsageError(f"--set {name}={self.values[name]}: give a number, {SETTINGS[name]}")
        return value

    def configuration(self) -> dict[str, str]:
        """Build options given by hand; they go over those that a parser found."""
        options = {
            name[7:]: value for name, value in self.values.items() if name.startswith("config.")
        }
        return (
            {"configuration": self.values["configuration"]}
            if "configuration" in self.values
            else {}
        ) | options

    def clock(self, name: str, unit: str, hz: float = 0.0, exact: bool = False) -> Clock:
        """A parser's clock, with what was set by hand in its place."""
        hz_set = self.number("hz")
        return Clock(
            self.text("clock", name),
            self.text("unit", unit),
            hz if hz_set is None else hz_set,
            exact,
        )


@dataclass(frozen=True)
class Figure:
    """One circle's outcome in one run: statistics as printed, raw values, or both.

    The summary's row, run, visit and source are filled when files are put together. `values` are
    whole tests, shape (n,); `turns` and `groups` are one number or one a value. Figures of one row
    share the row.
    """

    row: Row
    run: int
    visit: int
    summary: Summary | None
    values: NDArray[np.float64]
    turns: int | NDArray[np.int64]
    groups: int | NDArray[np.int32]


@dataclass(frozen=True)
class Parsed:
    """One file's content. Runs count from 0; `runs[k]` is what is known of run k (time, commit
    ...).
    """

    tool: str
    figures: tuple[Figure, ...]
    problems: tuple[Problem, ...]
    target: str
    environment: dict[str, Any]
    runs: tuple[dict[str, str], ...]
    title: str


NO_VALUES: NDArray[np.float64] = np.empty(0)


@dataclass
class Collector:
    """Gathers a file's figures and problems, within MAX_FIGURES, MAX_VALUES and MAX_PROBLEMS."""

    foreign: Foreign
    settings: Settings
    figures: list[Figure] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unlisted: int = 0
    listed_values: int = 0
    runs: dict[int, dict[str, str]] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    rows: dict[tuple[Any, ...], tuple[Row, object]] = field(default_factory=dict)
    repeated: dict[Hashable, int] = field(default_factory=dict)

    def figure(
        self,
        contract: Contract,
        clock: Clock,
        method: str = "reported",
        *,
        line: int = 0,
        name: str = "",
        configuration: Mapping[str, str] | None = None,
        flow: Flow | None = None,
        better: str = "lower",
        run: int = 0,
        visit: int = -1,
        summary: Summary | None = None,
        values: NDArray[np.float64] = NO_VALUES,
        turns: int | NDArray[np.int64] = 1,
        groups: int | NDArray[np.int32] = -1,
    ) -> None:
        """Add one figure; BadFile if the file holds more than can be a result. A figure with a
        number that no measurement gives becomes a problem of kind `unread`.
        """
        if not _possible(summary, values, turns):
            self.problem("unread", f"{contract.key}: no measurement gives these numbers", line)
            return
        if len(self.figures) >= MAX_FIGURES:
            raise BadFile(f"{self.foreign.name} holds more than {MAX_FIGURES} figures; split it")
        known = (
            id(contract),
            id(clock),
            id(flow),
            method,
            better,
            line,
            name,
            *(configuration or {}).items(),
        )
        if known not in self.rows:
            source = Source(self.foreign.name, line, name)
            options = dict(configuration or {}) | self.settings.configuration()
            row = printable(Row(contract, clock, method, options, flow, better, source))
            # kept alive, so that no other can get their ids
            self.rows[known] = (row, (contract, clock, flow))
        if summary is not None and summary.note:
            summary = printable(summary)
        self.figures.append(Figure(self.rows[known][0], run, visit, summary, values, turns, groups))

    def add(
        self,
        key: str,
        quantity: Quantity,
        *,
        title: str = "",
        params: Mapping[str, str] | None = None,
        configuration: Mapping[str, str] | None = None,
        interval: Span | None = None,
        correction: str = "none",
        line: int = 0,
        name: str = "",
        run: int | None = None,
        quantiles: Mapping[str, float | None] | None = None,
        extra: Mapping[str, float | None] | None = None,
        values: Sequence[float] = (),
        step: float = 0.0,
        status: str = "ok",
        note: str = "",
        **printed: float | str | None,
    ) -> None:
        """Add one result with its statistics `printed` in the unit of `quantity`.

        `printed` are n, mean, sd, minimum, maximum and median. A text counts as it was printed:
        its last place is the `step` of the figures if that is not given. `values` are single
        passes. Without `run`, the first result of a key with these params and options is of run
        0, the next of run 1.
        """
        summary = _summary(quantity, printed, quantiles, extra, step, status, note)
        contract = Contract(
            key[:200],
            title or key,
            (),
            interval or Span(),
            params=dict(params or {}),
            correction=correction,
        )
        same = (
            contract.key,
            *sorted((params or {}).items()),
            *sorted((configuration or {}).items()),
        )
        nth = self.repeated.get(same, 0)
        self.repeated[same] = nth + 1
        self.count_values(len(values))
        clock = quantity.clock
        if clock.unit not in ("events", "per_s"):
            clock = self.settings.clock(clock.name, clock.unit, clock.hz, clock.exact)
        self.figure(
            contract,
            clock,
            "direct" if values else "reported",
            line=line,
            name=name,
            configuration=configuration,
            better=quantity.better,
            run=nth if run is None else run,
            summary=None if values and not numbers(summary) else summary,
            values=np.array(values, np.float64) * quantity.factor,
        )

    def count_values(self, count: int) -> None:
        """Say that this many more raw values are kept; BadFile over MAX_VALUES."""
        self.listed_values += count
        if self.listed_values > MAX_VALUES:
            raise BadFile(f"{self.foreign.name} lists more than {MAX_VALUES} values; split it")

    def problem(self, kind: str, what: str, line: int = 0) -> None:
        """Note something the reader must know; after MAX_PROBLEMS only their number is kept."""
        if len(self.problems) >= MAX_PROBLEMS:
            self.unlisted += 1
            return
        where = f"{self.foreign.name} line {line}" if line else self.foreign.name
        self.problems.append(printable(Problem(what, where, kind)))

    def caution(self, what: str) -> None:
        """Note once what everybody who uses the figures must know."""
        if all(problem.what != what for problem in self.problems):
            self.problem("note", what)

    def unread(self, text: str, line: int) -> None:
        """A line that looks like data and was not understood."""
        self.problem("unread", f"not understood: {text.strip()[:120]}", line)

    def finish(
        self, tool: str, *, target: str = "", title: str = "", by_lines: bool = True
    ) -> Parsed:
        """The parsed file; BadFile if nothing in it was understood. `by_lines`: long lines were
        passed over.
        """
        if not self.figures:
            raise BadFile(
                f"{self.foreign.name} holds no result that the {tool} format knows; name another "
                "with --format"
            )
        for line in self.foreign.long_lines() if by_lines else ():
            self.problem("unread", "the line is too long for this format and was not read", line)
        problems = tuple(self.problems)
        if self.unlisted:
            problems += (
                Problem(
                    f"{self.unlisted} more like these are not listed", self.foreign.name, "note"
                ),
            )
        runs = tuple(
            self.runs.get(run, {})
            for run in range(max((f.run + 1 for f in self.figures), default=1))
        )
        board = printable(self.settings.text("board", target))
        about = printable(self.environment)
        return Parsed(
            tool, tuple(self.figures), problems, board, about, printable(runs), printable(title)
        )


def machine(name: object) -> str:
    """A host's name as the identity of a machine; empty for names that any machine may have."""
    text = name.strip() if isinstance(name, str) else ""
    return "" if text.lower().split(".")[0] in ("", "localhost", "(none)", "unknown") else text


def printable(value: _T) -> _T:
    """`value` with its texts made printable and cut, as all that comes from a foreign file is."""
    return text.printable(value, MAX_TEXT_CHARS)


def _summary(
    quantity: Quantity,
    printed: Mapping[str, float | str | None],
    quantiles: Mapping[str, float | None] | None,
    extra: Mapping[str, float | None] | None,
    step: float,
    status: str,
    note: str,
) -> Summary:
    """Printed statistics in the unit of the clock of `quantity`; `extra` stands in it already."""
    mean = printed.get("mean")
    if isinstance(mean, str) and not step:
        step = 10.0 ** -len(mean.partition(".")[2])
    scaled: dict[str, Any] = {
        name: None if (figure := number(printed.get(name))) is None else figure * quantity.factor
        for name in ("mean", "sd", "minimum", "maximum", "median")
    }
    return Summary(
        0,
        n=whole(printed.get("n")),
        quantiles={p: v * quantity.factor for p, v in _present(quantiles).items()},
        extra=_present(extra),
        step=step * quantity.factor,
        status=status,
        note=note,
        **scaled,
    )


def _present(figures: Mapping[str, float | None] | None) -> dict[str, float]:
    return {name: value for name, value in (figures or {}).items() if value is not None}


def _possible(
    summary: Summary | None, values: NDArray[np.float64], turns: int | NDArray[np.int64]
) -> bool:
    """Whether a bundle may hold all these numbers (see `bundle.validate`)."""
    if summary is not None and not is_possible(numbers(summary)):
        return False
    if summary is not None and ((summary.sd or 0.0) < 0 or not 0 <= (summary.n or 0) <= 2**53):
        return False
    if len(values) and not is_possible(values):
        return False
    return bool(np.all((np.asarray(turns) >= 1) & (np.asarray(turns) <= MAX_TURNS)))


def number(value: object) -> float | None:
    """A finite float from a JSON value or a printed figure such as `1,234.5`; None for anything
    else.
    """
    if type(value) is float:
        return value if math.isfinite(value) else None
    if type(value) is int and abs(value) < 2**53:
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        value = value.strip()
        if not value or len(value) > 40 or not value.isascii() or "_" in value:
            return None
        value = value.replace(",", "")
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    return result if math.isfinite(result) else None


def whole(value: object) -> int | None:
    """`number` as an integer; None if it is not one, or beyond 64 bits."""
    if type(value) is int and abs(value) < 2**63:
        return value
    result = number(value)
    return (
        int(result)
        if result is not None and result == int(result) and abs(result) < 2**63
        else None
    )


def slug(text: str) -> str:
    """A free name as one part of a key: lower case, words joined by `_`."""
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in text.lower()).split()
    return "_".join(words)[:80] or "unnamed"
