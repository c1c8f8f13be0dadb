# SPDX-License-Identifier: BSD-2-Clause
"""rt-tests: cyclictest (text, histogram, JSON), signaltest, and the pair tests pmqtest, ptsematest, svsematest.

All print microseconds unless told otherwise; they become nanoseconds. Of a redrawn display the last state counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cyclometer.bundle.model import Contract, Interval, Summary
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, whole
from cyclometer.ingest.reading import Foreign, json_value

NAME = "rt-tests"
DESCRIPTION = "cyclictest (text, histogram, --json), signaltest, pmqtest, ptsematest, svsematest"

_THREAD = re.compile(
    r"T:\s*(?P<thread>\d+) \(\s*\d+\) P:\s*(?P<priority>\d+) (?:I:\s*(?P<interval>\d+) )?C:\s*(?P<n>\d+) "
    r"Min:\s*(?P<min>-?\d+) Act:\s*-?\d+ Avg:\s*(?P<avg>-?\d+) Max:\s*(?P<max>-?\d+)(?:\s.*)?"
)
_PAIR_HEAD = re.compile(r"#(\d+): ID\d+, P(\d+), CPU(\d+), I(\d+); #\d+: .{1,80}, Cycles (\d+)")
_PAIR = re.compile(r"#(\d+) -> #(\d+), Min\s*(-?\d+), Cur\s*-?\d+, Avg\s*(-?\d+), Max\s*(-?\d+)")
_BUCKET = re.compile(r"(\d{6,12})((?:\s+\d{1,20})+)\s*")
_FOOT = re.compile(r"# (Min Latencies|Avg Latencies|Max Latencies|Total|Histogram Overflows):((?:\s+\d+)+)\s*")
_PAIR_KEYS = {
    "pmqtest": "message_queue.wake",
    "ptsematest": "mutex.wake",
    "svsematest": "sysv_semaphore.wake",
    "sigwaittest": "signal.wake",
}
_PROBABILITIES = ("0.01", "0.05", "0.1", "0.25", "0.5", "0.75", "0.9", "0.95", "0.99", "0.999", "0.9999")
_TIMER = Interval("one_way", "timer: programmed expiry", "thread: runs")
_MAX_THREADS = 4_096


def detect(head: bytes, _filename: str) -> int:
    if b'"rt_test_version' in head or (b"# Histogram" in head and b"Latencies" in head):
        return 95
    if re.search(rb"T:\s*\d+ \(\s*\d+\) P:\s*\d+ ", head) or re.search(rb"#\d+ -> #\d+, Min\s", head):
        return 95
    return 90 if re.search(rb"^# Histogram\n\d{6} ", head, re.M) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    is_json = foreign.text.lstrip().startswith("{")
    (_read_json if is_json else _read_text)(into)
    return into.finish(NAME, by_lines=not is_json)


def _clock_factor(settings: Settings, nanoseconds: bool = False) -> float:
    return 1.0 if nanoseconds or settings.text("unit") == "ns" else 1e3


def _contract(kind: str, thread: int | str, **params: Any) -> Contract:
    titles = {"timer.wakeup": "timer expiry until the thread runs", "signal.wake": "signal from thread to thread"}
    interval = _TIMER if kind == "timer.wakeup" else Interval("one_way", "sender: sends", "receiver: runs")
    stated = {name: str(value) for name, value in params.items() if value is not None}
    return Contract(f"{kind}.thread_{thread}", titles.get(kind, kind), (), interval, params=stated, correction="none")


def _add(into: Collector, contract: Contract, line: int, factor: float, summary: Mapping[str, Any]) -> None:
    """Add printed statistics, converted to nanoseconds; counts and names stay as they are."""
    as_ns = {
        name: value * factor if name in ("mean", "sd", "minimum", "maximum", "median") and value is not None else value
        for name, value in summary.items()
    }
    into.figure(contract, into.settings.clock("CLOCK_MONOTONIC", "ns"), line=line, summary=Summary(0, **as_ns))


@dataclass
class _Histogram:
    """Counts of latencies, a column a thread."""

    buckets: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    foot: dict[str, tuple[int, ...]] = field(default_factory=dict)
    line: int = 0


def _read_text(into: Collector) -> None:
    factor = _clock_factor(into.settings)
    threads: dict[tuple[str, str], tuple[int, re.Match[str]]] = {}
    pairs: dict[str, tuple[int, re.Match[str], re.Match[str] | None]] = {}
    head: re.Match[str] | None = None
    histogram = _Histogram()
    for at, line in into.foreign.lines():
        text = line.strip()
        if match := _THREAD.fullmatch(text):
            threads[match["thread"], "timer.wakeup" if match["interval"] else "signal.wake"] = (at, match)
        elif match := _PAIR_HEAD.fullmatch(text):
            head = match
        elif match := _PAIR.fullmatch(text):
            pairs[match[1]] = (at, match, head)
        elif match := _BUCKET.fullmatch(text):
            _bucket(into, histogram, at, match)
        elif match := _FOOT.fullmatch(text):
            histogram.foot[match[1]] = _counts(into, match[2], at)
        elif re.search(r"\b(?:Min|Max|Avg)\b[\s:]*-?\d", text):
            into.unread(text, at)
    if len(threads) + len(pairs) > _MAX_THREADS:
        into.problem("note", f"{len(threads) + len(pairs)} threads are more than a machine has")
    for (thread, kind), (at, match) in threads.items():
        _thread(into, kind, thread, at, match, factor)
    for thread, (at, match, title) in pairs.items():
        _pair(into, thread, at, match, title, factor)
    _histogram(into, histogram, factor)


def _thread(into: Collector, kind: str, thread: str, at: int, match: re.Match[str], factor: float) -> None:
    contract = _contract(kind, thread, priority=match["priority"], interval_us=match["interval"])
    n = whole(match["n"])
    if not n:
        _add(into, contract, at, factor, {"n": 0, "status": "failed", "note": "no cycle was counted"})
        return
    figures = {"mean": number(match["avg"]), "minimum": number(match["min"]), "maximum": number(match["max"])}
    _add(into, contract, at, factor, {"n": n, **figures})


def _pair(
    into: Collector, thread: str, at: int, match: re.Match[str], head: re.Match[str] | None, factor: float
) -> None:
    usual = "pmqtest" if head and " TO " in head[0] else ""
    name = next((tool for tool in _PAIR_KEYS if tool in into.foreign.name), usual)
    about = {"priority": head[2], "cpu": head[3], "interval_us": head[4]} if head else {}
    contract = _contract(_PAIR_KEYS.get(name, "rt_tests.wake"), thread, **about)
    figures = {"mean": number(match[4]), "minimum": number(match[3]), "maximum": number(match[5])}
    _add(into, contract, at, factor, {"n": whole(head[5]) if head else None, **figures})


def _bucket(into: Collector, histogram: _Histogram, at: int, match: re.Match[str]) -> None:
    edge, counts = whole(match[1]), _counts(into, match[2], at)
    if edge is not None and any(counts):
        into.count_values(len(counts))
        histogram.buckets.append((edge, counts))
    histogram.line = histogram.line or at


def _counts(into: Collector, text: str, at: int) -> tuple[int, ...]:
    """A line's counts, a column each; none, and a problem, where one is beyond 64 bits."""
    found = [whole(word) for word in text.split()[:_MAX_THREADS]]
    if None in found:
        into.unread(text, at)
        return ()
    return tuple(count or 0 for count in found)


def _histogram(into: Collector, histogram: _Histogram, factor: float) -> None:
    """Every column as statistics with quantiles of the counts; overflows count as larger than every bucket."""
    width = max((len(counts) for _, counts in histogram.buckets), default=0)
    overflows = histogram.foot.get("Histogram Overflows", ())
    for thread in range(width):
        counts = [(us, row[thread]) for us, row in histogram.buckets if thread < len(row)]
        over = overflows[thread] if thread < len(overflows) else 0
        foot = {
            name: number(row[thread])
            for name, label in (("minimum", "Min"), ("mean", "Avg"), ("maximum", "Max"))
            if thread < len(row := histogram.foot.get(f"{label} Latencies", ()))
        }
        total = sum(count for _, count in counts) + over
        if not total:
            continue
        summary = {"n": total, "quantiles": _quantiles(counts, total, factor), "extra": {"overflows": float(over)}}
        _add(into, _contract("timer.wakeup", thread), histogram.line, factor, summary | foot)


def _quantiles(counts: list[tuple[int, int]], total: int, factor: float) -> dict[str, float]:
    """Probability -> lower edge of the bucket that holds that rank; none where it lies among the overflows."""
    found: dict[str, float] = {}
    for text in _PROBABILITIES:
        rank, below = float(text) * total, 0
        for us, count in sorted(counts):
            below += count
            if below >= rank:
                found[text] = us * factor
                break
    return found


def _read_json(into: Collector) -> None:
    content = json_value(into.foreign.text, into.foreign.name)
    threads = content.get("thread") if isinstance(content, dict) else None
    if not isinstance(threads, dict):
        into.problem("unread", "no thread member with results")
        return
    factor = _clock_factor(into.settings, content.get("resolution_in_ns") == 1)
    into.environment["sysinfo"] = str(content.get("sysinfo", ""))[:1000]
    into.environment["command"] = str(content.get("cmdline:", content.get("cmdline", "")))[:1000]
    for thread, figures in threads.items():
        if not isinstance(figures, dict) or number(figures.get("avg")) is None:
            into.problem("unread", f"thread {str(thread)[:20]} has no avg")
            continue
        counts = figures.get("histogram")
        listed = [(whole(us), whole(c)) for us, c in counts.items()] if isinstance(counts, dict) else []
        good = [(us, count) for us, count in listed if us is not None and count is not None and count > 0]
        total = sum(count for _, count in good)
        summary = {
            "n": whole(figures.get("cycles")),
            "mean": number(figures["avg"]),
            "minimum": number(figures.get("min")),
            "maximum": number(figures.get("max")),
            "quantiles": _quantiles(good, total, factor),
        }
        _add(into, _contract("timer.wakeup", str(thread)[:20], cpu=whole(figures.get("cpu"))), 0, factor, summary)
