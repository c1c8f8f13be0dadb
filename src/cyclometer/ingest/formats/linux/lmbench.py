# SPDX-License-Identifier: BSD-2-Clause
"""lmbench: the tables of its summary, and what its single programs print: lines with a name, and
pairs of a size and a figure below a heading (lat_ctx, lat_mem_rd, bw_mem and others).

Columns of the summary are those that the rule of dashes under the headings marks. MB are 10^6 bytes
(lib_timing.c).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cyclometer.bundle.model import Clock, Contract, Summary
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.quantities import NS, PER_S, US, Quantity, quantity
from cyclometer.ingest.reading import Foreign

NAME = "lmbench"
DESCRIPTION = "lmbench summary tables, or what lat_*, bw_* and the results files print"

_SECTION = re.compile(
    r"\s*\*?(\S.{2,60}?) (?:-|in) (?:times in|latencies in|bandwidths "
    r"in)?\s*(microseconds|nanoseconds|MB/s).*"
)
_RULE = re.compile(r"-{3,}(?: +-{2,})+\s*")
_LINE = re.compile(r"\s*([A-Za-z][^:]{1,100}): (\d[\d.]{0,20}) (microseconds|nanoseconds)\s*")
_SPEED = re.compile(r"\s*([A-Za-z][^:]{1,100}): (\d[\d.]{0,20}) ([KM]B/sec)\s*")
_SWITCH = re.compile(r'"size=(\d{1,9})k ovr=[\d.]{1,12}(?: mks)?')
_STRIDE = re.compile(r'"stride=(\d{1,9})')
_OF_PAIRS = re.compile(
    r'"?((?:[A-Za-z][\w /.-]{0,60} )?(?:bandwidth|mappings|b(?:copy|zero)(?: \w{1,20})?))'
)
_PAIR = re.compile(r"(\d[\d.]{0,15}) (\d[\d.]{0,20})")
_TO_NS = {"microseconds": 1e3, "nanoseconds": 1.0}
_ABOUT = (
    "host",
    "os",
    "mhz",
    "description",
    "tlb_pages",
    "cache_line_bytes",
    "mem_par",
    "scal_load",
)


@dataclass
class _Table:
    section: str = ""
    unit: str = ""
    heads: list[str] = field(default_factory=list)
    columns: list[tuple[int, int, str]] = field(default_factory=list)  # start, end, heading


def detect(head: bytes, _filename: str) -> int:
    if b"L M B E N C H" in head or re.search(rb'^"size=\d+k ovr=[\d.]+', head, re.M):
        return 95
    if re.search(rb'^"stride=\d+\r?\n[\d.]+ [\d.]+', head, re.M):
        return 90
    return (
        70
        if re.search(
            rb"^(?:Simple|Pipe|Process|Select|Signal) [^:\n]+: [\d.]+ microseconds", head, re.M
        )
        else 0
    )


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """A line of a table is a run of its host; every column but host, system and clock rate is a
    row.
    """
    into = Collector(foreign, settings)
    table, pairs = _Table(), None
    runs: dict[str, int] = {}
    for at, line in foreign.lines():
        text = line.strip()
        if heading := _heading(text):
            pairs = heading
        elif match := _PAIR.fullmatch(text):
            if pairs is None:
                into.unread(text, at)
            else:
                _add_pair(into, pairs, match, at)
        elif match := _SPEED.fullmatch(line):
            unit = quantity(match[3])
            into.add(f"lmbench.{slug(match[1])}", unit, line=at, name=match[1], mean=match[2])
        elif match := _LINE.fullmatch(line):
            _add(
                into,
                f"lmbench.{slug(match[1])}",
                match[1],
                float(number(match[2]) or 0),
                match[3],
                at,
                {},
                runs,
            )
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


@dataclass(frozen=True)
class _Pairs:
    """What a heading says of the pairs of a size and a figure below it."""

    key: str
    unit: Quantity
    size: str
    params: dict[str, str] = field(default_factory=dict)


def _heading(text: str) -> _Pairs | None:
    if match := _SWITCH.fullmatch(text):
        return _Pairs("lmbench.context_switch", US, "processes", {"size_kib": match[1]})
    if match := _STRIDE.fullmatch(text):
        return _Pairs("lmbench.memory_read", NS, "size_mb", {"stride": match[1]})
    if match := _OF_PAIRS.fullmatch(text):
        unit = US if "mappings" in text else PER_S.times(1e6)
        return _Pairs(f"lmbench.{slug(match[1])}", unit, "size_mb")
    return None


def _add_pair(into: Collector, pairs: _Pairs, match: re.Match[str], at: int) -> None:
    into.add(
        pairs.key,
        pairs.unit,
        params=pairs.params | {pairs.size: match[1]},
        line=at,
        name=match[0],
        mean=match[2],
        correction="subtracted",
    )


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
    """A cell of the summary: `120.` is 120, `11.K` eleven thousand, `2.5M` two and a half
    million.
    """
    scale = {"K": 1e3, "M": 1e6}.get(cell[-1:], 1.0)
    value = number(cell[:-1] if scale > 1 else cell)
    return None if value is None else value * scale


def _add(
    into: Collector,
    key: str,
    title: str,
    value: float,
    unit: str,
    at: int,
    host: dict[str, str],
    runs: dict[str, int],
) -> None:
    contract = Contract(key[:200], title[:200], correction="subtracted")
    clock, better = (Clock("rate", "per_s"), "higher")
    if unit in _TO_NS:
        clock, better, value = (
            into.settings.clock("wall clock", "ns"),
            "lower",
            value * _TO_NS[unit],
        )
    run = runs.get(f"{key} {host}", 0)
    runs[f"{key} {host}"] = run + 1
    summary = Summary(0, mean=value)
    into.figure(
        contract,
        clock,
        line=at,
        name=title,
        configuration=host,
        better=better,
        run=run,
        summary=summary,
    )
