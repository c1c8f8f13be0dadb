# SPDX-License-Identifier: BSD-2-Clause
"""Our own JSON: everything an estimate says, with its contract and its runs."""

from __future__ import annotations

import msgspec

from cyclometer.estimate.regimes import Regime
from cyclometer.estimate.rows import Estimate
from cyclometer.report import table
from cyclometer.report.documents import kinds, measured, members
from cyclometer.report.export.request import ExportRequest


def export(request: ExportRequest) -> str:
    """Every estimate with its contract and its runs, as `show --json` and more."""
    identity = request.bundle.identity
    rows = [_row(name, e) for name, e in zip(request.names, request.estimates, strict=True)]
    exported = measured.Exported(
        bundle=request.bundle.digest,
        title=identity.title,
        target=identity.target,
        created=identity.created,
        tool=identity.tool,
        environment=dict(identity.environment),
        rows=rows,
        problems=members.problems(identity.problems),
    )
    return kinds.dumps(exported) + "\n"


def _row(name: str, e: Estimate) -> measured.ExportedRow:
    return measured.ExportedRow(
        **msgspec.structs.asdict(table.row(e)),
        name=name,
        clock=e.clock,
        better=e.better,
        contract=e.contract,
        per_run=[
            measured.ExportedRun(r.run, _regime(r.latency), _regime(r.base), _regime(r.overall))
            for r in e.runs
        ],
    )


def _regime(regime: Regime) -> measured.ExportedRegime:
    interval = members.ends(regime.interval)
    return measured.ExportedRegime(regime.value, interval, regime.tests, regime.share)
