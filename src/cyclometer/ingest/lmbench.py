# SPDX-License-Identifier: BSD-2-Clause
"""lmbench: the tables of its summary, and the lines that its single programs print.

Columns of the summary are those that the rule of dashes under the headings marks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cyclometer.bundle.model import Clock, Contract, Summary
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.reading import Foreign

NAME = "lmbench"
DESCRIPTION = "lmbench summary tables, or lines such as `Simple syscall: 0.04 microseconds`"

_SECTION = re.compile(
    r"\s*\*?(\S.{2,60}?) (?:-|in) (?:times in|latencies in|bandwidths in)?\s*(microseconds|nanoseconds|MB/s).*"
)
_RULE = re.compile(r"-{3,}(?: +-{2,})+\s*")
_LINE = re.compile(r"\s*([A-Za-z][^:]{1,100}): (\d[\d.]{0,20}) (microseconds|nanoseconds)\s*")
_TO_NS = {"microseconds": 1e3, "nanoseconds": 1.0}
_ABOUT = ("host", "os", "mhz", "description", "tlb_pages", "cache_line_bytes", "mem_par", "scal_load")


@dataclass
class _Table:
    section: str = ""
    unit: str = ""
    heads: list[str] = field(default_factory=list)
    columns: list[tuple[int, int, str]] = field(default_factory=list)  # start, end, heading


def detect(head: bytes, _filename: str) -> int:
    if b"L M B E N C H" in head:
        return 95
    return 70 if re.search(rb"^(?:Simple|Pipe|Process|Select|Signal) [^:\n]+: [\d.]+ microseconds", head, re.M) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """A line of a table is a run of its host; every column but host, system and clock rate is a row."""
    into = Collector(foreign, settings)
    table = _Table()
    runs: dict[str, int] = {}
    for at, line in foreign.lines():
        if match := _LINE.fullmatch(line):
            _add(into, f"lmbench.{slug(match[1])}", match[1], float(number(match[2]) or 0), match[3], at, {}, runs)
        elif match := _SECTION.fullmatch(line):
            table = _Table(match[1].strip(), match[2])
        elif _RULE.fullmatch(line):
            _set_columns(table, line)
        elif table.columns and line.strip() and not set(line.strip()) <= {"-"}:
            _read_line(into, table, line, at, runs)
        elif table.section:
            table.heads.append(line)
            table.columns = [] if not line.strip() else table.columns
    return into.finish(NAME)


def _set_columns(table: _Table, rule: str) -> None:
    heads = [line for line in table.heads if line.strip(" -")][-3:]
    table.columns = []
    for dashes in re.finditer(r"-+", rule):
        start, end = dashes.span()
        name = " ".join(line[start : end + 1].strip() for line in heads)
        table.columns.append((start, end, slug(name)))


def _read_line(into: Collector, table: _Table, line: str, at: int, runs: dict[str, int]) -> None:
    cells = [(name, line[start : end + 1].strip()) for start, end, name in table.columns]
    host = {name: cell for name, cell in cells[:2] if cell}
    found = 0
    for name, cell in cells:
        value = _value(cell)
        if value is None or name in _ABOUT or name in host:
            continue
        found += 1
        key = f"lmbench.{slug(table.section)}.{name}"
        _add(into, key, f"{table.section}: {name}", value, table.unit, at, host, runs)
    if not found and re.search(r"\d", line):
        into.unread(line, at)


def _value(cell: str) -> float | None:
    """A cell of the summary: `120.` is 120, `11.K` eleven thousand, `2.5M` two and a half million."""
    scale = {"K": 1e3, "M": 1e6}.get(cell[-1:], 1.0)
    value = number(cell[:-1] if scale > 1 else cell)
    return None if value is None else value * scale


def _add(
    into: Collector, key: str, title: str, value: float, unit: str, at: int, host: dict[str, str], runs: dict[str, int]
) -> None:
    contract = Contract(key[:200], title[:200], correction="subtracted")
    clock, better = (Clock("rate", "per_s"), "higher")
    if unit in _TO_NS:
        clock, better, value = into.settings.clock("wall clock", "ns"), "lower", value * _TO_NS[unit]
    run = runs.get(f"{key} {host}", 0)
    runs[f"{key} {host}"] = run + 1
    summary = Summary(0, mean=value)
    into.figure(contract, clock, line=at, name=title, configuration=host, better=better, run=run, summary=summary)
