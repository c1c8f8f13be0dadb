# SPDX-License-Identifier: BSD-2-Clause
"""Bencher Metric Format (bencher.dev/docs/reference/bencher-metric-format)."""

from __future__ import annotations

import json
import math

from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.estimate.rows import Estimate
from cyclometer.report.export.request import ExportRequest
from cyclometer.units import to_ns


def export(request: ExportRequest) -> str:
    """Bencher's JSON: `latency` in ns where the clock is a time, else a measure named for the unit,
    with intervals.
    """
    found = {name: {_measure(e): _metric(e, latency)} for name, e, latency in request.latencies()}
    return json.dumps(found, indent=1) + "\n"


def _measure(e: Estimate) -> str:
    return e.clock.unit if e.ns is None else "latency"


def _metric(e: Estimate, latency: LevelsEstimate) -> dict[str, float]:
    ends = {
        "value": latency.value,
        "lower_value": latency.interval.low,
        "upper_value": latency.interval.high,
    }
    known = {name: value for name, value in ends.items() if math.isfinite(value)}
    if e.ns is None:
        return known
    return {name: to_ns(value, e.clock.unit, e.clock.hz) or 0.0 for name, value in known.items()}
