# SPDX-License-Identifier: BSD-2-Clause
"""perf bench: one total, time per operation or rate for each benchmark and each of its variants.

What perf prints behind +- is the standard error of the mean, not a standard deviation
(`stddev_stats()` in tools/perf/util/stat.c divides by the square root of n).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath

from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.quantities import PER_S, SECONDS, US, Quantity, quantity
from cyclometer.ingest.reading import Foreign

NAME = "perf-bench"
DESCRIPTION = "perf bench output, in default and simple format"

_HEAD = re.compile(r"# Running '?([\w/ -]{1,60}?)'? benchmark(?::|\.\.\.)")
_VARIANT = re.compile(r"# function '([^']{1,60})'.*")
_CASE = re.compile(r"(\d{1,12}) operations (\d{1,12}) bits set of (\d{1,12}) bits")
_N = r"(\d[\d.,]{0,24})"
_MS = Quantity(US.clock, 1e6)
# What a line holds, the most direct figure first: a benchmark's row is made of the first it has.
_FIGURES: tuple[tuple[str, re.Pattern[str], Quantity], ...] = (
    ("us", re.compile(rf"{_N} usecs/op(?: \(?.*)?"), US),
    (
        "ms",
        re.compile(
            rf"(?:Wokeup|Requeued|Avg per-thread latency).{{1,60}} in {_N} ms \(\+-([\d.]+)%\)"
        ),
        _MS,
    ),
    ("average_per_s", re.compile(rf"Averaged {_N} operations/sec \(\+- ([\d.]+)%\).*"), PER_S),
    ("bytes_per_s", re.compile(rf"{_N} ([KMGT]?B)/sec.*"), PER_S),
    ("per_s", re.compile(rf"{_N} ops/sec"), PER_S),
    ("total_s", re.compile(rf"Total time: {_N} \[sec\]"), SECONDS),
)
_BESIDE = re.compile(rf"{_N} usecs/op/cpu")
_SIMPLE = re.compile(r"\d{1,15}\.\d{1,9}")
_BYTES = {"B": 1.0, "KB": 2.0**10, "MB": 2.0**20, "GB": 2.0**30, "TB": 2.0**40}
_RUN = re.compile(rf"\[Run \d{{1,6}}\]: .{{1,60}} in {_N} ms.*")
_THREAD = re.compile(r"\[thread\s+(\d{1,6})\].*\[ (\d{1,18}) ops/sec \]")
_AVERAGE = re.compile(rf"Average (\S.{{1,40}}?) took: +{_N} usec \(\+- ([\d.]+) usec\)")
_DERIVED = re.compile(rf"Average (?:time per event|num\. events):? {_N}(?: usec)?.*")
_NUMA = re.compile(rf"\s*([\w-]{{1,40}}),\s+{_N}, (\w{{1,20}})(?:/(\w+))?,\s+([\w/-]{{1,40}})")


@dataclass
class _Benchmark:
    """A benchmark, or one function of it, and what was printed of it so far."""

    name: str
    variant: str = ""
    line: int = 0
    figures: dict[str, tuple[float, str]] = field(default_factory=dict)  # with what followed
    runs_ms: list[float] = field(default_factory=list)
    threads: dict[str, float | None] = field(default_factory=dict)

    @property
    def key(self) -> str:
        parts = (*self.name.split("/"), self.variant)
        return ".".join(["perf", *(slug(part) for part in parts if part)])


def detect(head: bytes, filename: str) -> int:
    if re.search(rb"^# Running '?[\w/ -]+'? benchmark(?::|\.\.\.)", head, re.M):
        return 95
    only = _SIMPLE.fullmatch(head.decode("utf-8", "replace").strip())
    return 60 if "perf" in filename and only else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """A benchmark that comes again is another run of its row."""
    into = Collector(foreign, settings)
    benchmark = _Benchmark(PurePath(foreign.name).stem.removeprefix("perf-bench-"))
    case: dict[str, str] = {}
    for at, line in foreign.lines():
        text = line.strip()
        if head := _HEAD.match(text):
            _finish(into, benchmark)
            benchmark, case = _Benchmark(head[1], line=at), {}
        elif match := _VARIANT.fullmatch(text):
            _finish(into, benchmark)
            benchmark = _Benchmark(benchmark.name, match[1], at)
        elif match := _CASE.fullmatch(text):
            case = {"operations": match[1], "set": match[2], "bits": match[3]}
        elif _take(benchmark, text, at) or _aside(into, benchmark, text, case, at):
            pass
        elif re.search(r"\d (?:usecs?|msecs|ops|ms|GB|MB)\b", text):
            into.unread(text, at)
    _finish(into, benchmark)
    return into.finish(NAME)


def _take(benchmark: _Benchmark, text: str, at: int) -> bool:
    """Put a line's figure into the benchmark; False if it holds none that is known."""
    if match := _RUN.fullmatch(text):
        benchmark.runs_ms.append(number(match[1]) or 0.0)
        return True
    if match := _THREAD.fullmatch(text):
        benchmark.threads[f"thread_{int(match[1])}_per_s"] = number(match[2])
        return True
    if match := _BESIDE.fullmatch(text):
        benchmark.threads["us_per_cpu"] = number(match[1])
        return True
    if _SIMPLE.fullmatch(text):
        # The simple format prints seconds, but for mem bytes per second.
        name = "bytes_per_s" if benchmark.name.startswith("mem") else "total_s"
        benchmark.figures[name] = (float(text), "B")
        return True
    for name, pattern, _ in _FIGURES:
        match = pattern.fullmatch(text)
        value = number(match[1]) if match else None
        if match and value is not None:
            benchmark.line = benchmark.line or at
            benchmark.figures[name] = (value, match[2] if pattern.groups > 1 else "")
            return True
    return False


def _aside(
    into: Collector, benchmark: _Benchmark, text: str, case: dict[str, str], at: int
) -> bool:
    """Add a line that is a row for itself; False if it is none."""
    if match := _AVERAGE.fullmatch(text):
        extra = {"standard_error_us": number(match[3])}
        key = f"{benchmark.key}.{slug(match[1])}"
        into.add(key, US, line=at, name=text, params=case, mean=match[2], extra=extra)
        return True
    if match := _NUMA.fullmatch(text):
        key = f"{benchmark.key}.{slug(match[1])}.{slug(match[5])}"
        unit = quantity(match[3] if match[4] is None else f"{match[3]}/{match[4]}")
        into.add(key, unit, line=at, name=text, mean=match[2])
        return True
    return _DERIVED.fullmatch(text) is not None


def _finish(into: Collector, benchmark: _Benchmark) -> None:
    """Add the benchmark by the most direct of its figures; the others stand beside it."""
    for name, _, unit in _FIGURES:
        if name not in benchmark.figures:
            continue
        value, behind = benchmark.figures.pop(name)
        others = {other: number(first) for other, (first, _) in benchmark.figures.items()}
        sd = None
        if name == "bytes_per_s":
            value *= _BYTES[behind]
        elif behind:
            error = value * (number(behind) or 0.0) / 100
            n = len(benchmark.runs_ms) or len(benchmark.threads)
            sd = error * n**0.5
            others["standard_error_pct"] = number(behind)
        into.add(
            f"{benchmark.key}.total" if name == "total_s" else benchmark.key,
            unit,
            title=f"perf bench {benchmark.name} {benchmark.variant}".strip(),
            line=benchmark.line,
            extra=others | benchmark.threads,
            values=benchmark.runs_ms,
            n=len(benchmark.runs_ms) or None,
            mean=value,
            sd=sd,
        )
        return
