# SPDX-License-Identifier: BSD-2-Clause
"""The custom JSON of github-action-benchmark."""

from __future__ import annotations

import json

from cyclometer.errors import UsageError
from cyclometer.report import table
from cyclometer.report.export.request import ExportRequest


def export(request: ExportRequest) -> str:
    """github-action-benchmark JSON: `customSmallerIsBetter`, or `customBiggerIsBetter` where all
    circles are rates.
    """
    found = list(request.latencies())
    if len({e.better for _, e, _ in found}) > 1:
        rates = ", ".join(name for name, e, _ in found if e.better == "higher")
        raise UsageError(
            f"the format holds one direction and here higher is better for {rates}; choose with "
            "--circle"
        )
    entries = [
        {
            "name": name,
            "unit": e.clock.unit,
            "value": latency.value,
            "range": f"± {table.with_interval(latency).partition(' ± ')[2] or 'unknown'}",
            "extra": f"{latency.runs} runs, {e.tests} tests, "
            f"interval at {latency.interval.level:.0%} {latency.scope}",
        }
        for name, e, latency in found
    ]
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"
