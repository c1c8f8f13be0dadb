# SPDX-License-Identifier: BSD-2-Clause
"""A Markdown table for a pull request or a README."""

from __future__ import annotations

from cyclometer.estimate.rows import Estimate
from cyclometer.report import brief, table
from cyclometer.report.export.request import ExportRequest
from cyclometer.report.markdown import code, line, words


def export(request: ExportRequest) -> str:
    """A table of the circles, and under it what has no valid latency and why."""
    rows = list(zip(request.names, request.estimates, strict=True))
    units = sorted({e.clock.unit for e in request.estimates})
    latency = f"latency [{units[0]}]" if len(units) == 1 else "latency"
    lines = [f"**{words(request.bundle.identity.title or request.bundle.identity.target)}**", ""]
    lines += [
        f"| circle | {latency} | ns | overall | spread | tests |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [_line(name, e, len(units) > 1) for name, e in rows]
    wrong = [f"- {code(name)}: {words(e.reason)}" for name, e in rows if not e.valid]
    if wrong:
        lines += ["", f"{len(wrong)} of {len(rows)} circles have no valid latency:", "", *wrong]
    return "\n".join(lines) + "\n"


def _line(name: str, e: Estimate, with_unit: bool) -> str:
    if not e.valid or e.latency is None:
        return line((code(name), "invalid", "", "", "", str(e.tests)))
    unit = f" {e.clock.unit}" if with_unit else ""
    overall = "" if e.overall is None else table.with_interval(e.overall)
    spread = f"{100 * e.latency.spread:.2f} %" if e.latency.runs > 1 else "one run"
    cells = (
        code(name),
        table.with_interval(e.latency) + unit,
        brief.nanoseconds(e),
        overall,
        spread,
        str(e.tests),
    )
    return line(cells)
