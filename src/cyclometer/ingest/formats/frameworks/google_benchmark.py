# SPDX-License-Identifier: BSD-2-Clause
"""Google Benchmark JSON: repetitions as accumulated tests, aggregates as printed statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from cyclometer.bundle.model import Contract, Summary
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug, whole
from cyclometer.ingest.reading import Foreign, json_value

NAME = "google-benchmark"
DESCRIPTION = "Google Benchmark JSON (--benchmark_format=json)"

_TO_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_AGGREGATES = {
    "mean": "mean",
    "median": "median",
    "stddev": "sd",
    "min": "minimum",
    "max": "maximum",
}


def detect(head: bytes, _filename: str) -> int:
    if b'"benchmarks"' in head and (b'"real_time"' in head or b'"library_build_type"' in head):
        return 95
    return 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """One process is one run; its repetitions are visits. Aggregates, which are per iteration,
    stand beside the repetitions that they are of, or are a row where the file has none.
    """
    into = Collector(foreign, settings)
    content = json_value(foreign.text, foreign.name)
    context = content.get("context") if isinstance(content, dict) else None
    if isinstance(context, dict):
        into.environment["context"] = {str(k)[:80]: str(v)[:500] for k, v in context.items()}
    benchmarks = content.get("benchmarks") if isinstance(content, dict) else None
    aggregates: dict[str, dict[str, float]] = {}
    for item in benchmarks if isinstance(benchmarks, list) else []:
        name = item.get("run_name", item.get("name")) if isinstance(item, dict) else None
        if not isinstance(name, str):
            into.unread(str(item)[:200], 0)
            continue
        _read_item(into, name, item, aggregates)
    repeated = {f.row.contract.key for f in into.figures if f.row.method == "accumulated"}
    for name, figures in aggregates.items():
        extra = {
            k: v
            for k, v in figures.items()
            if k not in ("mean", "median", "sd", "minimum", "maximum", "n")
        }
        plain: dict[str, Any] = {k: v for k, v in figures.items() if k not in extra and k != "n"}
        summary = Summary(0, n=whole(figures.get("n")), extra=extra, **plain)
        contract, clock = _contract(name), settings.clock("real time", "ns")
        if contract.key in repeated:
            into.figure(contract, clock, "accumulated", name=name, run=-1, summary=summary)
        else:
            into.figure(contract, clock, name=name, summary=summary)
    return into.finish(NAME, by_lines=False)


def _contract(name: str) -> Contract:
    return Contract(
        f"google.{'.'.join(slug(part) for part in name.split('/'))}"[:200],
        name[:200],
        correction="none",
    )


def _read_item(
    into: Collector, name: str, item: dict[str, Any], aggregates: dict[str, dict[str, float]]
) -> None:
    factor = _TO_NS.get(str(item.get("time_unit", "ns")))
    time, iterations = number(item.get("real_time")), whole(item.get("iterations"))
    clock = into.settings.clock("real time", "ns")
    if item.get("error_occurred") or item.get("skipped"):
        note = str(item.get("error_message", item.get("skip_message", "")))[:200]
        into.figure(
            _contract(name), clock, name=name, summary=Summary(0, status="failed", note=note)
        )
    elif time is None or factor is None:
        into.unread(f"{name}: {item}", 0)
    elif item.get("run_type") == "aggregate":
        kind = str(item.get("aggregate_name"))
        scale = 1.0 if item.get("aggregate_unit") == "percentage" else factor
        figures = aggregates.setdefault(name, {})
        figures[_AGGREGATES.get(kind, slug(kind))] = time * scale
        figures["n"] = float(whole(item.get("repetitions")) or 0)
    else:
        turns = iterations if iterations and iterations > 0 else 1
        visit = whole(item.get("repetition_index"))
        into.count_values(1)
        into.figure(
            _contract(name),
            clock,
            "accumulated",
            name=name,
            visit=-1 if visit is None else visit,
            values=np.array([time * factor * turns]),
            turns=turns,
        )
