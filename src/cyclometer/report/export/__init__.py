# SPDX-License-Identifier: BSD-2-Clause
"""Estimates in other tools' formats: one exporter per file, and a line in EXPORTERS.

An exporter is a function from a Request to text or bytes; the first sentence of its docstring
describes it. Other packages declare theirs as entry points of the group `cyclometer.exporters`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cyclometer.plugins import Plugins

if TYPE_CHECKING:
    from cyclometer.report.export.request import ExportRequest

Exporter = Callable[["ExportRequest"], str | bytes]


def _accept(_name: str, found: Any) -> Exporter:
    if not callable(found):
        raise TypeError("it is not a function")
    exporter: Exporter = found
    return exporter


EXPORTERS = Plugins(
    "format",
    "cyclometer.exporters",
    {
        "bencher": "cyclometer.report.export.bencher:export",
        "benchstat": "cyclometer.report.export.benchstat:export",
        "csv": "cyclometer.report.export.csv:export",
        "github-action": "cyclometer.report.export.github_action:export",
        "google-benchmark": "cyclometer.report.export.google_benchmark:export",
        "json": "cyclometer.report.export.json:export",
        "junit": "cyclometer.report.export.junit:export",
        "kbench": "cyclometer.report.export.kbench:export",
        "markdown": "cyclometer.report.export.markdown:export",
        "png": "cyclometer.report.export.png:export",
        "pyperf": "cyclometer.report.export.pyperf:export",
        "svg": "cyclometer.report.export.svg:export",
    },
    _accept,
)
