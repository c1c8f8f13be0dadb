# SPDX-License-Identifier: BSD-2-Clause
"""Lines of Zephyr's ztest benchmarks: S or M (statistics), P (percentiles), C (cold), T (throughput).

The framework subtracts a control measurement.
Lines of one suite and benchmark make one row; a benchmark that the tool called INCONCLUSIVE keeps that status.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from cyclometer.bundle.model import Contract, Summary
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug, whole
from cyclometer.ingest.reading import Foreign
from cyclometer.ingest.zephyr_keys import SUBTRACTED, Scale, scale

NAME = "zephyr-ztest"
DESCRIPTION = "Zephyr ztest benchmark lines (S, M, P, C, T)"

_LINE = re.compile(r"\s*([SMPCT]),([\w .-]{1,80}),([\w .+-]{1,80}),(-?[\d.][-\d.,eE+]{0,400})\s*(INCONCLUSIVE)?\s*")
_PERCENTILES = ("0.5", "0.9", "0.99", "0.999", "0.9999")


def detect(head: bytes, _filename: str) -> int:
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
    its_scale = scale(settings)
    benchmarks: dict[tuple[str, str], _Benchmark] = {}
    seen: set[tuple[str, str, str]] = set()
    run = 0
    for at, line in foreign.lines():
        match = _LINE.fullmatch(line)
        if not match:
            if re.match(r"\s*[SMPCT],[^,]*,[^,]*,", line) or "INCONCLUSIVE" in line:
                into.unread(line, at)
            continue
        kind, suite, name, rest, verdict = match.groups()
        if (kind, suite, name) in seen:
            _flush(into, benchmarks, its_scale, run)
            seen.clear()
            run += 1
        seen.add((kind, suite, name))
        benchmark = benchmarks.setdefault((suite, name), _Benchmark(at))
        if not _take(benchmark, kind, rest.rstrip(",").split(","), its_scale):
            into.unread(line, at)
        if verdict:
            benchmark.status = "inconclusive"
    _flush(into, benchmarks, its_scale, run)
    return into.finish(NAME)


def _take(benchmark: _Benchmark, kind: str, cells: list[str], its: Scale) -> bool:
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
        benchmark.fields |= {"n": whole(v[0]), "minimum": its.value(v[1]), "maximum": its.value(v[7])}
        quantiles = {p: its.value(value) for p, value in zip(_PERCENTILES, v[2:7], strict=True)}
        benchmark.fields |= {"median": quantiles["0.5"], "quantiles": quantiles}
    elif kind == "C":
        benchmark.extra |= {"warmup": v[0], "cold": its.value(v[1])}
    else:
        benchmark.extra |= dict(zip(("samples", "total", "work", "per_s", "per_operation"), v, strict=True))
    return True


def _flush(into: Collector, benchmarks: dict[tuple[str, str], _Benchmark], its: Scale, run: int) -> None:
    for (suite, name), benchmark in benchmarks.items():
        if not benchmark.fields and not benchmark.extra:
            continue
        key = f"{slug(suite)}.{'.'.join(slug(part) for part in name.split('.'))}"
        contract = Contract(key, f"{suite}: {name}", correction=SUBTRACTED)
        summary = Summary(0, status=benchmark.status, extra=benchmark.extra, **benchmark.fields)
        rate = benchmark.extra.get("per_s")
        if rate is not None and not benchmark.fields:
            clock, better = into.settings.clock("rate", "per_s"), "higher"
            summary = Summary(0, mean=rate, status=benchmark.status, extra=benchmark.extra)
        else:
            clock, better = its.clock, "lower"
        into.figure(contract, clock, line=benchmark.line, name=name, better=better, run=run, summary=summary)
    benchmarks.clear()
