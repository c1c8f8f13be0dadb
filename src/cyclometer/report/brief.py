# SPDX-License-Identifier: BSD-2-Clause
"""The table of a bundle that people see first: what fits 100 columns, and 80 when it must.

What is unusual about a circle is a letter behind its row and a footnote; columns for what is usual
would drown it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.text import Text

from cyclometer.estimate import digits
from cyclometer.estimate.reference import FLOOR
from cyclometer.estimate.rows import Estimate
from cyclometer.report.circle import names
from cyclometer.report.terminal import Terminal
from cyclometer.text import plain

PAPER = 100
"""Columns where there is neither a terminal nor $COLUMNS."""
_LEAST_NAME = 20
_APART = 0.05
_EXCLUDED = 0.25
_LONGER = 5  # rows of a table in which a letter on most of them says nothing about one
_TYPICAL = ("round_trip", "syscall.null")
UNKNOWN = (
    "the latency is not known to an order of magnitude, and its upper bound stands there: its "
    "visits or runs are few and differ, so measure longer"
)
"""What a table says of a figure such as "<50000000"."""


class Mark(NamedTuple):
    """A letter for something unusual, who has it, and what it means."""

    letter: str
    of: Callable[[Estimate], bool]
    meaning: str


def _changed_regime(e: Estimate) -> bool:
    return bool(e.base and e.overall and e.overall.value > (1 + _APART) * e.base.value)


def _has_modes(e: Estimate) -> bool:
    return e.between_cpus and len(e.modes) > 1


def _mostly_excluded(e: Estimate) -> bool:
    excluded = sum(e.set_aside.values())
    return excluded > _EXCLUDED * (e.tests + excluded)


MARKS = (
    Mark(
        "u",
        lambda e: bool(e.latency and e.latency.interval.unknown(e.latency.value)),
        UNKNOWN,
    ),
    Mark("r", _changed_regime, "overall more than 5 % above base, the lowest sustained regime"),
    Mark("x", _mostly_excluded, "more than a quarter of the tests excluded as disturbed"),
    Mark("m", _has_modes, "two modes or more between two CPUs; `show --circle` prints them"),
    Mark("w", lambda e: e.steadiness == "warm-up", "slower at first: the run warmed up"),
    Mark("s", lambda e: e.steadiness == "slow-down", "slower at the end than before"),
    Mark(
        "n",
        lambda e: not e.settled,
        "not settled: an exact clock, and no count of some test size repeats; more or longer tests "
        "give another figure",
    ),
    Mark("1", lambda e: len(e.runs) == 1, "one run: nothing is known about the next one"),
)


class Column(NamedTuple):
    """A heading, what stands below it, and from how wide a page on."""

    heading: str
    cell: Callable[[Estimate], str]
    page: int


def order(found: Sequence[Estimate]) -> list[Estimate]:
    """The estimates as they are listed: floors, which say what the rig costs, last."""
    return sorted(found, key=lambda e: e.contract.key.startswith(FLOOR))


def page_columns() -> int:
    """Columns of the terminal; of a pipe $COLUMNS, or PAPER."""
    terminal = Terminal()
    if terminal.is_terminal:
        return terminal.width
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else PAPER


def lines(found: Sequence[Estimate], page: int) -> list[Text]:
    """A heading and a line per circle, none wider than the page, without trailing blanks."""
    units = {e.clock.unit for e in found}
    rare = _rare_marks(found)
    columns = [column for column in _columns(units, rare) if page >= column.page]
    cells = [[column.cell(e) if _valid(e) else "" for column in columns] for e in found]
    head = [column.heading for column in columns]
    widths = [max(map(len, (h, *(row[i] for row in cells)))) for i, h in enumerate(head)]
    labels = [plain(name) for name in names(list(found))]
    room = max(_LEAST_NAME, page - sum(widths) - 2 * len(widths) - 1)
    name_width = min(room, max(map(len, ("circle", *labels))))
    printed = [Text(_line("circle", head, widths, name_width), style="bold")]
    for e, label, row in zip(found, labels, cells, strict=True):
        shown = row if _valid(e) else [_absent(e), *row[1:]]
        line = _line(short(label, name_width), shown, widths, name_width)
        printed.append(Text(line, style="" if e.valid else "red"))
    return printed


def short(label: str, width: int) -> str:
    """A label in `width` columns at most: its middle is left out, for its ends distinguish it."""
    if len(label) <= width:
        return label
    head = width // 2
    return f"{label[:head]}..{label[head + 2 - width :]}"


def footnotes(found: Sequence[Estimate]) -> list[str]:
    """What the letters behind rows mean, and what most rows have in common instead of a letter."""
    rare = _rare_marks(found)
    return [
        f"{m.letter}: {m.meaning}."
        if m in rare
        else f"{m.letter} on {count} of {rows} rows: {m.meaning}."
        for m, count, rows in _carried(found)
        if count
    ]


def nanoseconds(e: Estimate) -> str:
    """The latency in ns; empty where the clock has no rate or is one of ns already."""
    if e.ns is None or e.ns_interval is None or e.clock.unit == "ns":
        return ""
    return digits.figure(e.ns, e.ns_interval)


def worth_a_look(found: Sequence[Estimate]) -> tuple[Estimate, str] | None:
    """The row to look at first and why: of the rows with a letter, or else of all, the one with the
    widest interval relative to its latency. Without any interval that has a width, a typical row.
    None if no row but floors has a latency.
    """
    rows = [e for e in found if _valid(e) and not e.contract.key.startswith(FLOOR)]
    rare = _rare_marks(found)
    marked = [e for e in rows if _marks(e, rare)]
    widest = max(marked or rows, key=_share, default=None)
    if widest is None:
        return None
    if marked:
        return widest, f"marked {_marks(widest, rare)}"
    if _share(widest) > 0:
        return widest, "its interval is the widest"
    typical = (e for word in _TYPICAL for e in rows if word in e.contract.key)
    return next(typical, widest), ""


def _carried(found: Sequence[Estimate]) -> list[tuple[Mark, int, int]]:
    """Each mark, how many rows with a latency have it, and how many such rows there are."""
    valid = [e for e in found if _valid(e)]
    return [(mark, sum(map(mark.of, valid)), len(valid)) for mark in MARKS]


def _rare_marks(found: Sequence[Estimate]) -> tuple[Mark, ...]:
    """The marks that distinguish rows: what more than half of a longer table has is not unusual."""
    return tuple(m for m, count, rows in _carried(found) if rows < _LONGER or 2 * count <= rows)


def _columns(units: set[str], marks: Sequence[Mark]) -> tuple[Column, ...]:
    (unit,) = units if len(units) == 1 else ("",)
    latency = Column(f"latency [{unit}]" if unit else "latency", _latency(mixed=not unit), 0)
    every = (
        latency,
        Column("+- %", _percent, 0),
        Column("ns", nanoseconds, 60),
        Column("first pass", _first, 90),
        Column("", lambda e: _marks(e, marks), 0),
    )
    return tuple(c for c in every if c.heading != "ns" or units != {"ns"})


def _line(name: str, row: Sequence[str], widths: Sequence[int], name_width: int) -> str:
    *numbers, marks = row
    cells = "".join(f"  {cell:>{w}}" for cell, w in zip(numbers, widths, strict=False))
    return f" {name:<{name_width}}{cells}  {marks}".rstrip()


def _valid(e: Estimate) -> bool:
    return e.valid and e.latency is not None


def _absent(e: Estimate) -> str:
    if e.tests or e.set_aside:
        return "invalid"
    return "none" if e.method == "reported" else "not run"


def _latency(mixed: bool) -> Callable[[Estimate], str]:
    def cell(e: Estimate) -> str:
        assert e.latency is not None
        text = digits.figure(e.latency.value, e.latency.interval)
        return text + (f" {e.clock.unit}" if mixed else "")

    return cell


def _percent(e: Estimate) -> str:
    assert e.latency is not None
    if not math.isfinite(e.latency.interval.half_width):
        return ""
    share = 100 * _share(e)
    if share > 100:
        return ">100"
    return f"{share:.2f}" if share < 1 else f"{share:.1f}" if share < 10 else f"{share:.0f}"


def _share(e: Estimate) -> float:
    """Half the interval's width as a share of the latency; 0 where nothing bounds the latency."""
    assert e.latency is not None
    half, value = e.latency.interval.half_width, abs(e.latency.value)
    return half / value if value and math.isfinite(half) else 0.0


def _first(e: Estimate) -> str:
    return "" if e.cold is None else f"{e.cold:.0f}"


def _marks(e: Estimate, marks: Sequence[Mark] = MARKS) -> str:
    return "".join(mark.letter for mark in marks if mark.of(e))
