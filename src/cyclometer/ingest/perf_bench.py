# SPDX-License-Identifier: BSD-2-Clause
"""perf bench: one total, time per operation or rate for each benchmark that ran."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath

from cyclometer.bundle.model import Clock, Contract, Summary
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.reading import Foreign
from cyclometer.units import NS_PER_S

NAME = "perf-bench"
DESCRIPTION = "perf bench output, in default and simple format"

_HEAD = re.compile(r"# Running '?([\w/ -]{1,60}?)'? benchmark:")
_N = r"(\d[\d.,]{0,24})"
_FIGURES = {
    "total_s": re.compile(rf"Total time: {_N} \[sec\]"),
    "us": re.compile(rf"{_N} usecs/op(?: \(?.*)?"),
    "per_s": re.compile(rf"{_N} ops/sec"),
    "average_per_s": re.compile(rf"Averaged {_N} operations/sec \(\+- ([\d.]+)%\).*"),
    "woken_ms": re.compile(rf"(?:Wokeup|Requeued) \d+ of \d+ threads in {_N} ms \(\+-([\d.]+)%\)"),
    "bytes_per_s": re.compile(rf"{_N} ([KMGT]?B)/sec.*"),
}
_SIMPLE = re.compile(r"\d{1,9}\.\d{1,9}")
_BYTES = {"B": 1.0, "KB": 2.0**10, "MB": 2.0**20, "GB": 2.0**30, "TB": 2.0**40}
_THREAD = re.compile(r"\[thread\s+(\d{1,6})\].*\[ (\d{1,18}) ops/sec \]")


@dataclass
class _Benchmark:
    name: str
    line: int
    figures: dict[str, float] = field(default_factory=dict)


def detect(head: bytes, filename: str) -> int:
    if re.search(rb"^# Running '?[\w/ -]+'? benchmark:", head, re.M):
        return 95
    return 60 if "perf" in filename and _SIMPLE.fullmatch(head.decode("utf-8", "replace").strip()) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """A benchmark that comes again is another run of its row."""
    into = Collector(foreign, settings)
    runs: dict[str, int] = {}
    benchmark = _Benchmark(PurePath(foreign.name).stem.removeprefix("perf-bench-"), 1)
    for at, line in foreign.lines():
        if head := _HEAD.match(line.strip()):
            _finish(into, benchmark, runs)
            benchmark = _Benchmark(head[1], at)
        elif not _take(benchmark, line.strip()) and re.search(r"\d (?:usecs|msecs|ops|ms|GB|MB)\b", line):
            into.unread(line, at)
    _finish(into, benchmark, runs)
    return into.finish(NAME)


def _take(benchmark: _Benchmark, text: str) -> bool:
    """Put a line's figure into the benchmark; False if it holds none that is known."""
    if thread := _THREAD.fullmatch(text):
        benchmark.figures[f"thread_{int(thread[1])}_per_s"] = float(thread[2])
        return True
    if _SIMPLE.fullmatch(text):
        benchmark.figures["total_s"] = float(text)
        return True
    for name, pattern in _FIGURES.items():
        match = pattern.fullmatch(text)
        value = number(match[1]) if match else None
        if match and value is not None:
            benchmark.figures[name] = value * (_BYTES[match[2]] if name == "bytes_per_s" else 1.0)
            if name in ("average_per_s", "woken_ms"):
                benchmark.figures["relative_sd_pct"] = number(match[2]) or 0.0
            return True
    return False


def _finish(into: Collector, benchmark: _Benchmark, runs: dict[str, int]) -> None:
    """Add the benchmark by the most direct of its figures; the others stand beside it."""
    figures = dict(benchmark.figures)
    time, rate = into.settings.clock("wall clock", "ns"), Clock("rate", "per_s")
    spread = figures.get("relative_sd_pct")
    for name, clock, factor in (
        ("us", time, 1e3),
        ("woken_ms", time, 1e6),
        ("average_per_s", rate, 1.0),
        ("bytes_per_s", rate, 1.0),
        ("per_s", rate, 1.0),
        ("total_s", time, float(NS_PER_S)),
    ):
        if name in figures:
            mean = figures.pop(name) * factor
            key = f"perf.{'.'.join(slug(part) for part in benchmark.name.split('/'))}"
            run = runs.get(key, 0)
            runs[key] = run + 1
            summary = Summary(0, mean=mean, sd=None if spread is None else mean * spread / 100, extra=figures)
            better = "higher" if clock is rate else "lower"
            contract = Contract(key, f"perf bench {benchmark.name}", correction="none")
            into.figure(contract, clock, line=benchmark.line, better=better, run=run, summary=summary)
            return
