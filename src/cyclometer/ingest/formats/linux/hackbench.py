# SPDX-License-Identifier: BSD-2-Clause
"""hackbench: the time of a whole run of senders and receivers; every Time line is one value."""

from __future__ import annotations

import re

import numpy as np

from cyclometer.bundle.model import Contract, Span
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number
from cyclometer.ingest.reading import Foreign
from cyclometer.units import NS_PER_S

NAME = "hackbench"
DESCRIPTION = "hackbench output (Time: seconds)"

_HEAD = re.compile(
    r"Running in (process|thread\w*) mode with (\d{1,9}) groups using (\d{1,9}) file descriptors "
    r"each.{0,80}"
)
_MESSAGES = re.compile(r"Each sender will pass (\d{1,12}) messages of (\d{1,12}) bytes")
_TIME = re.compile(r"Time:\s*(\d[\d.]{0,20})")
_WHOLE = Span("round_trip", "all senders and receivers are ready", "all have ended")


def detect(head: bytes, _filename: str) -> int:
    return 95 if b"Each sender will pass" in head else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """Repetitions of one workload are runs of one row."""
    into = Collector(foreign, settings)
    params: dict[str, str] = {}
    runs: dict[str, int] = {}
    for at, line in foreign.lines():
        text = line.strip()
        if match := _HEAD.fullmatch(text):
            params = {"mode": match[1], "groups": match[2], "descriptors": match[3]}
        elif match := _MESSAGES.fullmatch(text):
            params |= {"messages": match[1], "bytes": match[2]}
        elif (match := _TIME.fullmatch(text)) and (seconds := number(match[1])) is not None:
            run = runs.get(str(params), 0)
            runs[str(params)] = run + 1
            title = "groups of senders and receivers, whole run"
            contract = Contract(
                "hackbench.total", title, (), _WHOLE, params=params, correction="none"
            )
            clock = settings.clock("wall clock", "ns")
            into.figure(
                contract, clock, "direct", line=at, run=run, values=np.array([seconds * NS_PER_S])
            )
        elif re.search(r"\d", text):
            into.unread(text, at)
    return into.finish(NAME)
