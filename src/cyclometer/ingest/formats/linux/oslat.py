# SPDX-License-Identifier: BSD-2-Clause
"""oslat (rt-tests): gaps that the system tears into a busy loop, a histogram a CPU, as text or
JSON.

The gaps are whole microseconds; the last bucket holds all longer ones, too.
"""

from __future__ import annotations

import re
from typing import Any

from cyclometer.bundle.model import Clock, Span
from cyclometer.ingest.histogram import quantiles
from cyclometer.ingest.parsed import Collector, Parsed, Settings, machine, number, whole
from cyclometer.ingest.quantities import Quantity
from cyclometer.ingest.reading import Foreign, json_value

NAME = "oslat"
DESCRIPTION = "oslat output, as text or --json"

_US = Quantity(Clock("time stamp counter", "ns"), 1e3)
_GAP = Span("one_way", "thread: reads the clock", "thread: reads it again")
_JSON = re.compile(rb'"cmdline:?"\s*:\s*"(?:\S*/)?oslat\b')
_CORES = re.compile(r"\s*Core:\s+([\d ]{1,4000})")
_BUCKET = re.compile(r"\s*(\d{3,9}) \(us\):\s+([\d ]{1,40000}?)(?: \(including overflows\))?")
_STATISTIC = re.compile(r"\s*(Minimum|Average|Maximum):\s+([\d. ]{1,40000}?) \(us\)")
_FIELDS = {"Minimum": "minimum", "Average": "mean", "Maximum": "maximum"}
_MAX_CPUS = 4_096


def detect(head: bytes, _filename: str) -> int:
    if _JSON.search(head):
        return 95
    return 95 if re.search(rb"^oslat V \d|^ *Max-Min:\s+\d[\d ]* \(us\)", head, re.M) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    is_json = foreign.text.lstrip().startswith("{")
    target = _read_json(into) if is_json else _read_text(into)
    return into.finish(NAME, target=target, by_lines=not is_json)


def _add(
    into: Collector, cpu: str, counts: list[tuple[int, int]], line: int, **figures: Any
) -> None:
    """Add one CPU's gaps; ranks in the last bucket are unknown, for it is open."""
    total = sum(count for _, count in counts)
    closed = [(float(edge), count) for edge, count in sorted(counts)[:-1]]
    into.add(
        f"oslat.gap.cpu_{cpu}",
        _US,
        title="gap in a busy loop that the system took",
        interval=_GAP,
        line=line,
        step=1.0,
        n=total,
        quantiles=quantiles(closed, total),
        **figures,
    )


def _read_text(into: Collector) -> str:
    cpus: list[str] = []
    start = 0
    counts: dict[int, list[tuple[int, int]]] = {}
    figures: dict[str, list[str]] = {}
    for at, line in into.foreign.lines():
        if match := _CORES.fullmatch(line):
            cpus, start = match[1].split()[:_MAX_CPUS], at
        elif match := _BUCKET.fullmatch(line):
            for place, word in enumerate(match[2].split()[:_MAX_CPUS]):
                counts.setdefault(place, []).append((int(match[1]), whole(word) or 0))
        elif match := _STATISTIC.fullmatch(line):
            figures[_FIELDS[match[1]]] = match[2].split()
        elif re.search(r"\d \(us\)|\(us\):", line) and "Max-Min" not in line:
            into.unread(line, at)
    for place, cpu in enumerate(cpus):
        printed = {name: words[place] for name, words in figures.items() if place < len(words)}
        if counts.get(place) or printed:
            _add(into, cpu, counts.get(place, []), start, **printed)
    return ""


def _read_json(into: Collector) -> str:
    """Adds every thread's figures; returns the machine's name."""
    content = json_value(into.foreign.text, into.foreign.name)
    threads = content.get("thread") if isinstance(content, dict) else None
    for name, thread in threads.items() if isinstance(threads, dict) else ():
        histogram = thread.get("histogram") if isinstance(thread, dict) else None
        if not isinstance(histogram, dict):
            into.problem("unread", f"thread {str(name)[:20]} has no histogram")
            continue
        counts = [(whole(edge), whole(count)) for edge, count in histogram.items()]
        good = [(edge, count) for edge, count in counts if edge is not None and count]
        _add(
            into,
            str(whole(thread.get("cpu")) if whole(thread.get("cpu")) is not None else name)[:20],
            [(edge, count) for edge, count in good if count > 0],
            0,
            mean=number(thread.get("avg")),
            minimum=number(thread.get("min")),
            maximum=number(thread.get("max")),
        )
    system = content.get("sysinfo") if isinstance(content, dict) else None
    return machine(system.get("nodename")) if isinstance(system, dict) else ""
