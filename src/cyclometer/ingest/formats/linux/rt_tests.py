# SPDX-License-Identifier: BSD-2-Clause
"""rt-tests: cyclictest (text, histogram, JSON), signaltest, and the pair tests pmqtest, ptsematest,
svsematest and sigwaittest.

By default (without cyclictest's -N, --nsecs) all cut their latencies to microseconds; they become
nanoseconds with a step of 1000. Of a redrawn display the last state counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cyclometer.bundle.model import Clock, Span
from cyclometer.ingest.histogram import quantiles
from cyclometer.ingest.parsed import Collector, Parsed, Settings, machine, number, whole
from cyclometer.ingest.quantities import Quantity
from cyclometer.ingest.reading import Foreign, json_value

NAME = "rt-tests"
DESCRIPTION = "cyclictest (text, histogram, --json), signaltest, pmqtest and the other pair tests"

_THREAD = re.compile(
    r"T:\s*(?P<thread>\d+) \(\s*\d+\) P:\s*(?P<priority>\d+) (?:I:\s*(?P<interval>\d+) "
    r")?C:\s*(?P<n>\d+) "
    r"Min:\s*(?P<min>-?\d+) Act:(?P<act>\s*-?\d+) Avg:(?P<avg>\s*-?\d+) Max:\s*(?P<max>-?\d+)"
    r"(?:\s.*)?"
)
_PAIR_HEAD = re.compile(r"#(\d+): ID\d+, P(\d+), CPU(\d+), I(\d+); #\d+: .{1,80}, Cycles (\d+)")
_PAIR = re.compile(r"#(\d+) -> #(\d+), Min\s*(-?\d+), Cur\s*-?\d+, Avg\s*(-?\d+), Max\s*(-?\d+)")
_BUCKET = re.compile(r"(\d{6,12})((?:\s+\d{1,20})+)\s*")
_FOOT = re.compile(
    r"# (Min Latencies|Avg Latencies|Max Latencies|Total|Histogram Overflows):((?:\s+\d+)+)\s*"
)
_COMMAND = re.compile(r"(?:\S*/)?([\w-]{1,40})(?:\s|$)")
_NS = Quantity(Clock("CLOCK_MONOTONIC", "ns"))
_US = _NS.times(1e3)
_TIMER = Span("one_way", "timer: programmed expiry", "thread: runs")
_WAKE = Span("one_way", "sender: sends", "receiver: runs")
# program -> what its threads wait for, and what is timed
_TOOLS = {
    "cyclictest": ("timer.wakeup", "timer expiry until the thread runs", _TIMER),
    "cyclicdeadline": ("deadline.wakeup", "start of a period until the thread runs", _TIMER),
    "signaltest": ("signal.wake", "signal from thread to thread", _WAKE),
    "pmqtest": ("message_queue.wake", "POSIX message queue, send to receive", _WAKE),
    "ptsematest": ("mutex.wake", "POSIX mutex, unlock to lock", _WAKE),
    "svsematest": ("sysv_semaphore.wake", "SysV semaphore, post to wait", _WAKE),
    "sigwaittest": ("signal.wake", "signal, kill to sigwait", _WAKE),
}
_PAIRS = ("pmqtest", "ptsematest", "svsematest", "sigwaittest")
_MAX_THREADS = 4_096


def detect(head: bytes, _filename: str) -> int:
    if b'"rt_test_version' in head:
        return 95 if _tool_of(head.decode("utf-8", "replace")) in _TOOLS else 40
    if b"# Histogram" in head and b"Latencies" in head:
        return 95
    if re.search(rb"T:\s*\d+ \(\s*\d+\) P:\s*\d+ ", head) or re.search(
        rb"#\d+ -> #\d+, Min\s", head
    ):
        return 95
    return 90 if re.search(rb"^# Histogram\n\d{6} ", head, re.M) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    is_json = foreign.text.lstrip().startswith("{")
    target = _read_json(into) if is_json else _read_text(into)
    return into.finish(NAME, target=target, by_lines=not is_json)


def _tool_of(text: str) -> str:
    """The program that a JSON file's `cmdline` names; the member's name has had a colon."""
    found = re.search(r'"cmdline:?"\s*:\s*"([^"]{0,400})', text)
    command = _COMMAND.match(found[1]) if found else None
    return command[1] if command else ""


def _unit(settings: Settings, nanoseconds: bool) -> Quantity:
    return _NS if nanoseconds or settings.text("unit") == "ns" else _US


def _add(
    into: Collector,
    tool: str,
    thread: str,
    unit: Quantity,
    line: int = 0,
    about: Mapping[str, str | None] | None = None,
    **figures: Any,
) -> None:
    """Add what a program printed of one thread or pair."""
    key, title, interval = _TOOLS.get(tool, ("rt_tests.wake", "one of the pair tests", _WAKE))
    stated = {name: str(value) for name, value in (about or {}).items() if value is not None}
    if tool in ("signaltest", "sigwaittest"):
        stated["tool"] = tool  # both send signals, in different ways
    if not whole(figures["n"] if figures.get("n") is not None else 1):
        figures = {"n": 0, "status": "failed", "note": "no cycle was counted"}
    into.add(
        f"{key}.thread_{thread}",
        unit,
        title=title,
        params=stated,
        interval=interval,
        line=line,
        step=1.0,
        **figures,
    )


@dataclass
class _Histogram:
    """Counts of latencies, one column per thread."""

    buckets: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    foot: dict[str, tuple[int, ...]] = field(default_factory=dict)
    line: int = 0


def _read_text(into: Collector) -> str:
    threads: dict[tuple[str, str], tuple[int, re.Match[str]]] = {}
    pairs: dict[str, tuple[int, re.Match[str], re.Match[str] | None]] = {}
    head: re.Match[str] | None = None
    histogram = _Histogram()
    for at, line in into.foreign.lines():
        text = line.strip()
        if match := _THREAD.fullmatch(text):
            threads[match["thread"], "cyclictest" if match["interval"] else "signaltest"] = (
                at,
                match,
            )
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
    for (thread, tool), (at, match) in threads.items():
        _thread(into, tool, thread, at, match)
    for thread, (at, match, title) in pairs.items():
        _pair(into, thread, at, match, title)
    _quantify(into, histogram)
    return ""


def _thread(into: Collector, tool: str, thread: str, at: int, match: re.Match[str]) -> None:
    _add(
        into,
        tool,
        thread,
        _unit(into.settings, _is_in_ns(match)),
        at,
        {"priority": match["priority"], "interval_us": match["interval"]},
        n=match["n"],
        mean=match["avg"],
        minimum=match["min"],
        maximum=match["max"],
    )


def _is_in_ns(match: re.Match[str]) -> bool:
    """Whether cyclictest ran with -N, which no word of its output says.

    It then pads Act and Avg to eight characters instead of five (print_stat() in cyclictest.c), so
    that a padded figure of more than five characters is in nanoseconds.
    """
    return any(len(match[name]) > 5 and match[name].startswith(" ") for name in ("act", "avg"))


def _pair(
    into: Collector, thread: str, at: int, match: re.Match[str], head: re.Match[str] | None
) -> None:
    about = {"priority": head[2], "cpu": head[3], "interval_us": head[4]} if head else {}
    _add(
        into,
        _pair_tool(into, head),
        thread,
        _unit(into.settings, False),
        at,
        about,
        n=head[5] if head else None,
        mean=match[4],
        minimum=match[3],
        maximum=match[5],
    )


def _pair_tool(into: Collector, head: re.Match[str] | None) -> str:
    """Which pair test printed the text: only pmqtest's says so, the others print the same words."""
    if head and " TO " in head[0]:
        return "pmqtest"
    named = into.settings.text("tool", into.foreign.name)
    tool = next((tool for tool in _PAIRS if tool in named), "")
    if not tool:
        into.caution(
            "ptsematest, svsematest and sigwaittest print the same words, so what was timed is "
            "not known; name the program with --set tool=NAME"
        )
    return tool


def _bucket(into: Collector, histogram: _Histogram, at: int, match: re.Match[str]) -> None:
    edge, counts = whole(match[1]), _counts(into, match[2], at)
    if edge is not None and any(counts):
        into.count_values(len(counts))
        histogram.buckets.append((edge, counts))
    histogram.line = histogram.line or at


def _counts(into: Collector, text: str, at: int) -> tuple[int, ...]:
    """A line's counts, a column each; none, and a problem, if one is beyond 64 bits."""
    found = [whole(word) for word in text.split()[:_MAX_THREADS]]
    if None in found:
        into.unread(text, at)
        return ()
    return tuple(count or 0 for count in found)


def _quantify(into: Collector, histogram: _Histogram) -> None:
    """Every column as statistics with quantiles of the counts; overflows count as larger than every
    bucket.
    """
    width = max((len(counts) for _, counts in histogram.buckets), default=0)
    overflows = histogram.foot.get("Histogram Overflows", ())
    for thread in range(width):
        counts = [(edge, row[thread]) for edge, row in histogram.buckets if thread < len(row)]
        over = overflows[thread] if thread < len(overflows) else 0
        foot: dict[str, Any] = {
            name: float(row[thread])
            for name, label in (("minimum", "Min"), ("mean", "Avg"), ("maximum", "Max"))
            if thread < len(row := histogram.foot.get(f"{label} Latencies", ()))
        }
        total = sum(count for _, count in counts) + over
        if total:
            _add(
                into,
                "cyclictest",
                str(thread),
                _unit(into.settings, False),
                histogram.line,
                n=total,
                quantiles=quantiles(counts, total),
                extra={"overflows": float(over)},
                **foot,
            )


def _read_json(into: Collector) -> str:
    """Adds every thread's figures; returns the machine's name."""
    content = json_value(into.foreign.text, into.foreign.name)
    threads = content.get("thread") if isinstance(content, dict) else None
    if not isinstance(threads, dict):
        into.problem("unread", "no thread member with results")
        return ""
    system = content.get("sysinfo")
    into.environment["sysinfo"] = str(system)[:1000]
    into.environment["command"] = str(content.get("cmdline:", content.get("cmdline", "")))[:1000]
    unit = _unit(into.settings, content.get("resolution_in_ns") == 1)
    tool = _tool_of(into.foreign.text[:4_000]) or into.settings.text("tool", "cyclictest")
    for thread, figures in threads.items():
        if not isinstance(figures, dict) or not _json_thread(
            into, tool, str(thread)[:20], figures, unit
        ):
            into.problem("unread", f"thread {str(thread)[:20]} has no avg")
    return machine(system.get("nodename")) if isinstance(system, dict) else ""


def _json_thread(
    into: Collector, tool: str, thread: str, figures: dict[str, Any], unit: Quantity
) -> bool:
    """Adds a thread of cyclictest or signaltest, or a pair of the others; False without an avg."""
    sender, receiver = figures.get("sender"), figures.get("receiver")
    about: dict[str, str | None] = {"cpu": _text(figures.get("cpu"))}
    if isinstance(sender, dict) and isinstance(receiver, dict):
        about = {
            "cpu": _text(receiver.get("cpu")),
            "sender_cpu": _text(sender.get("cpu")),
            "priority": _text(receiver.get("priority")),
            "interval_us": _text(sender.get("interval")),
        }
        figures = receiver | {"cycles": sender.get("samples")}
    if number(figures.get("avg")) is None:
        return False
    counts = figures.get("histogram")
    listed = (
        [(whole(edge), whole(c)) for edge, c in counts.items()] if isinstance(counts, dict) else []
    )
    good = [(edge, count) for edge, count in listed if edge is not None and count and count > 0]
    _add(
        into,
        tool,
        thread,
        unit,
        0,
        about,
        n=whole(figures.get("cycles")),
        mean=number(figures["avg"]),
        minimum=number(figures.get("min")),
        maximum=number(figures.get("max")),
        quantiles=quantiles(good, sum(count for _, count in good)),
    )
    return True


def _text(value: Any) -> str | None:
    figure = whole(value)
    return None if figure is None else str(figure)
