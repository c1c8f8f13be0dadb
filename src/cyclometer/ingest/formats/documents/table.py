# SPDX-License-Identifier: BSD-2-Clause
"""Before/after tables as people put them into pull requests: Markdown pipes, or CSV.

A column is recognised by its heading: mean, sd, n and change, each for `before` or `after` (or for
no state at all), and for one series if the heading names something else beside that, such as a
board. Of the other columns, those whose cells are all figures are means, each a series, if no
heading says which column is one; the rest are parameters of the row. A heading of the text above
names the board and the build.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field, replace
from typing import Any

from cyclometer.bundle.model import Contract, Summary
from cyclometer.ingest.formats.sel4 import sel4_keys
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug, whole
from cyclometer.ingest.quantities import quantity
from cyclometer.ingest.reading import Foreign

NAME = "table"
DESCRIPTION = "before/after tables in Markdown or CSV"

_STATISTICS = (
    ("change", re.compile(r"\b(?:change|diff(?:erence)?|delta)\b|%", re.I)),
    (
        "sd",
        re.compile(
            "\\b(?:std\\.? ?dev(?:iation)?|stdev|std|s\\.?d\\.?|sigma)(?!\\w)"
            "|\N{GREEK SMALL LETTER SIGMA}|±",
            re.I,
        ),
    ),
    ("n", re.compile(r"\b(?:n|samples|runs)\b", re.I)),
    ("minimum", re.compile(r"\bmin(?:imum)?\b", re.I)),
    ("maximum", re.compile(r"\bmax(?:imum)?\b", re.I)),
    ("median", re.compile(r"\bmedian\b", re.I)),
    ("mean", re.compile(r"\b(?:mean|average|avg|cycles|latency)\b", re.I)),
)
_STATE = re.compile(r"\b(before|after|baseline|base|old|new|head|patched|unpatched)\b", re.I)
_STATES = {"baseline": "before", "base": "before", "old": "before", "unpatched": "before"}
_STATES |= {"new": "after", "head": "after", "patched": "after"}
_UNIT = re.compile(r"[(\[](ns|us|µs|ms|s|sec|cycles|ticks|instructions|[\w ]{0,10}/s(?:ec)?)[)\]]")
_CELL = re.compile(
    r"(?P<figure>-?[\d,]*\.?\d+)\s*(?P<unit>ns|us|µs|ms|s|cycles|ticks|instructions)?"
    r"(?:\s*(?:±|\+/?-)\s*(?P<spread>[\d.,]+))?"
)
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_HEADING = re.compile(r"#{1,6}\s+(.{1,200})")
_PERCENT = re.compile(r"([+-]?\d{1,9}(?:\.\d{1,9})?)\s*%")
_OF_ONE = ("sd", "minimum", "maximum", "median")  # a count may be of all series
_MAX_COLUMNS = 200
_FILLERS = ("", "patch", "time", "in", "of", "cycles", "latency", "value")  # name no series
_GUESSED = (
    "no column names its unit, as `mean (ns)` would, so cycles are taken; --set unit=ns "
    "says otherwise"
)


@dataclass(frozen=True)
class _Column:
    """`statistic` is empty for a parameter; `series` is what the heading says beside it."""

    name: str
    statistic: str = ""
    state: str = ""
    unit: str = ""  # empty: unnamed
    series: str = ""


@dataclass
class _Context:
    """What the text above a table said."""

    board: str = ""
    configuration: dict[str, str] = field(default_factory=dict)


def detect(head: bytes, filename: str) -> int:
    text = head.decode("utf-8", "replace")
    if re.search(r"^\|?[ :]*-+[ :]*\|[ :|-]+$", text, re.M) and "|" in text:
        return 75 if re.search(r"\b(?:mean|stddev|before|after)\b", text, re.I) else 30
    first = text.split("\n", 1)[0].lower()
    if filename.lower().endswith((".csv", ".tsv")) and re.search(
        r"mean|before|after|stddev|median", first
    ):
        return 60
    return 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    if any(_RULE.fullmatch(line.strip()) and "|" in line for _, line in foreign.lines()):
        boards = _read_markdown(into)
    else:
        boards = set()
        _read_csv(into)
    return into.finish(NAME, target=boards.pop() if len(boards) == 1 else "")


def _read_markdown(into: Collector) -> set[str]:
    """Reads every table; returns the boards that headings of the text name."""
    context, boards = _Context(), set[str]()
    above = (0, "")  # a line with pipes that may be the head of a table
    table: list[tuple[int, list[str]]] = []  # its heading and rows so far; empty outside
    for at, line in into.foreign.lines():
        text = line.strip()
        if "|" in text and _RULE.fullmatch(text):
            _read_table(into, table, context)
            table, above = [(above[0], _cells(above[1]))], (0, "")
            continue
        if above[1].count("|") > 2 and re.search(r"\d", above[1]):
            into.unread(above[1], above[0])
        above = (0, "")
        if "|" in text and table:
            table.append((at, _cells(text)))
            continue
        _read_table(into, table, context)
        table = []
        if heading := _HEADING.fullmatch(text):
            context = _context(heading[1])
            boards |= {context.board} - {""}
        elif "|" in text:
            above = (at, text)
    _read_table(into, table, context)
    return boards


def _read_table(into: Collector, table: list[tuple[int, list[str]]], context: _Context) -> None:
    """Reads the rows of a table, whose first line is its headings."""
    columns = _columns(table[0][1], [cells for _, cells in table[1:]]) if table else []
    for at, cells in table[1:]:
        _read_row(into, columns, cells, context, at)


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.strip().removeprefix("|").removesuffix("|").split("|")][
        :_MAX_COLUMNS
    ]


def _read_csv(into: Collector) -> None:
    lines = [(at, line) for at, line in into.foreign.lines() if line.strip()]
    head = lines[0][1] if lines else ""
    separator = max(",;\t", key=head.count)
    table = [(at, next(csv.reader([line], delimiter=separator), [])) for at, line in lines]
    _read_table(into, table, _Context())


def _context(heading: str) -> _Context:
    """Board and build from a heading such as `HiFive Unleashed - non-MCS kernel`."""
    board, dash, build = heading.partition(" - ")
    if not dash:
        return _Context(configuration={"section": heading})
    mcs = re.search(r"\b(non-?)?mcs\b", build, re.I)
    return _Context(
        board.strip(), {"mcs": "off" if mcs[1] else "on"} if mcs else {"section": build.strip()}
    )


def _columns(names: list[str], rows: list[list[str]]) -> list[_Column]:
    """The columns of these headings above these rows."""
    columns = [_column(name.strip()[:80]) for name in names[:_MAX_COLUMNS]]
    if not any(column.statistic in ("mean", "median") for column in columns):
        figures = [_all_figures(rows, place) for place in range(len(columns))]
        columns = [
            replace(column, statistic="mean", series=column.name)
            if place and is_figure and not column.statistic
            else column
            for place, (column, is_figure) in enumerate(zip(columns, figures, strict=True))
        ]
    # A spread without a name is that of the column before it.
    for place, column in enumerate(columns):
        if column.statistic in _OF_ONE and not column.series and not column.state:
            before = next((c for c in reversed(columns[:place]) if c.statistic), column)
            columns[place] = replace(column, series=before.series, state=before.state)
    return columns


def _all_figures(rows: list[list[str]], place: int) -> bool:
    cells = [row[place] for row in rows if place < len(row) and row[place].strip(" -")]
    return bool(cells) and all(_CELL.fullmatch(cell.strip()) for cell in cells)


def _column(name: str) -> _Column:
    state, unit = _STATE.search(name), _UNIT.search(name)
    kind, pattern = next(
        ((kind, pattern) for kind, pattern in _STATISTICS if pattern.search(name)), ("", None)
    )
    word = state[1].lower() if state else ""
    rest = _STATE.sub(" ", _UNIT.sub(" ", pattern.sub(" ", name) if pattern else name))
    series = " ".join(re.sub(r"[^\w.+-]", " ", rest).split())
    return _Column(
        name,
        kind or ("mean" if state else ""),
        _STATES.get(word, word),
        unit[1] if unit else "",
        "" if series.lower() in _FILLERS or not (kind or state) else series,
    )


def _read_row(
    into: Collector, columns: list[_Column], cells: list[str], context: _Context, at: int
) -> None:
    if len(cells) != len(columns):
        into.unread("|".join(cells), at)
        return
    pairs = list(zip(columns, cells, strict=True))
    params = {column.name: cell[:80] for column, cell in pairs if not column.statistic}
    change = next(
        (_PERCENT.search(cell) for column, cell in pairs if column.statistic == "change"), None
    )
    found = 0
    several = len({column.series for column in columns if column.statistic == "mean"}) > 1
    for state, series in dict.fromkeys(
        (c.state, c.series) for c in columns if c.statistic not in ("", "change")
    ):
        own = [
            (column, match)
            for column, cell in pairs
            if (column.state, column.series) in ((state, series), _common(column))
            and column.statistic not in ("", "change")
            and (match := _CELL.fullmatch(cell.strip()))
        ]
        figures = {column.statistic: number(match["figure"]) for column, match in own}
        if figures.get("mean") is None and figures.get("median") is None:
            continue
        found += 1
        unit = next((c.unit or match["unit"] for c, match in own if c.unit or match["unit"]), "")
        figures["plus_minus"] = next((number(m["spread"]) for _, m in own if m["spread"]), None)
        extra = {"change_pct": float(change[1])} if change and state == "after" else {}
        options = ({"state": state} if state else {}) | ({"series": series} if several else {})
        _add(into, params, context.configuration | options, figures, unit, extra, at)
    if not found and any(re.search(r"\d", cell) for cell in cells):
        into.unread("|".join(cells), at)


def _common(column: _Column) -> tuple[str, str] | None:
    """State and series of a column that counts for all of them: a number of samples."""
    return ("", "") if column.statistic == "n" else None


def _add(
    into: Collector,
    params: dict[str, str],
    configuration: dict[str, str],
    figures: dict[str, float | None],
    unit: str,
    extra: dict[str, float],
    at: int,
) -> None:
    known = _known(params)
    if not unit and known.contract.key.startswith("table.") and not into.settings.text("unit"):
        into.caution(_GUESSED)
    printed = quantity(unit or "cycles")
    statistics: dict[str, Any] = {
        name: None if (value := figures.get(name)) is None else value * printed.factor
        for name in ("mean", "sd", "minimum", "maximum", "median")
    }
    if (spread := figures["plus_minus"]) is not None:
        extra["plus_minus"] = spread * printed.factor
    into.figure(
        known.contract,
        into.settings.clock("cycle counter", "cycles")
        if printed.clock.unit == "cycles"
        else printed.clock,
        line=at,
        name=" ".join(params.values()),
        configuration=configuration,
        better=known.better if printed.better == "lower" else printed.better,
        summary=Summary(0, n=whole(figures.get("n")), extra=extra, **statistics),
    )


def _known(params: dict[str, str]) -> sel4_keys.KnownRow:
    """sel4bench's own columns give its own contracts; any other row is known by its parameters
    only.
    """
    cells = {slug(name): value for name, value in params.items()}
    function = cells.get("ipc_benchmark") or cells.get("function")
    words = whole(cells.get("ipc_length"))
    if function and words is not None:
        space = cells.get("in_same_vspace", cells.get("same_vspace", "")).lower()
        return sel4_keys.ipc(function, space in ("true", "yes", "1"), words)
    name = cells.get("benchmark", "")
    parameter = next(
        (cells[column] for column in ("priority", "prio", "event", "waiter") if column in cells), ""
    )
    if (
        name
        and (known := sel4_keys.named(name, parameter)).contract.key.split(".")[0] != "sel4bench"
    ):
        return known
    values = [value for value in params.values() if value]
    key = ".".join(["table", *(slug(value) for value in values)])[:200]
    return sel4_keys.KnownRow(
        Contract(key, " ".join(values)[:200], params=params, correction="unknown")
    )
