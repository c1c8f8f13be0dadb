# SPDX-License-Identifier: BSD-2-Clause
"""ThreadX's Thread-Metric suite, as Zephyr and others print it: operations counted per period;
higher is better.
"""

from __future__ import annotations

import re

import numpy as np

from cyclometer.bundle.model import Clock, Contract
from cyclometer.ingest.parsed import Collector, Parsed, Settings, slug
from cyclometer.ingest.reading import Foreign

NAME = "thread-metric"
DESCRIPTION = "Thread-Metric output (Time Period Total lines)"

_TITLE = re.compile(
    r"\*{2,8} Thread-Metric (.{1,120}?)(?: Test)? \*{2,8}(?: Relative Time:\s*(\d{1,9}))?.*"
)
_TOTAL = re.compile(r"\s*Time Period Total:\s*(\d{1,18})\s*")


def detect(head: bytes, _filename: str) -> int:
    return 95 if b"Thread-Metric" in head or b"Time Period Total:" in head else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """Every total is a raw value, in order: the number of operations in one period, stored as it
    was printed.
    """
    into = Collector(foreign, settings)
    totals: dict[str, list[float]] = {}
    first_line: dict[str, int] = {}
    title = "unnamed"
    for at, line in foreign.lines():
        if match := _TITLE.fullmatch(line.strip()):
            title = match[1]
        elif match := _TOTAL.fullmatch(line):
            into.count_values(1)
            totals.setdefault(title, []).append(float(match[1]))
            first_line.setdefault(title, at)
        elif "Time Period Total" in line or "ERROR" in line:
            into.unread(line, at)
    for name, values in totals.items():
        contract = Contract(
            f"thread_metric.{slug(name)}", f"{name}: operations in one period", correction="none"
        )
        into.figure(
            contract,
            Clock("operations", "events"),
            "direct",
            line=first_line[name],
            name=name,
            better="higher",
            values=np.array(values),
        )
    return into.finish(NAME)
