# SPDX-License-Identifier: BSD-2-Clause
"""Zephyr's ztest benchmarks: lines S or M (statistics), P (percentiles), C (cold) and T
(throughput), or the blocks of the verbose form.

The framework subtracts a control measurement. Lines of one suite and benchmark make one row; a
benchmark that the tool called INCONCLUSIVE keeps that status.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from cyclometer.bundle.model import Contract, Summary
from cyclometer.ingest.formats.rtos.zephyr_keys import SUBTRACTED, ClockScale, scale
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug, whole
from cyclometer.ingest.reading import Foreign

NAME = "zephyr-ztest"
DESCRIPTION = "Zephyr ztest benchmarks: S, M, P, C, T lines, or the verbose form"

_LINE = re.compile(
    r"\s*([SMPCT]),([\w .-]{1,80}),([\w .+-]{1,80}),(-?[\d.][-\d.,eE+]{0,400})\s*(INCONCLUSIVE)?\s*"
)
_NOTHING = re.compile(r"\s*([SMT]),([\w .-]{1,80}),([\w .+-]{1,80}?)\s+INCONCLUSIVE\s*")
_SUITE = re.compile(r"(\w[\w .-]{0,80}?) #{3,}\s*")
_NAME = re.compile(r"(\w[\w .+-]{0,80}?) ={3,}\s*")
_VERBOSE = (  # of a block, what its lines say
    ("n", re.compile(r"\s+Sample size: ?(\d+), total cycles: (-?\d+)\s*")),
    ("mean", re.compile(r"\s+Mean\(u\): (-?[\d.]+)\s*")),
    ("sd", re.compile(r"\s+Standard deviation\(s\): ([\d.]+)\s*")),
    ("standard_error", re.compile(r"\s+Standard Error\(SE\): ([\d.]+)\s*")),
    ("minimum", re.compile(r"\s+Min: (-?\d+) \(run #(\d+)\)\s*")),
    ("maximum", re.compile(r"\s+Max: (-?\d+) \(run #(\d+)\)\s*")),
    ("samples", re.compile(r"\s+Iterations: (\d+)\s*")),
    ("gross_ns", re.compile(r"\s+Total Time: (\d+) ns \(Gross\)\s*")),
    ("net_ns", re.compile(r"\s+Work Time: (\d+) ns \(Net\)\s*")),
    ("per_s", re.compile(r"\s+Ops/Sec: ([\d.]+)\s*")),
    ("per_operation", re.compile(r"\s+Cycles/Ops: ([\d.]+)\s*")),
)
_INCONCLUSIVE = re.compile(r"\s+Test inconclusive.*")
_PERCENTILES = ("0.5", "0.9", "0.99", "0.999", "0.9999")


def detect(head: bytes, _filename: str) -> int:
    if re.search(rb"^\s+Sample size: ?\d+, total cycles: -?\d+\s*$", head, re.M):
        return 88
    return 88 if re.search(rb"^[SMPT],[\w .-]+,[\w .+-]+,\d+,[\d.,-]+", head, re.M) else 0


@dataclass
class _Benchmark:
    line: int
    fields: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, float] = field(default_factory=dict)
    status: str = "ok"


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """One run a file; a benchmark that comes again begins the next run."""
    into = Collector(foreign, settings)
    reader = _Reader(into, scale(settings))
    for at, line in foreign.lines():
        if match := _LINE.fullmatch(line):
            reader.line(match, at)
        elif match := _NOTHING.fullmatch(line):
            reader.benchmark(match[1], match[2], match[3], at).status = "inconclusive"
        elif match := _SUITE.fullmatch(line):
            reader.suite = match[1]
        elif match := _NAME.fullmatch(line):
            reader.block = reader.benchmark("", reader.suite, match[1], at)
        elif reader.verbose(line):
            pass
        elif re.match(r"\s*[SMPCT],[^,]*,[^,]*,", line) or "INCONCLUSIVE" in line:
            into.unread(line, at)
    reader.flush()
    return into.finish(NAME)


@dataclass
class _Reader:
    """What was read so far of the run that goes on."""

    into: Collector
    its: ClockScale
    benchmarks: dict[tuple[str, str], _Benchmark] = field(default_factory=dict)
    seen: set[tuple[str, str, str]] = field(default_factory=set)
    run: int = 0
    suite: str = "benchmark"
    block: _Benchmark | None = None

    def benchmark(self, kind: str, suite: str, name: str, at: int) -> _Benchmark:
        """The benchmark of this name; a kind of line that comes again begins the next run."""
        if (kind, suite, name) in self.seen:
            self.flush()
            self.run += 1
        self.seen.add((kind, suite, name))
        return self.benchmarks.setdefault((suite, name), _Benchmark(at))

    def line(self, match: re.Match[str], at: int) -> None:
        kind, suite, name, rest, verdict = match.groups()
        benchmark = self.benchmark(kind, suite, name, at)
        if not _take(benchmark, kind, rest.rstrip(",").split(","), self.its):
            self.into.unread(match[0], at)
        if verdict:
            benchmark.status = "inconclusive"

    def verbose(self, line: str) -> bool:
        """Take a line of the verbose form; False if it is none."""
        if self.block is not None and _INCONCLUSIVE.fullmatch(line):
            self.block.status = "inconclusive"
            return True
        for name, pattern in _VERBOSE:
            match = pattern.fullmatch(line)
            if match and self.block is not None:
                _take_verbose(self.block, name, match, self.its)
                return True
        return False

    def flush(self) -> None:
        """Add what this run measured, and forget it."""
        for (suite, name), benchmark in self.benchmarks.items():
            if benchmark.fields or benchmark.extra or benchmark.status != "ok":
                _add(self.into, suite, name, benchmark, self.its, self.run)
        self.benchmarks.clear()
        self.seen.clear()


def _take_verbose(benchmark: _Benchmark, name: str, match: re.Match[str], its: ClockScale) -> None:
    value = number(match[1]) or 0.0
    if name == "n":
        benchmark.fields["n"] = whole(match[1])
        benchmark.extra["total"] = its.value(number(match[2]) or 0.0)
    elif name in ("mean", "sd", "minimum", "maximum"):
        benchmark.fields[name] = its.value(value)
        if name in ("minimum", "maximum"):
            benchmark.extra[f"{name}_at"] = number(match[2]) or 0.0
    else:
        benchmark.extra[name] = its.value(value) if name == "standard_error" else value


def _take(benchmark: _Benchmark, kind: str, cells: list[str], its: ClockScale) -> bool:
    """Put one line's cells into the benchmark; False if they are not what the kind has."""
    figures = [number(cell) for cell in cells]
    wanted = {"S": 9, "M": 9, "P": 8, "C": 2, "T": 5}[kind]
    if len(figures) != wanted or any(figure is None for figure in figures):
        return False
    v = [figure for figure in figures if figure is not None]
    if kind in "SM":
        n, total, mean, sd, error, low, low_at, high, high_at = v
        benchmark.fields |= {"n": whole(n), "mean": its.value(mean), "sd": its.value(sd)}
        benchmark.fields |= {"minimum": its.value(low), "maximum": its.value(high)}
        benchmark.extra |= {"total": its.value(total), "standard_error": its.value(error)}
        benchmark.extra |= {"minimum_at": low_at, "maximum_at": high_at}
    elif kind == "P":
        benchmark.fields |= {
            "n": whole(v[0]),
            "minimum": its.value(v[1]),
            "maximum": its.value(v[7]),
        }
        quantiles = {p: its.value(value) for p, value in zip(_PERCENTILES, v[2:7], strict=True)}
        benchmark.fields |= {"median": quantiles["0.5"], "quantiles": quantiles}
    elif kind == "C":
        benchmark.extra |= {"warmup": v[0], "cold": its.value(v[1])}
    else:
        benchmark.extra |= dict(
            zip(("samples", "total", "work", "per_s", "per_operation"), v, strict=True)
        )
    return True


def _add(
    into: Collector, suite: str, name: str, benchmark: _Benchmark, its: ClockScale, run: int
) -> None:
    """Add a benchmark; one that was timed as a whole is a rate."""
    key = f"{slug(suite)}.{'.'.join(slug(part) for part in name.split('.'))}"
    contract = Contract(key, f"{suite}: {name}", correction=SUBTRACTED)
    summary = Summary(0, status=benchmark.status, extra=benchmark.extra, **benchmark.fields)
    rate = benchmark.extra.get("per_s")
    clock, better = its.clock, "lower"
    if rate is not None and not benchmark.fields:
        clock, better = into.settings.clock("rate", "per_s"), "higher"
        summary = Summary(0, mean=rate, status=benchmark.status, extra=benchmark.extra)
    into.figure(
        contract, clock, line=benchmark.line, name=name, better=better, run=run, summary=summary
    )
