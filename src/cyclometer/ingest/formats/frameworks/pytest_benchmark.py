# SPDX-License-Identifier: BSD-2-Clause
"""pytest-benchmark's --benchmark-json: seconds of one call, every round's if data was saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.quantities import SECONDS
from cyclometer.ingest.reading import Foreign, json_value

NAME = "pytest-benchmark"
DESCRIPTION = "pytest-benchmark --benchmark-json"


def detect(head: bytes, _filename: str) -> int:
    return 92 if b'"machine_info"' in head and b'"commit_info"' in head else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """A test and its parameters are a row; its rounds are the passes of one run."""
    into = Collector(foreign, settings)
    content = json_value(foreign.text, foreign.name)
    listed = content.get("benchmarks") if isinstance(content, dict) else None
    for result in listed if isinstance(listed, list) else ():
        stats = result.get("stats") if isinstance(result, dict) else None
        if not isinstance(stats, dict) or number(stats.get("mean")) is None:
            into.unread(str(result)[:200], 0)
        else:
            _add(into, result, stats)
    return into.finish(NAME, by_lines=False)


def _add(into: Collector, result: Mapping[str, Any], stats: Mapping[str, Any]) -> None:
    name = str(result.get("fullname") or result.get("name", ""))[:400]
    data = stats.get("data")
    values = [number(value) for value in data] if isinstance(data, list) else []
    rounds = number(stats.get("rounds"))
    into.add(
        f"pytest.{slug(name)}",
        SECONDS,
        title=name,
        params={"iterations": str(stats.get("iterations", 1))[:20]},
        line=0,
        name=name,
        n=int(rounds) if rounds is not None and rounds > 0 else None,
        mean=number(stats["mean"]),
        sd=number(stats.get("stddev")),
        minimum=number(stats.get("min")),
        maximum=number(stats.get("max")),
        median=number(stats.get("median")),
        values=[value for value in values if value is not None],
    )
