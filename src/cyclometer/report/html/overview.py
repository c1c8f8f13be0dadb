# SPDX-License-Identifier: BSD-2-Clause
"""The first page's table: every circle on one line, the largest effect first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cyclometer.compare.finding import VERDICTS, Finding
from cyclometer.estimate.rows import Estimate
from cyclometer.report import brief, cells, table
from cyclometer.report.chart.plot import Scale
from cyclometer.report.circle import ReportedCircle
from cyclometer.report.html import bars
from cyclometer.report.html.render import css_class
from cyclometer.report.html.subject import Entry, Subject
from cyclometer.report.markup import Markup


class Cell(NamedTuple):
    """What stands in a cell, and by what its column is sorted; without that it comes last."""

    words: str
    sorts_by: str | None = None
    style: str = ""


@dataclass(frozen=True)
class LatencyLine:
    """A circle of the only bundle. `drawing` is the latency on the scale of all circles."""

    entry: Entry
    reason: str
    latency: Cell
    drawing: Markup | None
    ns: Cell
    overall: Cell
    spread: Cell
    tests: Cell


@dataclass(frozen=True)
class LaterSide:
    """A circle in one of the later bundles, and what changed; `outcome` says it in one cell."""

    latency: Cell
    change: Cell
    outcome: Cell
    drawing: Markup | None


@dataclass(frozen=True)
class ChangeLine:
    """A circle in the first bundle and in each later one."""

    entry: Entry
    reason: str
    first: Cell
    sides: tuple[LaterSide, ...]
    rank: int  # of the verdict, that which must be seen first being 0


@dataclass(frozen=True)
class LatencyTable:
    unit: str
    axis: Markup | None
    lines: list[LatencyLine]


@dataclass(frozen=True)
class ChangeTable:
    axis: Markup
    lines: list[ChangeLine]


def verdicts(subject: Subject) -> dict[str, int]:
    """How many circles have each verdict, that which must be seen first in front."""
    counts = Counter(entry.verdict for entry in subject.entries)
    return {v: counts[v] for v in (*VERDICTS, "valid") if counts[v]}


def latencies(subject: Subject) -> LatencyTable:
    """Of a report of one bundle."""
    found = [entry.estimate for entry in subject.entries]
    units, scale = {e.clock.unit for e in found}, bars.latency_scale(found)
    unit = units.pop() if len(units) == 1 else ""  # else each cell has its own
    lines = [_latency_line(entry, unit, scale) for entry in subject.entries]
    return LatencyTable(unit, bars.latency_axis(scale), lines)


def changes(subject: Subject) -> ChangeTable:
    """Of a report of several bundles, the later ones against the first."""
    scale = bars.change_scale([e.change for e in subject.entries if e.change is not None])
    lines = [_change_line(entry, subject.labels[1:], scale) for entry in subject.entries]
    return ChangeTable(bars.change_axis(scale), lines)


def spread(e: Estimate) -> str:
    """How far runs differ, as a share of the latency."""
    if e.latency is None:
        return ""
    return f"{100 * e.latency.spread:.2f} %" if e.latency.runs > 1 else "one run"


def _latency_line(entry: Entry, unit: str, scale: Scale | None) -> LatencyLine:
    e = entry.estimate
    latency, overall = (e.latency, e.overall) if e.valid else (None, None)
    other = f" {e.clock.unit}" if e.clock.unit != unit else ""
    return LatencyLine(
        entry,
        e.reason,
        _cell(table.with_interval(latency) + other, latency.value) if latency else _cell("none"),
        bars.latency(e, scale) if latency else None,
        _cell(brief.nanoseconds(e), e.ns) if latency else _cell(""),
        _cell(table.with_interval(overall), overall.value) if overall else _cell(""),
        _cell(spread(e), latency.spread) if latency else _cell(""),
        _cell(str(e.tests), e.tests),
    )


def _change_line(entry: Entry, labels: Sequence[str], scale: Scale) -> ChangeLine:
    sides = (
        LaterSide(
            _latency(after), _change(finding), _outcome(finding, after), bars.change(finding, scale)
        )
        for after, finding in zip(entry.circles[1:], entry.findings, strict=True)
    )
    rank = VERDICTS.index(entry.verdict)
    reason = _refusal(entry) or _elsewhere(entry, labels)
    return ChangeLine(entry, reason, _latency(entry.circles[0]), tuple(sides), rank)


def _refusal(entry: Entry) -> str:
    """Why a circle has no change to show, where the verdict alone does not say it."""
    refused = ("failed", "invalid", "not comparable")
    return next((f.reason for f in entry.findings if f is not None and f.verdict in refused), "")


def _elsewhere(entry: Entry, labels: Sequence[str]) -> str:
    """What moved otherwise than the changes of a line; with several sides by label."""
    said = {
        label: f.disagreement
        for label, f in zip(labels, entry.findings, strict=True)
        if f is not None and f.disagreement
    }
    if len(labels) == 1:
        return "".join(said.values())
    return "; ".join(f"{label}: {words}" for label, words in said.items())


def _cell(words: str, value: float | None = None, style: str = "") -> Cell:
    known = value is not None and math.isfinite(value)
    return Cell(words, f"{value:.6g}" if known else None, style)


def _latency(circle: ReportedCircle | None) -> Cell:
    e = circle.estimate if circle else None
    latency = e.latency if e and e.valid else None
    return _cell(_figure(circle), latency.value if latency else None)


def _figure(circle: ReportedCircle | None) -> str:
    """The latency with its unit, or the word for why there is none."""
    e = circle.estimate if circle else None
    if e is None or e.latency is None or not e.valid:
        return "none" if e is None else "invalid"
    return f"{table.with_interval(e.latency)} {e.clock.unit}"


def _change(finding: Finding | None) -> Cell:
    return _cell("") if finding is None else _cell(cells.change(finding), finding.change)


def _outcome(finding: Finding | None, after: ReportedCircle | None) -> Cell:
    """Coloured by the verdict: the change, or what an added circle takes, or the verdict itself."""
    if finding is None:
        return _cell("none")
    added = _figure(after) if finding.verdict == "added" else finding.verdict
    return _cell(cells.change(finding) or added, finding.change, css_class(finding.verdict))
