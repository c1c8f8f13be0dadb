# SPDX-License-Identifier: BSD-2-Clause
"""sysbench 1.x: the latency of an event in milliseconds and the rates of one test.

Latencies have two decimals only: for `memory` they are mostly 0.00, and the rate is the result.
"""

from __future__ import annotations

import re
from typing import Any

from cyclometer.ingest.parsed import Collector, Parsed, Settings, number
from cyclometer.ingest.quantities import NS, PER_S, Quantity
from cyclometer.ingest.reading import Foreign

NAME = "sysbench"
DESCRIPTION = "sysbench output (cpu, threads, mutex, memory, fileio, OLTP)"

_N = r"(\d[\d.]{0,24})"
_VERSION = re.compile(r"sysbench (\d[\w.-]{0,20}) \(.*")
_THREADS = re.compile(r"Number of threads: (\d{1,9})")
_TEST = {
    "Prime numbers limit": "cpu",
    "Running memory speed test": "memory",
    "Extra file open flags": "fileio",
    "queries performed": "sql",
}
_LATENCY = re.compile(rf"(min|avg|max|sum|(\d{{1,2}})th percentile): +{_N}")
_EVENTS = re.compile(rf"(?:total number of events: +{_N}|events/s \(eps\): +{_N})")
_ELAPSED = re.compile(rf"(?:total time|time elapsed): +{_N}s")
_SPEED = re.compile(rf"events per second: +{_N}")
_MEMORY = re.compile(rf"{_N} MiB transferred \({_N} MiB/sec\)")
_OPERATIONS = re.compile(rf"Total operations: \d+ \( *{_N} per second\)")
_FILES = re.compile(rf"(reads|writes|fsyncs)/s: +{_N}|(read|written), MiB/s: +{_N}")
_PER_S = re.compile(rf"(transactions|queries): +\d+ +\({_N} per sec\.\)")
_BUCKET = re.compile(rf"{_N} \|[* ]*\d+")
_FIELDS = {"min": "minimum", "avg": "mean", "max": "maximum"}


def detect(head: bytes, _filename: str) -> int:
    return 95 if re.search(rb"^sysbench \d[\w.-]+ \(using ", head, re.M) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """A file holds one run of one test, or several one after another."""
    into = Collector(foreign, settings)
    lines: list[tuple[int, str]] = []
    for at, line in foreign.lines():
        if _VERSION.fullmatch(line.strip()):
            _read_run(into, lines)
            lines = []
        lines.append((at, line.strip()))
    _read_run(into, lines)
    return into.finish(NAME)


def _read_run(into: Collector, lines: list[tuple[int, str]]) -> None:
    """Add what one run printed: the rates of its test, and the latency of an event."""
    test = next((t for _, line in lines for word, t in _TEST.items() if word in line), "events")
    if test == "events":
        test = next((name for name in ("threads", "mutex") if name in into.foreign.name), test)
    threads = next((m[1] for _, line in lines if (m := _THREADS.fullmatch(line))), "")
    params = {"threads": threads} if threads else {}
    for at, text in lines:
        if found := _rate(text):
            name, unit, printed = found
            into.add(
                f"sysbench.{test}.{name}", unit, params=params, line=at, name=text, mean=printed
            )
        elif re.search(r"\d (?:per second|per sec\.|MiB/sec)\b", text) and not _BUCKET.match(text):
            into.unread(text, at)
    _add_latency(into, test, params, lines)


def _rate(text: str) -> tuple[str, Quantity, str] | None:
    """Name, unit and figure of a line that holds a rate; MiB are 2^20 bytes."""
    mib = PER_S.times(2.0**20)
    if match := _MEMORY.fullmatch(text):
        return "transfer", mib, match[2]
    if match := _OPERATIONS.fullmatch(text) or _SPEED.fullmatch(text):
        return "speed", PER_S, match[1]
    if match := _PER_S.fullmatch(text):
        return match[1], PER_S, match[2]
    if match := _FILES.fullmatch(text):
        return (match[1], PER_S, match[2]) if match[1] else (match[3], mib, match[4])
    return None


def _add_latency(
    into: Collector, test: str, params: dict[str, str], lines: list[tuple[int, str]]
) -> None:
    latency: dict[str, Any] = {}
    quantiles: dict[str, float | None] = {}
    events, elapsed_s, start = 0.0, 0.0, 0
    for at, text in lines:
        if match := _EVENTS.fullmatch(text):
            events = number(match[1] or match[2]) or 0.0
        elif match := _ELAPSED.fullmatch(text):
            elapsed_s = number(match[1]) or 0.0
        elif match := _LATENCY.fullmatch(text):
            start = start or at
            if match[2]:
                quantiles[f"{int(match[2]) / 100:g}"] = number(match[3])
            elif match[1] in _FIELDS:
                latency[_FIELDS[match[1]]] = match[3]
    if latency:
        into.add(
            f"sysbench.{test}.event",
            NS.times(1e6),
            title="one event",
            params=params,
            line=start,
            n=events or None,
            quantiles=quantiles,
            extra={"events_per_s": events / elapsed_s if elapsed_s else None},
            step=0.01,
            **latency,
        )
