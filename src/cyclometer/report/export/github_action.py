# SPDX-License-Identifier: BSD-2-Clause
"""The custom JSON of github-action-benchmark."""

from __future__ import annotations

import json

from cyclometer.errors import UsageError
from cyclometer.report import table
from cyclometer.report.export.request import Request


def export(request: Request) -> str:
    """github-action-benchmark JSON: `customSmallerIsBetter`, or `customBiggerIsBetter` where all circles are rates."""
    found = list(request.latencies())
    if len({e.better for _, e, _ in found}) > 1:
        rates = ", ".join(name for name, e, _ in found if e.better == "higher")
        raise UsageError(f"the format holds one direction and here higher is better for {rates}; choose with --circle")
    entries = [
        {
            "name": name,
            "unit": e.clock.unit,
            "value": quiet.value,
            "range": f"± {table.with_interval(quiet).partition(' ± ')[2] or 'unknown'}",
            "extra": f"{quiet.runs} runs, {e.tests} tests, interval at {quiet.interval.level:.0%} {quiet.scope}",
        }
        for name, e, quiet in found
    ]
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"
