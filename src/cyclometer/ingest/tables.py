# SPDX-License-Identifier: BSD-2-Clause
"""Before/after tables as people put them into pull requests: Markdown pipes, or CSV.

A column is recognised by its heading: mean, sd, n and change, each for `before` or `after` (or for no state at all);
every other column is a parameter of the row. A heading of the text above names the board and the build.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from typing import Any

from cyclometer.bundle.model import Clock, Contract, Summary
from cyclometer.ingest import sel4_keys
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug, whole
from cyclometer.ingest.reading import Foreign

NAME = "table"
DESCRIPTION = "before/after tables in Markdown or CSV"

_STATISTICS = (
    ("change", re.compile(r"\b(?:change|diff(?:erence)?|delta)\b|%", re.I)),
    ("sd", re.compile(r"\b(?:std\.? ?dev(?:iation)?|stddev|sd|sigma)\b", re.I)),
    ("n", re.compile(r"\b(?:n|samples|runs)\b", re.I)),
    ("minimum", re.compile(r"\bmin(?:imum)?\b", re.I)),
    ("maximum", re.compile(r"\bmax(?:imum)?\b", re.I)),
    ("median", re.compile(r"\bmedian\b", re.I)),
    ("mean", re.compile(r"\b(?:mean|average|avg|cycles|latency)\b", re.I)),
)
_STATE = re.compile(r"\b(before|after|baseline|base|old|new|head|patched|unpatched)\b", re.I)
_STATES = {"baseline": "before", "base": "before", "old": "before", "unpatched": "before"}
_STATES |= {"new": "after", "head": "after", "patched": "after"}
_UNIT = re.compile(r"\((ns|us|µs|cycles|ticks|instructions)\)")
_SCALE = {"us": ("ns", 1e3), "µs": ("ns", 1e3)}
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_HEADING = re.compile(r"#{1,6}\s+(.{1,200})")
_PERCENT = re.compile(r"([+-]?\d{1,9}(?:\.\d{1,9})?)\s*%")
_MAX_COLUMNS = 200
_GUESSED = "no column names its unit, as `mean (ns)` would, so cycles are taken; --set unit=ns says otherwise"


@dataclass(frozen=True)
class _Column:
    name: str
    statistic: str = ""  # empty: a parameter
    state: str = ""
    unit: str = ""  # empty: unnamed


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
    if filename.lower().endswith((".csv", ".tsv")) and re.search(r"mean|before|after|stddev|median", first):
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
    context, columns = _Context(), list[_Column]()
    above = (0, "")  # a line with pipes that may be the head of a table
    boards: set[str] = set()
    for at, line in into.foreign.lines():
        text = line.strip()
        if "|" in text and _RULE.fullmatch(text):
            columns, above = _columns(_cells(above[1])), (0, "")
            continue
        if above[1].count("|") > 2 and re.search(r"\d", above[1]):
            into.unread(above[1], above[0])
        above = (0, "")
        if heading := _HEADING.fullmatch(text):
            context, columns = _context(heading[1]), []
            boards |= {context.board} - {""}
        elif "|" not in text:
            columns = []
        elif columns:
            _read_row(into, columns, _cells(text), context, at)
        else:
            above = (at, text)
    return boards


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.strip().removeprefix("|").removesuffix("|").split("|")][:_MAX_COLUMNS]


def _read_csv(into: Collector) -> None:
    lines = ((at, line) for at, line in into.foreign.lines() if line.strip())
    head = next(lines, (0, ""))[1]
    separator = max(",;\t", key=head.count)
    columns = _columns(next(csv.reader([head], delimiter=separator), []))
    for at, line in lines:
        _read_row(into, columns, next(csv.reader([line], delimiter=separator), []), _Context(), at)


def _context(heading: str) -> _Context:
    """Board and build from a heading such as `HiFive Unleashed - non-MCS kernel`."""
    board, dash, build = heading.partition(" - ")
    if not dash:
        return _Context(configuration={"section": heading})
    mcs = re.search(r"\b(non-?)?mcs\b", build, re.I)
    return _Context(board.strip(), {"mcs": "off" if mcs[1] else "on"} if mcs else {"section": build.strip()})


def _columns(names: list[str]) -> list[_Column]:
    return [_column(name.strip()[:80]) for name in names[:_MAX_COLUMNS]]


def _column(name: str) -> _Column:
    state = _STATE.search(name)
    unit = _UNIT.search(name)
    statistic = next((kind for kind, pattern in _STATISTICS if pattern.search(name)), "mean" if state else "")
    word = state[1].lower() if state else ""
    return _Column(name, statistic, _STATES.get(word, word), unit[1] if unit else "")


def _read_row(into: Collector, columns: list[_Column], cells: list[str], context: _Context, at: int) -> None:
    if len(cells) != len(columns):
        into.unread("|".join(cells), at)
        return
    pairs = list(zip(columns, cells, strict=True))
    params = {column.name: cell[:80] for column, cell in pairs if not column.statistic}
    change = next((_PERCENT.search(cell) for column, cell in pairs if column.statistic == "change"), None)
    found = 0
    for state in dict.fromkeys(column.state for column in columns if column.statistic not in ("", "change")):
        own = [(column, number(cell)) for column, cell in pairs if column.state == state and column.statistic]
        figures = {column.statistic: value for column, value in own if value is not None}
        if "mean" not in figures and "median" not in figures:
            continue
        found += 1
        unit = next(column.unit for column, value in own if value is not None)
        extra = {"change_pct": float(change[1])} if change and state == "after" else {}
        _add(into, params, context, state, figures, unit, extra, at)
    if not found and any(re.search(r"\d", cell) for cell in cells):
        into.unread("|".join(cells), at)


def _add(
    into: Collector,
    params: dict[str, str],
    context: _Context,
    state: str,
    figures: dict[str, float],
    unit: str,
    extra: dict[str, float],
    at: int,
) -> None:
    known = _known(params)
    if not unit and known.contract.key.startswith("table."):
        _caution(into)
    unit, factor = _SCALE.get(unit, (unit or "cycles", 1.0))
    figures = {name: value if name == "n" else value * factor for name, value in figures.items()}
    statistics: dict[str, Any] = {name: figures.get(name) for name in ("mean", "sd", "minimum", "maximum", "median")}
    into.figure(
        known.contract,
        into.settings.clock("cycle counter", unit) if unit == "cycles" else Clock(unit, unit),
        line=at,
        name=" ".join(params.values()),
        configuration=context.configuration | ({"state": state} if state else {}),
        better=known.better,
        summary=Summary(0, n=whole(figures.get("n")), extra=extra, **statistics),
    )


def _caution(into: Collector) -> None:
    """Says once that the unit is a guess, unless the user named it."""
    if not into.settings.text("unit") and all(problem.what != _GUESSED for problem in into.problems):
        into.problem("note", _GUESSED)


def _known(params: dict[str, str]) -> sel4_keys.Known:
    """sel4bench's own columns give its own contracts; any other row is known by its parameters only."""
    cells = {slug(name): value for name, value in params.items()}
    function = cells.get("ipc_benchmark") or cells.get("function")
    words = whole(cells.get("ipc_length"))
    if function and words is not None:
        space = cells.get("in_same_vspace", cells.get("same_vspace", "")).lower()
        return sel4_keys.ipc(function, space in ("true", "yes", "1"), words)
    name = cells.get("benchmark", "")
    parameter = next((cells[column] for column in ("priority", "prio", "event", "waiter") if column in cells), "")
    if name and (known := sel4_keys.named(name, parameter)).contract.key.split(".")[0] != "sel4bench":
        return known
    values = [value for value in params.values() if value]
    key = ".".join(["table", *(slug(value) for value in values)])[:200]
    return sel4_keys.Known(Contract(key, " ".join(values)[:200], params=params, correction="unknown"))
