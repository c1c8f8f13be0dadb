# SPDX-License-Identifier: BSD-2-Clause
"""The page of one circle: its figures, its charts, what a turn of it is, and what was set aside."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from cyclometer.estimate import digits
from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.estimate.rows import Estimate
from cyclometer.lint import Issue
from cyclometer.report import cells, table
from cyclometer.report.chart import samples, sequence
from cyclometer.report.chart.plot import Chart
from cyclometer.report.chart.registry import CHARTS
from cyclometer.report.circle import ReportedCircle
from cyclometer.report.html.facts import level
from cyclometer.report.html.overview import badge, breakable, spread
from cyclometer.report.html.subject import Entry
from cyclometer.report.markup import Markup, join, tag

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
}


def page(
    entry: Entry, before: Entry | None, after: Entry | None, remarks: Sequence[tuple[Issue, str]]
) -> Markup:
    """One circle as a section of its own; `before` and `after` are its neighbours in the
    overview.
    """
    e = entry.estimate
    return tag(
        "section",
        _trail(before, after),
        tag("h2", breakable(entry.name), id=f"{entry.anchor}-title", tabindex="-1"),
        tag("p", e.contract.title, cls="lead") if e.contract.title else None,
        *_findings(entry),
        *(_refused(c) for c in entry.present if not c.estimate.valid),
        _remarks(remarks),
        _figures(entry.present),
        tag("div", *map(figure, charts(entry.present)), cls="charts"),
        _contract(entry),
        _runs(entry.present),
        _set_aside(entry.present),
        id=entry.anchor,
        cls="page circle",
        aria_labelledby=f"{entry.anchor}-title",
    )


def charts(circles: Sequence[ReportedCircle]) -> list[Chart]:
    """All charts of a circle, the samples once for every side."""
    drawn = [samples.draw(circles, which) for which in range(len(circles))]
    drawn += [draw(circles) for name, draw in CHARTS.items() if name not in ("samples", "sequence")]
    return [chart for chart in drawn if chart is not None]


def figure(chart: Chart) -> Markup:
    """A chart with its title, and the place where the script writes what the pointer is at."""
    caption = tag("figcaption", chart.title, tag("output", cls="at", aria_hidden="true"))
    return tag("figure", caption, chart.svg())


def _trail(before: Entry | None, after: Entry | None) -> Markup:
    def link(entry: Entry | None, words: str, way: str) -> Markup | None:
        return (
            None
            if entry is None
            else tag("a", words, href=f"#{entry.anchor}", rel=way, title=entry.name)
        )

    overview = tag("a", "← all circles", href="#overview")
    return tag(
        "nav",
        overview,
        link(before, "previous", "prev"),
        link(after, "next", "next"),
        aria_label="Circles",
    )


def _findings(entry: Entry) -> Iterator[Markup]:
    """The verdict of every later side, named where there are several."""
    for circle, f in zip(entry.circles[1:], entry.findings, strict=True):
        if f is not None:
            side = f"{circle.label}: " if circle and len(entry.findings) > 1 else ""
            change = f"{cells.change(f)} " if f.change is not None else ""
            words = "; ".join(part for part in (f.reason, f.disagreement) if part)
            yield tag(
                "p", side, badge(f.verdict, f.word), " ", tag("b", change), words, cls="finding"
            )


def _refused(circle: ReportedCircle) -> Markup:
    side = f"{circle.label}: " if circle.label else ""
    return tag("p", tag("b", f"{side}no valid latency. "), circle.estimate.reason, cls="refused")


def _remarks(found: Sequence[tuple[Issue, str]]) -> Markup | None:
    """What lint says of this circle, and on which side."""
    items = (
        tag("li", level(f.level), f" {f.what}", tag("small", f" ({s})") if s else None)
        for f, s in found
    )
    return tag("ul", *items, cls="problems", aria_label="Lint") if found else None


def _figures(circles: Sequence[ReportedCircle]) -> Markup:
    """Figures down, sides across; a figure that no side has is left out."""
    rows = []
    for name, explanation, cell in _FIGURES:
        cells = [cell(c.estimate) for c in circles]
        if any(cells):
            head = tag("th", name, tag("small", explanation), scope="row")
            rows.append(tag("tr", head, *(tag("td", words) for words in cells)))
    heads = [tag("th", _swatch(i), c.label, scope="col") for i, c in enumerate(circles)]
    above = tag("thead", tag("tr", tag("td"), *heads)) if len(circles) > 1 else None
    return tag("div", tag("table", above, tag("tbody", *rows), cls="figures"), cls="scroll")


def _swatch(index: int) -> Markup:
    return tag("span", "■ ", cls=f"s{index}", aria_hidden="true")


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
    known = math.isfinite(e.latency.interval.half_width)
    return (
        f"{e.latency.interval.level:.0%}, {e.latency.scope}"
        if known
        else "none: a figure whose spread is not known"
    )


def _sigma(e: Estimate) -> str:
    if e.sigma_turn is not None:
        return f"{e.sigma_turn:.3g} {e.clock.unit}"
    return f"n/a: {e.sigma_reason}" if e.sigma_reason else ""


def _course(e: Estimate) -> str:
    s = e.steady
    if s is None:
        return ""
    warm_up = "no end of a warm-up found" if s.warm_up is None else f"warm after {s.warm_up} tests"
    return f"{s.shape}; {warm_up}; lag-1 correlation {s.lag_correlation:+.2f}"


def _contract(entry: Entry) -> Markup:
    """What was timed, drawn and in words."""
    e, c = entry.estimate, entry.estimate.contract
    drawn = sequence.draw(entry.present)
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in c.counts().items())
    facts = {
        "timed": sequence.interval(c),
        "a turn counts": counts or "nothing expected",
        "not counted here": ", ".join(e.unproven),
        "parameters": ", ".join(f"{name} {value}" for name, value in c.params.items()),
        "correction": c.correction,
        "source": c.source,
        "method": e.method
        + (
            f", sizes {e.flow.initial} + {e.flow.delta} g, {e.flow.groups} groups" if e.flow else ""
        ),
        "configuration": ", ".join(
            f"{name}={value}" for name, value in sorted(e.configuration.items())
        ),
        "clock": f"{e.clock.name} in {e.clock.unit}"
        + (f", {e.clock.hz / 1e6:.1f} MHz" if e.clock.hz else ""),
    }
    terms = [join((tag("dt", name), tag("dd", words))) for name, words in facts.items() if words]
    picture = None if drawn is None else figure(drawn)
    return join((tag("h3", "Contract"), tag("div", picture, tag("dl", *terms), cls="contract")))


def _runs(circles: Sequence[ReportedCircle]) -> Markup | None:
    """Every run's own estimates."""
    rows = [
        (
            c.label,
            str(r.run),
            table.with_interval(r.latency),
            table.latency(r.base),
            digits.percent(r.base.share, 0.005),
            table.latency(r.overall),
            str(r.overall.tests),
        )
        for c in circles
        for r in c.estimate.runs
    ]
    return _folded(
        f"Runs ({len(rows)})",
        ("side", "run", "latency", "base", "its share", "overall", "tests"),
        rows,
    )


def _set_aside(circles: Sequence[ReportedCircle]) -> Markup | None:
    """How many tests do not count, and what each cause means."""
    rows = [
        (c.label, str(count), cause, CAUSES.get(cause, ""))
        for c in circles
        for cause, count in c.estimate.set_aside.items()
    ]
    total = sum(sum(c.estimate.set_aside.values()) for c in circles)
    return _folded(f"Set aside ({total} tests)", ("side", "tests", "cause", "what it means"), rows)


def _folded(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup | None:
    """A table behind its title; the first column goes where no row has anything in it. None without
    rows.
    """
    if not rows:
        return None
    first = 0 if any(row[0] for row in rows) else 1
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names[first:])))
    lines = (tag("tr", *(tag("td", cell) for cell in row[first:])) for row in rows)
    body = tag("div", tag("table", head, tag("tbody", *lines), cls="plain"), cls="scroll")
    return tag("details", tag("summary", title), body)


# name, explanation, what stands in its cell
_FIGURES: tuple[tuple[str, str, Callable[[Estimate], str]], ...] = (
    (
        "latency",
        "what comparisons rest on",
        lambda e: _level(e, e.latency),
    ),
    (
        "in time",
        "latency, by the rate of the clock",
        lambda e: f"{ns} ns" if (ns := table.nanoseconds(e)) else "",
    ),
    ("base", "the lowest sustained regime", lambda e: _level(e, e.base)),
    ("overall", "all tests that count", lambda e: _level(e, e.overall)),
    ("fixed cost c", "of a test, whatever its size", lambda e: _with_unit(e, table.fixed_cost(e))),
    ("first pass", "median of the first passes after an eviction", _cold),
    ("quantiles", "of single turns", _quantiles),
    ("spread", "between runs", spread),
    ("interval", "what it speaks about", _scope),
    ("one turn's sd", "sigma P, where turns are independent", _sigma),
    ("course of a run", "over its tests", _course),
    ("tests", "that count", lambda e: f"{e.tests} in {len(e.runs)} run{'s' * (len(e.runs) != 1)}"),
    ("assumption", "of printed figures", lambda e: e.assumption),
)
