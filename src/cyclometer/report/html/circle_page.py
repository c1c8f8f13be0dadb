# SPDX-License-Identifier: BSD-2-Clause
"""What stands on the page of one circle: its figures, its charts, what a turn of it is, and what
was set aside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cyclometer.compare.finding import Finding
from cyclometer.estimate import digits
from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.estimate.rows import Estimate
from cyclometer.lint import Issue
from cyclometer.report import brief, cells, table
from cyclometer.report.chart import samples, sequence
from cyclometer.report.chart.plot import Chart
from cyclometer.report.chart.registry import CHARTS
from cyclometer.report.circle import ReportedCircle
from cyclometer.report.html.overview import spread
from cyclometer.report.html.subject import Entry

CAUSES = {
    "invalid": "an expected counter was off although nothing disturbed the test: it timed "
    "something else",
    "interrupt": "an interrupt came in while the test ran",
    "preempted": "a thread that takes no part ran on the same CPU",
    "steal": "the hypervisor took the CPU away",
    "migrated": "a participant was moved to another CPU",
    "throttled": "the kernel throttled real-time threads",
    "frequency": "the CPU changed its frequency",
    "unsteady clock": "the core's speed changed from directly before to directly behind it",
    "shared core": "another hardware thread, of this machine or another guest, used the same core",
    "host tick": "a timer tick of the virtual machine's host fell into the test",
}


class VerdictLine(NamedTuple):
    """What a later side changed. `side` is named where there are several."""

    side: str
    finding: Finding
    change: str
    why: str


class FigureRow(NamedTuple):
    """A figure with its explanation, and what it is on each side."""

    name: str
    explanation: str
    cells: list[str]


class SideRow(NamedTuple):
    """A line of a table of all sides."""

    side: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class CirclePage:
    """One circle; `before` and `after` are its neighbours in the overview. `contract` is what was
    timed, in words, and `sequence` drawn.
    """

    entry: Entry
    before: Entry | None
    after: Entry | None
    remarks: Sequence[tuple[Issue, str]]
    verdicts: list[VerdictLine]
    refused: list[ReportedCircle]
    figures: list[FigureRow]
    charts: list[Chart]
    contract: dict[str, str]
    sequence: Chart | None
    runs: list[SideRow]
    set_aside: list[SideRow]
    aside: int  # tests


def page(
    entry: Entry, before: Entry | None, after: Entry | None, remarks: Sequence[tuple[Issue, str]]
) -> CirclePage:
    """All that the template needs."""
    circles = entry.present
    return CirclePage(
        entry,
        before,
        after,
        remarks,
        list(_verdicts(entry)),
        [c for c in circles if not c.estimate.valid],
        list(_figures(circles)),
        charts(circles),
        _contract(entry.estimate),
        sequence.draw(circles),
        [row for c in circles for row in _runs(c)],
        [row for c in circles for row in _set_aside(c)],
        sum(sum(c.estimate.set_aside.values()) for c in circles),
    )


def charts(circles: Sequence[ReportedCircle]) -> list[Chart]:
    """All charts of a circle, the samples once for every side."""
    drawn = [samples.draw(circles, which) for which in range(len(circles))]
    drawn += [draw(circles) for name, draw in CHARTS.items() if name not in ("samples", "sequence")]
    return [chart for chart in drawn if chart is not None]


def _verdicts(entry: Entry) -> Iterator[VerdictLine]:
    for circle, f in zip(entry.circles[1:], entry.findings, strict=True):
        if f is not None:
            side = circle.label if circle and len(entry.findings) > 1 else ""
            why = "; ".join(part for part in (f.reason, f.disagreement) if part)
            yield VerdictLine(side, f, cells.change(f) if f.change is not None else "", why)


def _figures(circles: Sequence[ReportedCircle]) -> Iterator[FigureRow]:
    """Figures down, sides across; a figure that no side has is left out."""
    for name, explanation, cell in _FIGURES:
        words = [cell(c.estimate) for c in circles]
        if any(words):
            yield FigureRow(name, explanation, words)


def _contract(e: Estimate) -> dict[str, str]:
    """What was timed, in words; what there is nothing to say of is left out."""
    c = e.contract
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in c.counts().items())
    sizes = f", sizes {e.flow.initial} + {e.flow.delta} g, {e.flow.groups} groups" if e.flow else ""
    rate = f", {e.clock.hz / 1e6:.1f} MHz" if e.clock.hz else ""
    facts = {
        "timed": sequence.interval(c),
        "counts per turn": counts or "nothing expected",
        "not counted here": ", ".join(e.unproven),
        "parameters": ", ".join(f"{name} {value}" for name, value in c.params.items()),
        "correction": c.correction,
        "source": c.source,
        "method": e.method + sizes,
        "configuration": ", ".join(
            f"{name}={value}" for name, value in sorted(e.configuration.items())
        ),
        "clock": f"{e.clock.name} in {e.clock.unit}{rate}",
    }
    return {name: words for name, words in facts.items() if words}


def _runs(circle: ReportedCircle) -> Iterator[SideRow]:
    """Every run's own estimates."""
    for r in circle.estimate.runs:
        cells = (
            str(r.run),
            table.with_interval(r.latency),
            table.latency(r.base),
            digits.percent(r.base.share, 0.005),
            table.latency(r.overall),
            str(r.overall.tests),
        )
        yield SideRow(circle.label, cells)


def _set_aside(circle: ReportedCircle) -> Iterator[SideRow]:
    """How many tests do not count, and what each cause means."""
    for cause, count in circle.estimate.set_aside.items():
        yield SideRow(circle.label, (str(count), cause, CAUSES.get(cause, "")))


def _with_unit(e: Estimate, words: str) -> str:
    return f"{words} {e.clock.unit}" if words else ""


def _level(e: Estimate, level: LevelsEstimate | None) -> str:
    return "" if level is None else _with_unit(e, table.with_interval(level))


def _cold(e: Estimate) -> str:
    return "" if e.cold is None else f"{e.cold:.0f} {e.clock.unit}"


def _quantiles(e: Estimate) -> str:
    return "" if e.tails is None else _with_unit(e, table.quantiles(e.tails))


def _scope(e: Estimate) -> str:
    if e.latency is None:
        return ""
    if not math.isfinite(e.latency.interval.half_width):
        return "none: a figure whose spread is not known"
    scope = f"{e.latency.interval.level:.0%}, {e.latency.scope}"
    unknown = e.latency.interval.unknown(e.latency.value)
    return f"{scope}; {brief.UNKNOWN}" if unknown else scope


def _sigma(e: Estimate) -> str:
    if e.sigma_turn is not None:
        return f"{e.sigma_turn:.3g} {e.clock.unit}"
    return f"n/a: {e.sigma_reason}" if e.sigma_reason else ""


def _course(e: Estimate) -> str:
    s = e.steady
    if s is None:
        return ""
    warm_up = "no end of a warm-up found" if s.warm_up is None else f"warm after {s.warm_up} {s.of}"
    return f"{s.shape}; {warm_up}; lag-1 correlation {s.lag_correlation:+.2f}"


# name, explanation, what is in its cell
_FIGURES: tuple[tuple[str, str, Callable[[Estimate], str]], ...] = (
    (
        "latency",
        "what comparisons rest on",
        lambda e: _level(e, e.latency),
    ),
    (
        "in ns",
        "latency, by the rate of the clock",
        lambda e: f"{ns} ns" if (ns := brief.nanoseconds(e)) else "",
    ),
    ("base", "the lowest sustained regime", lambda e: _level(e, e.base)),
    ("overall", "all tests that count", lambda e: _level(e, e.overall)),
    ("fixed cost c", "of a test, whatever its size", lambda e: _with_unit(e, table.fixed_cost(e))),
    ("first pass", "median of the first passes after an eviction", _cold),
    ("quantiles", "of single turns", _quantiles),
    ("spread", "between runs", spread),
    ("interval", "what it speaks about", _scope),
    ("std. dev. per turn", "sigma P, if turns are independent", _sigma),
    ("course of a run", "over its tests", _course),
    ("tests", "that count", lambda e: f"{e.tests} in {len(e.runs)} run{'s' * (len(e.runs) != 1)}"),
    ("assumption", "of printed figures", lambda e: e.assumption),
)
