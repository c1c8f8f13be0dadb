# SPDX-License-Identifier: BSD-2-Clause
"""github-action-benchmark: the data.js of its gh-pages branch, each entry is a run with its commit,
and the JSON that its custom tools take.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.quantities import Quantity, quantity
from cyclometer.ingest.reading import Foreign, json_value

NAME = "github-action"
DESCRIPTION = "github-action-benchmark: data.js, or customSmallerIsBetter JSON"

_SCRIPT = "window.BENCHMARK_DATA"
_HIGHER = ("customBiggerIsBetter", "benchmarkjs", "pytest", "benchmarkluau")
_SPREAD = re.compile(r"(?:±|\+/-|\+-)?\s*([\d.,]+(?:[eE][+-]?\d+)?)\s*(%)?")


def detect(head: bytes, _filename: str) -> int:
    if _SCRIPT.encode() in head[:2_000]:
        return 95
    return 85 if re.match(rb'\s*\[\s*\{\s*"(?:name|unit|value)"\s*:', head) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    at = foreign.text.find(_SCRIPT)
    content = (
        json_value(foreign.text[foreign.text.find("{", at) :].rstrip("; \n\t"), foreign.name)
        if at >= 0
        else json_value(foreign.text, foreign.name)
    )
    if at < 0:
        _read_benches(into, content, "", {}, 0)
        return into.finish(NAME, by_lines=False)
    entries = content.get("entries") if isinstance(content, dict) else None
    for suite, runs in entries.items() if isinstance(entries, dict) else ():
        for run, entry in enumerate(runs if isinstance(runs, list) else []):
            if isinstance(entry, dict):
                _describe_run(into, run, entry)
                several = isinstance(entries, dict) and len(entries) > 1
                _read_benches(
                    into,
                    entry.get("benches"),
                    str(entry.get("tool", "")),
                    {"suite": str(suite)[:80]} if several else {},
                    run,
                )
    return into.finish(NAME, title=str(content.get("repoUrl", ""))[:200], by_lines=False)


def _describe_run(into: Collector, run: int, entry: dict[str, Any]) -> None:
    commit, when = entry.get("commit"), number(entry.get("date"))
    about = {"commit": str(commit.get("id", ""))[:40]} if isinstance(commit, dict) else {}
    if when is not None and 0 <= when < 4e12:
        about["ts"] = datetime.fromtimestamp(when / 1e3, UTC).isoformat(timespec="seconds")
    into.runs[run] = into.runs.get(run, {}) | about


def _read_benches(
    into: Collector, benches: Any, tool: str, configuration: dict[str, str], run: int
) -> None:
    for bench in benches if isinstance(benches, list) else []:
        value = number(bench.get("value")) if isinstance(bench, dict) else None
        if value is None:
            into.unread(str(bench)[:200], 0)
            continue
        name, extra = str(bench.get("name", "unnamed"))[:200], str(bench.get("extra", ""))[:80]
        unit = _unit(str(bench.get("unit", ""))[:40], tool)
        spread = _SPREAD.fullmatch(str(bench.get("range", "")).strip())
        width = number(spread[1]) if spread else None
        if width is not None and spread and spread[2]:
            width *= value / 100
        into.add(
            f"github.{slug(name)}",
            unit,
            title=name,
            params={"extra": extra} if extra and tool.startswith("custom") else {},
            configuration=configuration,
            name=name,
            run=run,
            mean=value,
            extra={"plus_minus": None if width is None else width * unit.factor},
        )


def _unit(printed: str, tool: str) -> Quantity:
    """`ns/iter` is a time; a rate or a tool of rates is better when higher."""
    known = quantity(re.sub(r"/(?:iter|op|call)$", "", printed))
    if tool in _HIGHER and known.better == "lower":
        return Quantity(known.clock, known.factor, "higher")
    if tool == "customSmallerIsBetter" and known.better == "higher":
        return Quantity(known.clock, known.factor, "lower")
    return known
