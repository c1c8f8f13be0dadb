# SPDX-License-Identifier: BSD-2-Clause
"""The charts there are, by name, and their common style."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from cyclometer.report.chart import cold, difference, ecdf, line, samples, sequence
from cyclometer.report.chart.plot import Chart
from cyclometer.report.circle import ReportedCircle

CHARTS: dict[str, Callable[[Sequence[ReportedCircle]], Chart | None]] = {
    "samples": samples.draw,
    "ecdf": ecdf.draw,
    "difference": difference.draw,
    "line": line.draw,
    "cold": cold.draw,
    "sequence": sequence.draw,
}


@cache
def style() -> str:
    """chart.css, for drawings inside a page and for those that stand alone."""
    return (Path(__file__).parent / "chart.css").read_text()
