# SPDX-License-Identifier: BSD-2-Clause
"""The latency test of Xenomai, and those made after it (EVL's latmus, RTXI's): RTT, RTH, RTD and
RTS lines in microseconds.

An RTD line sums up one second and becomes a visit of its run. RTS sums up the whole run, whose
average is that of the seconds; it counts if there are no RTD lines, as with -q.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cyclometer.bundle.model import Contract, Span, Summary
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number
from cyclometer.ingest.reading import Foreign

NAME = "xenomai"
DESCRIPTION = "Xenomai's latency and EVL's latmus (RTT, RTD, RTS lines)"

_HEAD = re.compile(r"RTT\|\s+[\d:]+\s+\((.{1,160})\)")
_N = r"\s*(-?\d[\d.]{0,20})"
_SECOND = re.compile(rf"RTD\|{_N}\|{_N}\|{_N}\|\s*(\d+)\|\s*(\d+)\|{_N}\|{_N}")
_WHOLE = re.compile(rf"RTS\|{_N}\|{_N}\|{_N}\|\s*(\d+)\|\s*(\d+)\|\s*([\d:]+)/([\d:]+)")
_PERIOD = re.compile(r"(\d+) us period")
_PROGRAMMED = Span("one_way", "timer: programmed expiry", "task: runs")


_Microseconds = tuple[float | None, float | None, float | None]  # min, avg, max


@dataclass
class _Run:
    """What is between the first RTT line of a test and its RTS."""

    about: str = ""
    line: int = 0
    seconds: list[_Microseconds] = field(default_factory=list)
    overruns: float | None = None


def detect(head: bytes, _filename: str) -> int:
    return 95 if re.search(rb"^ *RT[TDS]\|[ \d:.-]+", head, re.M) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    run, runs = _Run(), 0
    for at, line in foreign.lines():
        text = line.strip()
        if match := _HEAD.fullmatch(text):
            if not run.seconds:
                run = _Run(match[1], at)
        elif match := _SECOND.fullmatch(text):
            run.seconds.append((number(match[1]), number(match[2]), number(match[3])))
            run.overruns = number(match[4])
        elif match := _WHOLE.fullmatch(text):
            run.overruns = number(match[4])
            _add(into, run, runs, (number(match[1]), number(match[2]), number(match[3])))
            run, runs = _Run(), runs + 1
        elif text.startswith(("RTD|", "RTS|")):
            into.unread(text, at)
    if run.seconds:
        _add(into, run, runs, run.seconds[-1])
    return into.finish(NAME)


def _add(into: Collector, run: _Run, number_of_run: int, whole: _Microseconds) -> None:
    """Add a run second by second, or as a whole if no second was printed."""
    mode = run.about.split(",")[0]
    period = _PERIOD.search(run.about)
    params = {"mode": mode} | ({"period_us": period[1]} if period else {})
    contract = Contract(
        "timer.wakeup.xenomai",
        "timer expiry until the task runs",
        (),
        _PROGRAMMED,
        params=params,
        correction="none",
    )
    clock = into.settings.clock("CLOCK_MONOTONIC", "ns")
    seconds = run.seconds or [whole]
    for second, (low, mean, high) in enumerate(seconds):
        last = second == len(seconds) - 1
        into.figure(
            contract,
            clock,
            line=run.line,
            name=run.about,
            run=number_of_run,
            visit=second if run.seconds else -1,
            summary=Summary(
                0,
                minimum=None if low is None else low * 1e3,
                mean=None if mean is None else mean * 1e3,
                maximum=None if high is None else high * 1e3,
                step=1.0,
                extra={"overruns": run.overruns} if last and run.overruns else {},
            ),
        )
