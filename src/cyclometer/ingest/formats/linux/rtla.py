# SPDX-License-Identifier: BSD-2-Clause
"""rtla: `timerlat top` and `hist`, `osnoise top` and `hist`, in microseconds or nanoseconds.

The histograms' columns are CPUs, for timerlat an interrupt's, a thread's and a user thread's each.
Of a display that is redrawn the last state counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from cyclometer.bundle.model import Clock, Span
from cyclometer.ingest.histogram import quantiles
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, whole
from cyclometer.ingest.quantities import Quantity
from cyclometer.ingest.reading import Foreign

NAME = "rtla"
DESCRIPTION = "rtla timerlat and osnoise, top and hist"

_NS = Quantity(Clock("ktime", "ns"))
_US = _NS.times(1e3)
_TIMER = {
    "IRQ": ("timer.wakeup.irq", Span("one_way", "timer: expiry", "interrupt: handler runs")),
    "Thr": ("timer.wakeup.thread", Span("one_way", "timer: expiry", "thread: runs")),
    "Usr": ("timer.wakeup.user", Span("one_way", "timer: expiry", "thread: is in user space")),
}
_NOISE = Span("one_way", "thread: begins a period", "thread: ends it, noise alone counts")
_UNIT = re.compile(r"# Time unit is (microseconds|nanoseconds) \(\w+\)|.*\| time is in (us|ns)")
_INDEX = re.compile(r"Index\s+((?:(?:IRQ|Thr|Usr|CPU)-\d{3,5}\s*)+)")
_BUCKET = re.compile(r"(\d{1,9})((?:\s+(?:\d{1,18}|-))+)\s*")
_FOOT = re.compile(r"(over|count|min|avg|max):((?:\s+(?:\d[\d.]{0,20}|-))+)\s*")
_TOP = re.compile(
    r"\s*(?P<cpu>\d{1,5}) #(?P<n>\d{1,18})\s+\|(?P<irq>(?:\s+\d+){4}) \|(?P<thr>(?:\s+\d+){4})"
    r"(?: \|(?P<usr>(?:\s+\d+){4}))?\s*"
)
_OSNOISE = re.compile(
    r"\s*(?P<cpu>\d{1,5}) #(?P<n>\d{1,18})\s+(?P<runtime>\d+)\s+(?P<noise>\d+)\s+"
    r"(?P<free>[\d.]+)\s+(?P<most>\d+)\s+(?P<single>\d+)(?P<sources>(?:\s+\d+)*)\s*"
)
_FIELDS = {"min": "minimum", "avg": "mean", "max": "maximum"}


@dataclass
class _Histogram:
    """One table: its columns, the counts of each bucket and the figures below them."""

    columns: list[str]
    line: int
    counts: list[tuple[int, list[int]]] = field(default_factory=list)
    foot: dict[str, list[str]] = field(default_factory=dict)


def detect(head: bytes, _filename: str) -> int:
    if re.search(rb"# RTLA (?:timerlat|osnoise) histogram", head):
        return 95
    return 95 if re.search(rb"Timer Latency\s*$|Operating System Noise\s*$", head, re.M) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    unit, tables = _US, list[_Histogram]()
    tops: dict[str, tuple[int, re.Match[str]]] = {}
    for at, line in foreign.lines():
        text = line.strip()
        if match := _UNIT.match(text):
            unit = _NS if (match[1] or match[2]).startswith("n") else _US
        elif "Timer Latency (us)" in text or "Timer Latency (ns)" in text:
            unit = _NS if "(ns)" in text else _US
        elif match := _INDEX.fullmatch(text):
            tables.append(_Histogram(match[1].split(), at))
        elif match := _TOP.fullmatch(line) or _OSNOISE.fullmatch(line):
            tops[match["cpu"]] = (at, match)
        elif tables and (match := _BUCKET.fullmatch(text)):
            tables[-1].counts.append((int(match[1]), [whole(w) or 0 for w in match[2].split()]))
        elif tables and (match := _FOOT.fullmatch(text)):
            tables[-1].foot[match[1]] = match[2].split()
        elif re.match(r"\d+ #\d", text):
            into.unread(text, at)
    for table in tables:
        _add_histogram(into, table, unit)
    for at, match in tops.values():
        (_add_top if "irq" in match.groupdict() else _add_osnoise)(into, match, unit, at)
    return into.finish(NAME)


def _add_histogram(into: Collector, table: _Histogram, unit: Quantity) -> None:
    for place, column in enumerate(table.columns):
        kind, cpu = column.split("-")
        counts = [(edge, row[place]) for edge, row in table.counts if place < len(row)]
        foot: dict[str, Any] = {
            name: number(words[place]) for name, words in table.foot.items() if place < len(words)
        }
        total = whole(foot.get("count")) or sum(count for _, count in counts)
        if not total:
            continue
        printed: dict[str, Any] = {name: foot.get(label) for label, name in _FIELDS.items()}
        key, interval = _TIMER.get(kind, ("osnoise.noise", _NOISE))
        into.add(
            f"{key}.cpu_{int(cpu)}",
            unit,
            title="noise of one period" if kind == "CPU" else "timer expiry until it is served",
            interval=interval,
            line=table.line,
            name=column,
            step=1.0,
            n=total,
            quantiles=quantiles([(float(edge), count) for edge, count in counts], total),
            extra={"over": foot.get("over")},
            **printed,
        )


def _add_top(into: Collector, match: re.Match[str], unit: Quantity, at: int) -> None:
    for group, kind in (("irq", "IRQ"), ("thr", "Thr"), ("usr", "Usr")):
        if match[group]:
            _, low, mean, high = match[group].split()
            key, interval = _TIMER[kind]
            into.add(
                f"{key}.cpu_{int(match['cpu'])}",
                unit,
                title="timer expiry until it is served",
                interval=interval,
                line=at,
                n=match["n"],
                mean=mean,
                minimum=low,
                maximum=high,
            )


def _add_osnoise(into: Collector, match: re.Match[str], unit: Quantity, at: int) -> None:
    """Noise a period: the sum over the periods is printed, and the largest of one."""
    periods, noise = whole(match["n"]) or 0, number(match["noise"]) or 0.0
    if periods:
        single_ns = (number(match["single"]) or 0.0) * unit.factor
        extra = {"free_pct": number(match["free"]), "largest_single_ns": single_ns}
        into.add(
            f"osnoise.noise.cpu_{int(match['cpu'])}",
            unit,
            title="noise of one period",
            interval=_NOISE,
            line=at,
            n=periods,
            mean=noise / periods,
            maximum=match["most"],
            extra=extra,
        )
