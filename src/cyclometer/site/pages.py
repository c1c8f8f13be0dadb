# SPDX-License-Identifier: BSD-2-Clause
"""The pages of a site as text; report/html/templates/ has how they look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cyclometer.compare.history import ChangePoint, Series
from cyclometer.report.cells import signed
from cyclometer.report.chart import plot
from cyclometer.report.html import render
from cyclometer.report.html.render import Link
from cyclometer.report.markup import Markup, tag
from cyclometer.site.triage import Alert, TriageState
from cyclometer.text import counted

_MOST_DRAWN = 800  # points of a chart, each a stretch of the history
_MOST_LISTED = 100


class AlertLine(NamedTuple):
    """A change in a list: where its circle's page is, in lists of several circles, and why it needs
    no look any more; None if it waits for one.
    """

    page: str
    alert: Alert
    change: str
    acknowledged: str | None


class CircleLine(NamedTuple):
    """A circle in the list of its target."""

    page: str
    state: TriageState
    options: str
    newest: str
    against_previous: str
    against_best: str


def overview(
    states: Mapping[str, TriageState], acknowledged: Mapping[str, str] | None, lead: str
) -> str:
    """The first page: alerts that wait, and a line for each circle, by target. `acknowledged` is
    None if there is no store to note it in; pages then name nothing that only a store has.
    """
    alerts = [(name, alert) for name, one in states.items() for alert in one.alerts]
    alerts.sort(key=lambda pair: (pair[1].since, abs(pair[1].change)), reverse=True)
    waiting = [line for line in _alerts(alerts, acknowledged or {}) if line.acknowledged is None]
    targets: dict[str, list[CircleLine]] = {}
    for name, one in sorted(states.items(), key=lambda item: (item[1].target, item[1].key)):
        targets.setdefault(one.target or "unknown target", []).append(_line(name, one))
    return render.page(
        "site_overview.html",
        of_site=True,
        title="Latencies over time",
        lead=[lead],
        links=_links("", acknowledged is not None),
        in_store=acknowledged is not None,
        alerts=waiting[:_MOST_LISTED],
        more=len(waiting) - _MOST_LISTED,
        targets=targets,
    )


def circle(
    series: Series,
    one: TriageState,
    acknowledged: Mapping[str, str] | None,
    more: Sequence[Link] = (),
) -> str:
    """A circle's history, its changes and its newest points; `more` is linked beside these."""
    alerts = _alerts((("", alert) for alert in reversed(one.alerts)), acknowledged or {})
    return render.page(
        "site_circle.html",
        of_site=True,
        title=series.key,
        lead=[f"{one.target} {_options(one)}".strip(), _circle_sentence(series, one)],
        links=_links("../", acknowledged is not None),
        in_store=acknowledged is not None,
        unit=series.unit,
        chart=_chart(series),
        alerts=list(alerts)[:_MOST_LISTED],
        more=len(one.alerts) - _MOST_LISTED,
        more_pages=more,
        points=[(p, _level(p.value)) for p in series.points[: -_MOST_LISTED - 1 : -1]],
    )


def side_by_side(bundles: Sequence[str]) -> str:
    """The page on which any two bundles are chosen by their labels and compared.

    A label reads "DATE TIME TARGET DIGEST TITLE", as the page's script expects it.
    """
    return render.page(
        "side_by_side.html",
        "side_by_side.js",
        of_site=True,
        title="Two bundles side by side",
        lead=[f"{len(bundles)} bundles, the newest first."],
        links=_links("", True),
        bundles=bundles,
    )


def badge(states: Sequence[TriageState], acknowledged: Mapping[str, str]) -> str:
    """An SVG of the suite's verdict, for a README."""
    of = Counter(
        alert.direction for one in states for alert in one.alerts if alert.id not in acknowledged
    )
    waiting = of["regressed"]
    state = counted(waiting, "regression") if waiting else "no regression"
    if not waiting and of["changed"]:
        state = f"{counted(of['changed'], 'count')} changed"
    left, right = 62, 12 + 7 * len(state)
    parts = (
        tag("title", f"latency: {state}"),
        tag("rect", width=left + right, height=20, rx=3, fill="#555"),
        tag("rect", x=left, width=right, height=20, rx=3, fill="#b3261e" if waiting else "#14724f"),
        tag("text", "latency", x=8, y=14),
        tag("text", state, x=left + 6, y=14),
    )
    drawn = tag(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        width=left + right,
        height=20,
        font_family="DejaVu Sans,Verdana,sans-serif",
        font_size=11,
        fill="#fff",
    )
    return drawn + "\n"


def _links(up: str, in_store: bool) -> list[Link]:
    links = [Link(f"{up}index.html", "All circles")]
    return links + [Link(f"{up}compare.html", "Two bundles")] * in_store


def _alerts(
    alerts: Iterable[tuple[str, Alert]], acknowledged: Mapping[str, str]
) -> Iterable[AlertLine]:
    for name, alert in alerts:
        yield AlertLine(name, alert, signed(alert.change), acknowledged.get(alert.id))


def _line(name: str, one: TriageState) -> CircleLine:
    return CircleLine(
        name,
        one,
        _options(one),
        f"{_level(one.newest)} {one.unit}",
        _against(one.against_previous),
        _against(one.against_best),
    )


def _options(one: TriageState) -> str:
    return ", ".join(f"{n}={v}" for n, v in sorted(one.configuration.items()))


def _circle_sentence(series: Series, one: TriageState) -> str:
    missing = f"; {series.missing} bundles had no valid figure" if series.missing else ""
    points, changes = counted(one.points, "bundle"), counted(len(series.changes), "change")
    return (
        f"{points}, {changes}{missing}. Newest: "
        f"{_level(one.newest)} {one.unit}, against the one before: "
        f"{_against(one.against_previous) or 'there is none'}."
    )


def _chart(series: Series) -> plot.Chart:
    """The history as the lowest and highest value of each stretch, with a rule at each change."""
    values = np.array([point.value for point in series.points])
    edges = np.linspace(0, values.size, min(values.size, _MOST_DRAWN) + 1).astype(int)
    low, high = np.minimum.reduceat(values, edges[:-1]), np.maximum.reduceat(values, edges[:-1])
    room = max(0.06 * (high.max() - low.min()), 0.002 * abs(high.max()), 1e-9)
    across = (1.0, float(max(values.size, 2)))
    tall = (low.min() - room, high.max() + room)
    frame = plot.frame(across, tall, "bundle", series.unit, whole_x=True)
    x, y = frame.x.many(edges[:-1] + 1.0), (frame.y.many(low), frame.y.many(high))
    frame.draw(plot.series(0, plot.band(x, *y), plot.dots(x, frame.y.many((low + high) / 2))))
    places = {id(point): at for at, point in enumerate(series.points)}
    for change in series.changes:
        frame.draw(_rule(frame, places[id(change.first)], change))
    summary = f"{values.size} values from {values.min():g} to {values.max():g} {series.unit}"
    title = f"Latency of a turn [{series.unit}]"
    return plot.Chart(title, summary, frame.body())


def _rule(frame: plot.Frame, at: int, change: ChangePoint) -> Markup:
    x = frame.x(at + 0.5)
    line = tag("line", cls="rule", x1=x, x2=x, y1=frame.y.start, y2=frame.y.stop)
    return tag("g", tag("title", f"{signed(change.change)} since {change.first.when}"), line)


def _against(change: float | None) -> str:
    return "" if change is None else "same" if change == 0 else signed(change)


def _level(value: float) -> str:
    return f"{value:,.0f}" if value >= 10_000 else f"{value:.5g}"
