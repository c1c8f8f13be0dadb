# SPDX-License-Identifier: BSD-2-Clause
"""One chart of one circle as a drawing of its own."""

from __future__ import annotations

from cyclometer.errors import NothingMeasured, UsageError
from cyclometer.report.chart.registry import CHARTS, style
from cyclometer.report.circle import circles
from cyclometer.report.export.request import Request


def export(request: Request) -> str:
    """A chart of one circle as SVG, complete with its style; --chart says which."""
    e = request.only_one("a chart")
    if request.chart not in CHARTS:
        raise UsageError(f"there is no chart {request.chart!r}; there are {', '.join(CHARTS)}")
    chart = CHARTS[request.chart](circles(request.bundle, [e]))
    if chart is None:
        raise NothingMeasured(f"the bundle holds nothing that a chart {request.chart!r} of {e.contract.key} could show")
    return chart.titled(f"{e.contract.key}: {chart.title}").standalone(style())
