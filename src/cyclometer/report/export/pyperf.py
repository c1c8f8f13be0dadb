# SPDX-License-Identifier: BSD-2-Clause
"""pyperf's JSON, format 1.0, for `pyperf compare_to` and its relatives."""

from __future__ import annotations

import json
from typing import Any

from cyclometer.errors import UsageError
from cyclometer.estimate.rows import Estimate
from cyclometer.report.export.request import ExportRequest
from cyclometer.units import NS_PER_S, to_ns


def export(request: ExportRequest) -> str:
    """A pyperf suite: a run with one value for each of our runs, so that its t-test has the
    right degrees of freedom.

    Values are seconds; on a clock that is not time, such as instructions, they are pyperf's unit
    `integer`. Raises UsageError for a value that is not positive: pyperf refuses the whole file for
    one.
    """
    found = list(request.latencies())
    refused = [name for name, e, _ in found if min(r.latency.value for r in e.runs) <= 0]
    if refused:
        raise UsageError(
            f"pyperf's format holds positive values only, not {', '.join(refused)}; choose with "
            "--circle"
        )
    benchmarks = [_benchmark(name, e) for name, e, _ in found]
    return json.dumps({"benchmarks": benchmarks, "version": "1.0"}, indent=1) + "\n"


def _benchmark(name: str, e: Estimate) -> dict[str, Any]:
    timed = e.ns is not None
    values = [_seconds(r.latency.value, e) if timed else r.latency.value for r in e.runs]
    facts = {
        "name": name,
        "unit": "second" if timed else "integer",
        "clock": f"{e.clock.name} ({e.clock.unit})",
    }
    facts |= {f"configuration_{option}": value for option, value in e.configuration.items()}
    metadata = {key: " ".join(text.split()) or "none" for key, text in facts.items()}
    return {"metadata": metadata, "runs": [{"values": [value]} for value in values]}


def _seconds(value: float, e: Estimate) -> float:
    ns = to_ns(value, e.clock.unit, e.clock.hz)
    assert ns is not None  # for e.ns exists
    return ns / NS_PER_S
