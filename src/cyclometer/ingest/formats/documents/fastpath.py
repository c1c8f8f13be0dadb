# SPDX-License-Identifier: BSD-2-Clause
"""Result tables of Arm's Fastpath as they stand in cover letters: benchmark, result class, and a
column per kernel, the first with figures and the others with changes in percent.

(R) marks a regression and (I) an improvement that Fastpath holds for significant. A table may give
changes alone, against a kernel that it names in its heading only; these become rows of percent.
"""

from __future__ import annotations

import re

from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.quantities import Quantity, events, quantity
from cyclometer.ingest.reading import Foreign

NAME = "fastpath"
DESCRIPTION = "Arm Fastpath result tables"

_RULE = re.compile(r"\+[-=+]{6,}\+")
_CELL = re.compile(r"(?:\(([RI])\)\s*)?(-?[\d,]+(?:\.\d+)?)\s*(%)?")
_CLASS = re.compile(r"(.{1,60}?)\s*\(([^()]{1,20})\)")
_QUOTED = re.compile(r"^(?:> ?)*")


def detect(head: bytes, _filename: str) -> int:
    return 95 if re.search(rb"^[> ]*\| *Benchmark *\| *Result Class *\|", head, re.M) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    heads: list[list[str]] = []
    columns: list[str] = []
    benchmark, in_head = "", False
    for at, line in foreign.lines():
        text = _QUOTED.sub("", line).strip()
        if _RULE.fullmatch(text):
            if "=" in text:
                columns, in_head = _columns(heads), False
            elif not columns:
                heads, in_head = [], True
        elif not text.startswith("|"):
            heads, columns, in_head = [], [], False
        else:
            cells = [cell.strip() for cell in text.strip("|").split("|")]
            if in_head or not columns:
                heads.append(cells)
            elif len(cells) != len(columns):
                into.unread(text, at)
            else:
                benchmark = cells[0] or benchmark
                _row(into, benchmark, columns, cells, at)
    return into.finish(NAME)


def _columns(heads: list[list[str]]) -> list[str]:
    """Headings that are spread over several lines, joined."""
    width = max(map(len, heads), default=0)
    parts = [[row[place] for row in heads if place < len(row)] for place in range(width)]
    return [" ".join(filter(None, part)) for part in parts]


def _row(into: Collector, benchmark: str, columns: list[str], cells: list[str], at: int) -> None:
    named = _CLASS.fullmatch(cells[1])
    statistic, unit = (named[1], named[2]) if named else (cells[1], "")
    key = ".".join(["fastpath", *(slug(part) for part in f"{benchmark}/{statistic}".split("/"))])
    base = None
    for kernel, cell in zip(columns[2:], cells[2:], strict=True):
        match = _CELL.fullmatch(cell)
        value = number(match[2]) if match else None
        if match is None or value is None:
            if cell not in ("", "-"):
                into.unread(cell, at)
            continue
        known = quantity(unit)
        extra: dict[str, float | None] = {"marked": 1.0} if match[1] else {}
        if match[3] and base is not None:
            extra["change_pct"] = value
            value = base * (1 + value / 100)
        elif match[3]:
            known, key = Quantity(events("percent").clock), f"{key.removesuffix('.change')}.change"
        else:
            base = value
        into.add(
            key,
            known,
            title=f"{benchmark} {cells[1]}",
            configuration={"kernel": kernel[:80]},
            line=at,
            name=f"{benchmark} {cells[1]}",
            mean=value,
            extra=extra,
        )
