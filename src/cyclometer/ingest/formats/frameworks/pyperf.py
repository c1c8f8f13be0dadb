# SPDX-License-Identifier: BSD-2-Clause
"""pyperf JSON: every worker process is a run, every value an accumulated test of loops x
inner_loops turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cyclometer.bundle.model import Clock, Contract
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug, whole
from cyclometer.ingest.reading import Foreign, json_value
from cyclometer.units import NS_PER_S

NAME = "pyperf"
DESCRIPTION = "pyperf JSON benchmark suites"


def detect(head: bytes, _filename: str) -> int:
    return 92 if b'"benchmarks"' in head and (b'"runs"' in head or b'"perf_version"' in head) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """Values are stored as the time of the whole test; warm-ups and calibration runs hold no
    result: left out.
    """
    into = Collector(foreign, settings)
    content = json_value(foreign.text, foreign.name)
    common = _metadata(content)
    into.environment["metadata"] = {name: str(value)[:500] for name, value in common.items()}
    benchmarks = content.get("benchmarks") if isinstance(content, dict) else None
    for benchmark in benchmarks if isinstance(benchmarks, list) else []:
        metadata = common | _metadata(benchmark)
        runs = benchmark.get("runs") if isinstance(benchmark, dict) else None
        name = str(metadata.get("name", "unnamed"))
        index = 0
        for run in runs if isinstance(runs, list) else []:
            values = run.get("values") if isinstance(run, dict) else None
            if values:
                _read_run(into, name, metadata | _metadata(run), values, index)
                index += 1
    return into.finish(NAME, by_lines=False)


def _metadata(holder: Any) -> dict[str, Any]:
    metadata = holder.get("metadata") if isinstance(holder, dict) else None
    return (
        {str(name)[:80]: value for name, value in metadata.items()}
        if isinstance(metadata, dict)
        else {}
    )


def _read_run(into: Collector, name: str, metadata: dict[str, Any], values: Any, run: int) -> None:
    figures = [number(value) for value in values] if isinstance(values, list) else [None]
    if any(figure is None for figure in figures):
        into.problem("unread", f"run {run} of {name[:80]!r} has values that are not numbers")
        return
    loops = (whole(metadata.get("loops")) or 1) * (whole(metadata.get("inner_loops")) or 1)
    turns = loops if 0 < loops < 2**62 else 1
    timed = metadata.get("unit", "second") == "second"
    into.count_values(len(figures))
    into.figure(
        Contract(f"pyperf.{slug(name)}", name[:200], correction="none"),
        into.settings.clock("perf_counter", "ns")
        if timed
        else Clock(str(metadata["unit"])[:20], "events"),
        "accumulated" if timed else "direct",
        name=name,
        run=run,
        values=np.array(figures, np.float64) * (NS_PER_S * turns if timed else 1),
        turns=turns if timed else 1,
    )
