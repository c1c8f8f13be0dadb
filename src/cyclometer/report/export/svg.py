# SPDX-License-Identifier: BSD-2-Clause
"""One chart of one circle as a drawing of its own."""

from __future__ import annotations

from cyclometer.errors import NotComparable, NothingMeasured, UsageError
from cyclometer.estimate.rows import Estimate
from cyclometer.report.chart.registry import CHARTS, style
from cyclometer.report.circle import ReportedCircle, circles
from cyclometer.report.export.request import ExportRequest


def export(request: ExportRequest) -> str:
    """A chart of one circle as SVG, complete with its style; --chart says which, --beside draws a
    second bundle.
    """
    e = request.only_one("a chart")
    if request.chart not in CHARTS:
        raise UsageError(f"there is no chart {request.chart!r}; there are {', '.join(CHARTS)}")
    chart = CHARTS[request.chart](_sides(request, e))
    if chart is None:
        both = (
            "; --beside names a second bundle"
            if request.chart == "difference" and request.beside is None
            else ""
        )
        raise NothingMeasured(
            f"there is nothing that a chart {request.chart!r} of {e.contract.key} could show{both}"
        )
    return chart.titled(f"{e.contract.key}: {chart.title}").standalone(style())


def _sides(request: ExportRequest, e: Estimate) -> list[ReportedCircle]:
    if request.beside is None:
        return circles(request.bundle, [e])
    other = request.beside.only_one("a chart")
    if (other.clock.name, other.clock.unit) != (e.clock.name, e.clock.unit):
        raise NotComparable(
            f"{e.contract.key} is in {e.clock.unit} of {e.clock.name} here and in "
            f"{other.clock.unit} of "
            f"{other.clock.name} in the bundle beside; draw them separately"
        )
    return circles(request.bundle, [e], "before") + circles(request.beside.bundle, [other], "after")
