# SPDX-License-Identifier: BSD-2-Clause
"""Google Benchmark's JSON, as its tools/compare.py and others read it."""

from __future__ import annotations

import json
from typing import Any

from cyclometer.errors import UsageError
from cyclometer.estimate.rows import Estimate
from cyclometer.report.export.request import ExportRequest
from cyclometer.units import to_ns


def export(request: ExportRequest) -> str:
    """Google Benchmark JSON: one repetition per run. The format wants a CPU time, too: it
    repeats the real time.
    """
    identity = request.bundle.identity
    environment = identity.environment
    context = {
        "date": identity.created,
        "host_name": str(environment.get("host", "")),
        "executable": identity.tool,
        "num_cpus": environment.get("cpu_count", 1),
        "mhz_per_cpu": 0,
        "caches": [],
        "library_build_type": "release",
        "cpu_model": str(environment.get("cpu_model", "")),
    }
    found = list(request.latencies())
    benchmarks = [
        line for index, (name, e, _) in enumerate(found) for line in _repetitions(index, name, e)
    ]
    return json.dumps({"context": context, "benchmarks": benchmarks}, indent=1) + "\n"


def _repetitions(index: int, name: str, e: Estimate) -> list[dict[str, Any]]:
    if e.ns is None:
        raise UsageError(
            f"{name} is measured in {e.clock.unit} and Google Benchmark's format holds times only; "
            "choose another format, such as benchstat or json"
        )
    times = [to_ns(r.latency.value, e.clock.unit, e.clock.hz) for r in e.runs]
    return [
        {
            "name": name,
            "family_index": index,
            "per_family_instance_index": 0,
            "run_name": name,
            "run_type": "iteration",
            "repetitions": len(times),
            "repetition_index": repetition,
            "threads": 1,
            "iterations": e.runs[repetition].overall.tests,
            "real_time": time,
            "cpu_time": time,
            "time_unit": "ns",
        }
        for repetition, time in enumerate(times)
    ]
