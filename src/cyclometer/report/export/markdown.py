# SPDX-License-Identifier: BSD-2-Clause
"""A Markdown table for a pull request or a README."""

from __future__ import annotations

from cyclometer.estimate.rows import Estimate
from cyclometer.report import table
from cyclometer.report.export.request import Request
from cyclometer.report.markdown import code, line, words


def export(request: Request) -> str:
    """A table of the circles, and under it what has no valid latency and why."""
    rows = list(zip(request.names, request.estimates, strict=True))
    units = sorted({e.clock.unit for e in request.estimates})
    quiet = f"quiet [{units[0]}]" if len(units) == 1 else "quiet"
    lines = [f"**{words(request.bundle.identity.title or request.bundle.identity.target)}**", ""]
    lines += [f"| circle | {quiet} | ns | typical | spread | tests |", "|---|---:|---:|---:|---:|---:|"]
    lines += [_line(name, e, len(units) > 1) for name, e in rows]
    wrong = [f"- {code(name)}: {words(e.reason)}" for name, e in rows if not e.valid]
    if wrong:
        lines += ["", f"{len(wrong)} of {len(rows)} circles have no valid latency:", "", *wrong]
    return "\n".join(lines) + "\n"


def _line(name: str, e: Estimate, with_unit: bool) -> str:
    if not e.valid or e.quiet is None:
        return line((code(name), "invalid", "", "", "", str(e.tests)))
    unit = f" {e.clock.unit}" if with_unit else ""
    typical = "" if e.typical is None else table.with_interval(e.typical)
    spread = f"{100 * e.quiet.spread:.2f} %" if e.quiet.runs > 1 else "one run"
    cells = (code(name), table.with_interval(e.quiet) + unit, table.nanoseconds(e), typical, spread, str(e.tests))
    return line(cells)
