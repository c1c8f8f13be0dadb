# SPDX-License-Identifier: BSD-2-Clause
"""schbench: percentiles of wake-up and request latencies in microseconds, and requests per second.

A block is printed again and again while the program runs; the last of each kind counts. Before
version 1 there was one block, `Latency percentiles (usec)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from cyclometer.bundle.model import Span
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number
from cyclometer.ingest.quantities import PER_S, US
from cyclometer.ingest.reading import Foreign

NAME = "schbench"
DESCRIPTION = "schbench output"

_HEAD = re.compile(
    r"(?:(Wakeup|Request) Latencies|(RPS)|Latency) percentiles \((?:usec|requests)\)"
    r"(?: runtime (\d+) \(s\))?(?: \((\d+) total samples\))?"
)
_PERCENTILE = re.compile(r"\*?\s*(\d{1,2}\.\d{1,4})(?:th)?: (\d{1,18})(?:\s+\(\d+ samples\))?")
_ENDS = re.compile(r"min=(\d{1,18}), max=(\d{1,18})")
_AVERAGE = re.compile(r"average rps: ([\d.]{1,20})")
_WAKE = Span("one_way", "waker: futex wake", "worker: runs")
_KINDS = {
    "Wakeup": ("wakeup", "wake-up until the worker runs"),
    "Request": ("request", "one request of a worker"),
    "RPS": ("requests", "requests per second"),
    "": ("wakeup", "wake-up until the worker runs"),
}


@dataclass
class _Block:
    line: int
    n: str | None
    quantiles: dict[str, float | None] = field(default_factory=dict)
    ends: dict[str, Any] = field(default_factory=dict)


def detect(head: bytes, _filename: str) -> int:
    return 95 if re.search(rb"(?:Latenc(?:ies|y)|RPS) percentiles \(\w+\)", head) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    blocks: dict[str, _Block] = {}
    current: _Block | None = None
    average: tuple[int, str] | None = None
    for at, line in foreign.lines():
        text = line.strip()
        if match := _HEAD.match(text):
            current = blocks[match[1] or match[2] or ""] = _Block(at, match[4])
        elif match := _AVERAGE.fullmatch(text):
            average = (at, match[1])
        elif current is not None and (match := _PERCENTILE.fullmatch(text)):
            current.quantiles[f"{float(match[1]) / 100:.6g}"] = number(match[2])
        elif current is not None and (match := _ENDS.fullmatch(text)):
            current.ends = {"minimum": match[1], "maximum": match[2]}
        elif re.match(r"\*?\s*\d+\.\d+th", text):
            into.unread(text, at)
    for kind, block in blocks.items():
        _add(into, kind, block, average)
    return into.finish(NAME)


def _add(into: Collector, kind: str, block: _Block, average: tuple[int, str] | None) -> None:
    """Add a block; the median stands for it, for no mean of latencies is printed."""
    name, title = _KINDS[kind]
    median = block.quantiles.pop("0.5", None)
    into.add(
        f"schbench.{name}",
        PER_S if kind == "RPS" else US,
        title=title,
        interval=_WAKE if name == "wakeup" else None,
        line=block.line,
        n=block.n,
        mean=average[1] if kind == "RPS" and average else None,
        median=median,
        quantiles=block.quantiles,
        step=1.0,
        **block.ends,
    )
