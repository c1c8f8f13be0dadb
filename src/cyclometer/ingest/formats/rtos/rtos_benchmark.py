# SPDX-License-Identifier: BSD-2-Clause
"""rtos-benchmark: sections of `name: average, minimum, maximum`; operations a system lacks print
n/a.
"""

from __future__ import annotations

import re

from cyclometer.bundle.model import Contract, Summary
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.reading import Foreign

NAME = "rtos-benchmark"
DESCRIPTION = "rtos-benchmark output ([avg, min, max] sections)"

_SECTION = re.compile(
    r"\*\* (.{1,80}?) stats \[avg, min, max\] in (nanoseconds|microseconds|cycles|ticks) \*\*"
)
_ROW = re.compile(r"(\S[^:]{0,80}?)\s*:\s*(\d{1,19}|n/a),\s*(\d{1,19}|n/a),\s*(\d{1,19}|n/a)", re.I)
_UNITS = {
    "nanoseconds": ("ns", 1.0),
    "microseconds": ("ns", 1e3),
    "cycles": ("cycles", 1.0),
    "ticks": ("ticks", 1.0),
}


def detect(head: bytes, _filename: str) -> int:
    return 95 if b"stats [avg, min, max] in" in head else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """Nothing is corrected in these figures. A section that comes again begins the next run."""
    into = Collector(foreign, settings)
    section, unit, factor = "unnamed", "ns", 1.0
    seen: dict[str, int] = {}
    for at, line in foreign.lines():
        text = line.strip()
        if head := _SECTION.fullmatch(text):
            section, (unit, factor) = head[1], _UNITS[head[2]]
            seen[section] = seen.get(section, -1) + 1
        elif row := _ROW.fullmatch(text):
            mean, low, high = (number(cell) for cell in row.groups()[1:])
            known = None not in (mean, low, high)
            summary = Summary(
                0,
                mean=_scaled(mean, factor),
                minimum=_scaled(low, factor),
                maximum=_scaled(high, factor),
                status="ok" if known else "failed",
                note="" if known else "the system has no such operation (n/a)",
            )
            contract = Contract(
                f"rtos.{slug(section)}.{slug(row[1])}", f"{section}: {row[1]}", correction="none"
            )
            clock = settings.clock("benchmark clock", unit)
            into.figure(
                contract,
                clock,
                line=at,
                name=row[1],
                run=max(seen.get(section, 0), 0),
                summary=summary,
            )
        elif re.search(r":\s*\d+,", text):
            into.unread(text, at)
    return into.finish(NAME)


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
