# SPDX-License-Identifier: BSD-2-Clause
"""The pages of a site as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from cyclometer.compare.history import ChangePoint, Series
from cyclometer.report.cells import signed
from cyclometer.report.chart import plot
from cyclometer.report.html.document import whole
from cyclometer.report.markup import Markup, join, tag
from cyclometer.site.triage import Alert, TriageState

_HERE = Path(__file__).parent
_MOST_DRAWN = 800  # points of a chart, each a stretch of the history
_MOST_LISTED = 100
_PULL = "`cyclometer store pull` fetches a bundle with its samples."


def overview(
    states: Mapping[str, TriageState], acknowledged: Mapping[str, str] | None, lead: str
) -> str:
    """The first page: alerts that wait, and a line for each circle, by target. `acknowledged` is
    None if there is no store to note it in; pages then name nothing that only a store has.
    """
    seen = acknowledged or {}
    alerts = [(name, alert) for name, one in states.items() for alert in one.alerts]
    alerts.sort(key=lambda pair: pair[1].since, reverse=True)
    waiting = [pair for pair in alerts if pair[1].id not in seen]
    targets = sorted({one.target for one in states.values()})
    parts = [
        _header("Latencies over time", lead, "", acknowledged is not None),
        tag("h2", "Changes" if acknowledged is None else "Changes that wait for a look")
        if waiting
        else None,
        _alerts(waiting[:_MOST_LISTED], acknowledged) if waiting else None,
        _more(len(waiting)),
        *(
            tag("section", tag("h2", target or "unknown target"), _table(states, target))
            for target in targets
        ),
    ]
    return _page("Latencies over time", parts)


def circle(series: Series, one: TriageState, acknowledged: Mapping[str, str] | None) -> str:
    """A circle's history, its changes and its newest points."""
    options = ", ".join(f"{n}={v}" for n, v in sorted(one.configuration.items()))
    parts = [
        _header(series.key, f"{one.target} {options}".strip(), "../", acknowledged is not None),
        tag("p", _circle_sentence(series, one), cls="lead"),
        tag("figure", tag("figcaption", f"Latency of a turn [{series.unit}]"), _chart(series)),
        tag("h2", "Changes") if series.changes else None,
        _alerts([("", alert) for alert in reversed(one.alerts)][:_MOST_LISTED], acknowledged)
        if series.changes
        else None,
        _more(len(one.alerts)),
        tag("h2", "Newest bundles"),
        None if acknowledged is None else tag("p", _PULL, cls="lead"),
        _points(series),
    ]
    return _page(series.key, parts)


def side_by_side(bundles: Sequence[tuple[str, str]]) -> str:
    """The page on which any two bundles (digits of their digest, title) are chosen and compared."""
    choices = [tag("option", label, value=name) for name, label in bundles]
    picked = [  # the script copies the choices into the second one: there may be thousands
        tag("label", "before ", tag("select", join(choices), id="before"), cls="pick"),
        tag("label", "after ", tag("select", id="after"), cls="pick"),
    ]
    parts = [
        _header("Two bundles side by side", f"{len(bundles)} bundles, the newest first.", ""),
        tag("div", *picked, cls="controls"),
        tag("p", "", id="told", cls="lead", aria_live="polite"),
        tag("div", tag("table", tag("tbody", id="rows"), cls="overview"), cls="scroll"),
        tag("noscript", "This page needs scripts; `cyclometer compare` does not."),
    ]
    return _page("Two bundles side by side", parts, (_HERE / "side_by_side.js").read_text())


def badge(states: Sequence[TriageState], acknowledged: Mapping[str, str]) -> str:
    """An SVG of the suite's verdict, for a README."""
    of = Counter(
        alert.direction for one in states for alert in one.alerts if alert.id not in acknowledged
    )
    waiting = of["regressed"]
    state = f"{waiting} regressions" if waiting else "no regression"
    if not waiting and of["changed"]:
        state = f"{of['changed']} counts changed"
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


def _page(title: str, parts: Sequence[Markup | None], script: str = "") -> str:
    kept = [part for part in parts if part is not None]
    style = (_HERE / "site.css").read_text()
    footer = "A static site: it loads nothing but its own files."
    return whole(title, (kept[0], tag("main", *kept[1:])), style, script, footer)


def _header(title: str, lead: str, up: str, of_store: bool = True) -> Markup:
    links = {"index.html": "All circles"}
    links |= {"compare.html": "Two bundles"} if of_store else {}
    listed = [tag("a", words, href=up + name) for name, words in links.items()]
    return tag(
        "header",
        tag("h1", title),
        tag("p", lead, cls="lead"),
        tag("nav", *listed, aria_label="Site"),
    )


def _alerts(alerts: Sequence[tuple[str, Alert]], acknowledged: Mapping[str, str] | None) -> Markup:
    rows = []
    for name, alert in alerts:
        key = tag("a", alert.key, href=f"circle/{name}.html") if name else tag("code", alert.id)
        text = "; ".join(alert.cause[:6]) or "nothing in the identity changed"
        if acknowledged is not None:
            why = acknowledged.get(alert.id)
            seen = "waits" if why is None else f"acknowledged: {why}"
            text = f"{alert.id} {seen}. {text}" if name else f"{seen}. {text}"
        cells = [
            tag("th", key, scope="row"),
            tag("td", tag("span", signed(alert.change), cls=alert.direction), cls="n"),
            tag("td", alert.since[:16].replace("T", " ")),
            tag("td", tag("small", text)),
        ]
        rows.append(tag("tr", *cells))
    first = "circle" if any(name for name, _ in alerts) else "alert"
    head = _head(first, "change", "since", "what changed there")
    return tag("div", tag("table", head, tag("tbody", *rows), cls="overview"), cls="scroll")


def _more(number: int) -> Markup | None:
    left = number - _MOST_LISTED
    return tag("p", f"and {left} more.", cls="lead") if left > 0 else None


def _table(states: Mapping[str, TriageState], target: str) -> Markup:
    rows = [
        tag(
            "tr",
            tag("th", tag("a", one.key, href=f"circle/{name}.html"), _options(one), scope="row"),
            tag("td", f"{_level(one.newest)} {one.unit}", cls="n"),
            tag("td", _against(one.against_previous), cls="n"),
            tag("td", _against(one.against_best), cls="n wide"),
            tag("td", "stands out" if one.stands_out else "", cls="undecided"),
            tag("td", str(one.points), cls="n wide"),
        )
        for name, one in sorted(states.items(), key=lambda item: item[1].key)
        if one.target == target
    ]
    head = _head("circle", "newest", "against the one before", "against the best", "", "bundles")
    return tag("div", tag("table", head, tag("tbody", *rows), cls="overview"), cls="scroll")


def _head(*names: str) -> Markup:
    return tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names)))


def _options(one: TriageState) -> Markup | None:
    text = ", ".join(f"{n}={v}" for n, v in sorted(one.configuration.items()))
    return tag("small", text) if text else None


def _points(series: Series) -> Markup:
    rows = [
        tag(
            "tr",
            tag("th", tag("code", point.bundle), scope="row"),
            tag("td", point.when[:16].replace("T", " ")),
            tag("td", _level(point.value), cls="n"),
        )
        for point in series.points[: -_MOST_LISTED - 1 : -1]
    ]
    head = _head("bundle", "made", f"latency [{series.unit}]")
    return tag("table", head, tag("tbody", *rows), cls="plain")


def _circle_sentence(series: Series, one: TriageState) -> str:
    missing = f"; {series.missing} bundles had no valid figure" if series.missing else ""
    return (
        f"{one.points} bundles, {len(series.changes)} changes{missing}. Newest: "
        f"{_level(one.newest)} {one.unit}, against the one before: "
        f"{_against(one.against_previous) or 'there is none'}."
    )


def _chart(series: Series) -> Markup:
    """The history as the lowest and highest value of each stretch, with a rule at each change."""
    values = np.array([point.value for point in series.points])
    edges = np.linspace(0, values.size, min(values.size, _MOST_DRAWN) + 1).astype(int)
    low, high = np.minimum.reduceat(values, edges[:-1]), np.maximum.reduceat(values, edges[:-1])
    room = max(0.06 * (high.max() - low.min()), 0.002 * abs(high.max()), 1e-9)
    across = (1.0, float(max(values.size, 2)))
    frame = plot.frame(across, (low.min() - room, high.max() + room), "bundle", series.unit)
    x, y = frame.x.many(edges[:-1] + 1.0), (frame.y.many(low), frame.y.many(high))
    frame.draw(plot.series(0, plot.band(x, *y), plot.dots(x, frame.y.many((low + high) / 2))))
    for change in series.changes:
        frame.draw(_rule(frame, series, change))
    summary = f"{values.size} values from {values.min():g} to {values.max():g} {series.unit}"
    return plot.Chart("History", summary, frame.body()).svg()


def _rule(frame: plot.Frame, series: Series, change: ChangePoint) -> Markup:
    x = frame.x(series.points.index(change.first) + 0.5)
    line = tag("line", cls="rule", x1=x, x2=x, y1=frame.y.start, y2=frame.y.stop)
    return tag("g", tag("title", f"{signed(change.change)} since {change.first.when}"), line)


def _against(change: float | None) -> str:
    return "" if change is None else "same" if change == 0 else signed(change)


def _level(value: float) -> str:
    return f"{value:,.0f}" if value >= 10_000 else f"{value:.5g}"
