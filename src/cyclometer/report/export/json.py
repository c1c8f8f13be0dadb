# SPDX-License-Identifier: BSD-2-Clause
"""Our own JSON: everything an estimate says, with its contract and its runs."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from cyclometer.estimate.regimes import Regime
from cyclometer.estimate.rows import Estimate
from cyclometer.report import documents, table
from cyclometer.report.export.request import ExportRequest


def export(request: ExportRequest) -> str:
    """Every estimate with its contract and its runs, as `show --json` and more."""
    identity = request.bundle.identity
    content = {
        "bundle": request.bundle.digest,
        "title": identity.title,
        "target": identity.target,
        "created": identity.created,
        "tool": identity.tool,
        "environment": identity.environment,
        "rows": [_row(name, e) for name, e in zip(request.names, request.estimates, strict=True)],
        "problems": [msgspec.to_builtins(problem) for problem in identity.problems],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _row(name: str, e: Estimate) -> dict[str, Any]:
    runs = [
        {
            "run": r.run,
            "latency": _regime(r.latency),
            "base": _regime(r.base),
            "overall": _regime(r.overall),
        }
        for r in e.runs
    ]
    row: dict[str, Any] = documents.plain(table.row(e))
    return row | {
        "name": name,
        "clock": msgspec.to_builtins(e.clock),
        "better": e.better,
        "contract": msgspec.to_builtins(e.contract),
        "per_run": runs,
    }


def _regime(regime: Regime) -> dict[str, Any]:
    return {
        "estimate": regime.value,
        "interval": documents.plain(documents.ends(regime.interval)),
        "tests": regime.tests,
        "share": regime.share,
    }
