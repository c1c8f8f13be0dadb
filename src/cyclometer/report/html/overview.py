# SPDX-License-Identifier: BSD-2-Clause
"""The first page: every circle on one line, the largest effect first."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from cyclometer.compare.finding import VERDICTS, Finding
from cyclometer.estimate.rows import Estimate
from cyclometer.report import cells, table
from cyclometer.report.chart.plot import Scale
from cyclometer.report.circle import ReportedCircle
from cyclometer.report.html.subject import Entry, Subject
from cyclometer.report.markup import Markup, join, tag

SYMBOLS = {
    "regressed": "▲",
    "over margin": "▲",
    "improved": "▼",
    "changed": "±",
    "equivalent": "=",
    "undecided": "?",
    "added": "+",
    "removed": "\u2212",
    "failed": "✕",
    "invalid": "✕",
    "not comparable": "≠",
    "valid": "✓",
}
_BAR, _TALL = 180, 18  # pixels of a line's drawing
# changes beyond the upper one are cut; below the lower one no scale is drawn finer
_REACH = (0.02, 1.0)


def overview(subject: Subject) -> Markup:
    """Verdicts as filters, the filter box, and the table."""
    rows = _latency_rows(subject) if len(subject.bundles) == 1 else _change_rows(subject)
    return tag(
        "section",
        tag("h2", "Circles", id="circles"),
        _controls(subject),
        tag("div", tag("table", *rows, cls="overview", aria_labelledby="circles"), cls="scroll"),
        id="overview",
    )


def badge(verdict: str, word: str = "") -> Markup:
    """A verdict as a word with its symbol, so that colour is not needed; `word` stands for it."""
    symbol = tag("b", SYMBOLS[verdict], aria_hidden="true")
    return tag("span", symbol, tag("span", f" {word or verdict}"), cls=f"badge {_css(verdict)}")


def breakable(name: str) -> Markup:
    """A name that may go on in the next line after its dots and slashes rather than anywhere."""
    return join(
        part
        for piece in re.findall(r"[^./_]*[./_]?", name)
        for part in (piece, tag("wbr"))
        if piece
    )


def _css(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _controls(subject: Subject) -> Markup:
    counts = Counter(entry.verdict for entry in subject.entries)
    chips = [
        tag(
            "button",
            tag("b", str(counts[v])),
            f" {v}",
            type="button",
            cls=f"chip {_css(v)}",
            aria_pressed="false",
            data_verdict=v,
        )
        for v in (*VERDICTS, "valid")
        if counts[v]
    ]
    box = tag(
        "input",
        type="search",
        id="filter",
        placeholder="filter, such as futex cross",
        autocomplete="off",
        spellcheck="false",
        aria_describedby="count",
        aria_keyshortcuts="/",
    )
    label = tag("label", "Filter circles", tag("kbd", "/", aria_hidden="true"), for_="filter")
    count = tag("output", f"{len(subject.entries)} circles", id="count", aria_live="polite")
    group = tag("div", *chips, cls="chips", role="group", aria_label="Show only")
    return tag("div", tag("div", label, box, count, cls="search"), group, cls="controls")


def _row(entry: Entry, *cells: Markup) -> Markup:
    title = entry.estimate.contract.title
    link = tag("a", breakable(entry.name), href=f"#{entry.anchor}")
    why = tag("small", reason, cls="why") if (reason := _reason(entry)) else None
    name = tag(
        "th", link, tag("small", title) if title else None, why, scope="row", data_v=entry.name
    )
    return tag("tr", name, *cells, data_verdict=entry.verdict)


def _reason(entry: Entry) -> str:
    """Why a circle has no figure to show, where the verdict alone does not say it."""
    if not entry.findings:
        return entry.estimate.reason
    refused = ("failed", "invalid", "not comparable")
    return next((f.reason for f in entry.findings if f is not None and f.verdict in refused), "")


def _head(*columns: tuple[str, str] | Markup) -> Markup:
    """Headings that sort their column; each is (text, class), or a cell that does not sort."""
    cells = [
        column
        if isinstance(column, Markup)
        else tag(
            "th",
            tag("button", column[0], type="button"),
            scope="col",
            cls=column[1],
            aria_sort="none",
        )
        for column in columns
    ]
    return tag("thead", tag("tr", *cells))


def _number(words: str, value: float | None, cls: str = "") -> Markup:
    """A cell that sorts by `value`; without one it comes last."""
    known = value is not None and math.isfinite(value)
    return tag("td", words, cls=f"n {cls}".strip(), data_v=f"{value:.6g}" if known else None)


# One bundle: latencies


def _latency_rows(subject: Subject) -> tuple[Markup, Markup]:
    unit = subject.entries[0].estimate.clock.unit if subject.entries else ""
    scale = _latency_scale([e.estimate for e in subject.entries])
    drawing = tag("th", _latency_axis(scale), scope="col", cls="wide", aria_label="latency, drawn")
    head = _head(
        ("circle", ""),
        (f"latency [{unit}]", "n"),
        drawing,
        ("ns", "n wide"),
        ("overall", "n wide"),
        ("spread", "n wide"),
        ("tests", "n wide"),
        ("state", ""),
    )
    return head, tag("tbody", *(_latency_row(entry, unit, scale) for entry in subject.entries))


def _latency_row(entry: Entry, unit: str, scale: Scale | None) -> Markup:
    e = entry.estimate
    latency = e.latency if e.valid else None
    other = f" {e.clock.unit}" if e.clock.unit != unit else ""
    return _row(
        entry,
        _number(
            table.with_interval(latency) + other if latency else "none",
            latency.value if latency else None,
        ),
        tag("td", _latency_drawing(e, scale) if latency else None, cls="wide drawing"),
        _number(table.nanoseconds(e) if latency else "", e.ns if latency else None, "wide"),
        _overall(e),
        _number(spread(e) if latency else "", latency.spread if latency else None, "wide"),
        _number(str(e.tests), float(e.tests), "wide"),
        tag("td", badge("valid") if e.valid else badge("invalid"), data_v=str(e.valid)),
    )


def _overall(e: Estimate) -> Markup:
    if e.overall is None or not e.valid:
        return _number("", None, "wide")
    return _number(table.with_interval(e.overall), e.overall.value, "wide")


def spread(e: Estimate) -> str:
    """How far runs differ, as a share of the latency."""
    return (
        ""
        if e.latency is None
        else f"{100 * e.latency.spread:.2f} %"
        if e.latency.runs > 1
        else "one run"
    )


def _plotted(e: Estimate) -> float | None:
    """What the overview draws: nanoseconds where the clock is a time, so that clocks may mix; else
    the clock's unit.
    """
    if e.latency is None:
        return None
    return e.latency.value if e.ns is None else e.ns


def _latency_scale(found: Sequence[Estimate]) -> Scale | None:
    values = [v for e in found if e.valid and (v := _plotted(e)) and v > 0]
    return Scale(min(values) * 0.8, max(values) * 1.25, 4, _BAR - 4, log=True) if values else None


def _latency_axis(scale: Scale | None) -> Markup | None:
    if scale is None:
        return None
    ticks = [t for t in scale.ticks(4) if math.log10(t).is_integer()]
    labels = [tag("text", _si(t), x=scale(t), y=13, cls="middle") for t in ticks]
    return _bar("scale", *labels)


def _si(value: float) -> str:
    power = min(2, max(0, math.floor(math.log10(value) / 3))) if value >= 1 else 0
    return f"{value / 1000**power:g}{('', 'k', 'M')[power]}"


def _latency_drawing(e: Estimate, scale: Scale | None) -> Markup | None:
    """The latency as a dot with its interval, where it is known, and overall as a tick, on the
    scale of all circles.
    """
    value = _plotted(e)
    if scale is None or e.latency is None or e.overall is None or not value or value <= 0:
        return None
    factor, latency = value / e.latency.value, e.latency
    bounds = np.array([latency.interval.low, latency.interval.high, e.overall.value]) * factor
    low, high, overall = scale.many(bounds).tolist()
    known = math.isfinite(latency.interval.half_width)
    parts = (
        tag("line", cls="whisker", x1=low, x2=high, y1=9, y2=9) if known else None,
        tag("line", cls="overall", x1=overall, x2=overall, y1=4, y2=14),
        tag("circle", cls="dot", cx=scale(value), cy=9, r=4),
    )
    return _bar("s0", *parts)


# Several bundles: changes


def _change_rows(subject: Subject) -> tuple[Markup, Markup]:
    scale = _change_scale(subject.entries)
    drawn = len(subject.bundles) == 2
    drawing = tag(
        "th",
        _change_axis(scale),
        scope="col",
        cls="wide",
        aria_label="change with its interval, drawn",
    )
    columns: list[tuple[str, str] | Markup] = [("circle", ""), (subject.labels[0], "n wide")]
    for label in subject.labels[1:]:
        columns += [(label, "n wide"), ("change", "n")] if drawn else [(label, "n")]
    head = _head(*columns, *([drawing] if drawn else []), ("verdict", ""))
    return head, tag(
        "tbody", *(_change_row(entry, scale if drawn else None) for entry in subject.entries)
    )


def _change_row(entry: Entry, scale: Scale | None) -> Markup:
    cells = [_latency(entry.circles[0])]
    for after, finding in zip(entry.circles[1:], entry.findings, strict=True):
        if scale is None:
            cells.append(_outcome_cell(finding, after))
        else:
            cells += [_latency(after), _change_cell(finding), _drawing(finding, scale)]
    badged = badge(entry.verdict, entry.word)
    return _row(entry, *cells, tag("td", badged, data_v=str(VERDICTS.index(entry.verdict))))


def _latency(circle: ReportedCircle | None) -> Markup:
    e = circle.estimate if circle else None
    latency = e.latency if e and e.valid else None
    return _number(_figure(circle), latency.value if latency else None, "wide")


def _figure(circle: ReportedCircle | None) -> str:
    """The latency with its unit, or the word for why there is none."""
    e = circle.estimate if circle else None
    if e is None or e.latency is None or not e.valid:
        return "none" if e is None else "invalid"
    return f"{table.with_interval(e.latency)} {e.clock.unit}"


def _change_cell(finding: Finding | None) -> Markup:
    return _number("", None) if finding is None else _number(cells.change(finding), finding.change)


def _outcome_cell(finding: Finding | None, after: ReportedCircle | None) -> Markup:
    """Coloured by the verdict: the change, or what an added circle takes, or the verdict itself."""
    if finding is None:
        return _number("none", None)
    words = cells.change(finding) or (
        _figure(after) if finding.verdict == "added" else finding.verdict
    )
    return _number(words, finding.change, _css(finding.verdict))


def _drawing(finding: Finding | None, scale: Scale) -> Markup:
    known = finding is not None and finding.change is not None
    return tag(
        "td", _change_drawing(finding, scale) if finding and known else None, cls="wide drawing"
    )


def _change_scale(entries: Sequence[Entry]) -> Scale:
    sizes = [abs(e.change) for e in entries if e.change is not None]
    reach = float(np.clip(1.3 * max(sizes, default=0.0), *_REACH))
    return Scale(-reach, reach, 6, _BAR - 6)


def _change_axis(scale: Scale) -> Markup:
    words = [(t, f"{100 * t:+g}%".replace("-", "\u2212") if t else "0") for t in scale.ticks(3)]
    labels = (tag("text", word, x=scale(tick), y=13, cls="middle") for tick, word in words)
    return _bar("scale", *labels)


def _change_drawing(finding: Finding, scale: Scale) -> Markup:
    """The change as a dot with its interval, both cut where they leave the scale; the grey line is
    no change.
    """
    assert finding.change is not None  # for the caller draws changes only
    ends = (
        (finding.interval.low, finding.interval.high)
        if finding.interval
        else (finding.change, finding.change)
    )
    low, middle, high = scale.many(np.array([ends[0], finding.change, ends[1]])).tolist()
    zero = scale(0.0)
    parts = (
        tag("line", cls="zero", x1=zero, x2=zero, y1=0, y2=_TALL),
        tag("line", cls="whisker", x1=low, x2=high, y1=9, y2=9),
        tag("circle", cls="dot", cx=middle, cy=9, r=4),
    )
    return _bar(_css(finding.verdict), *parts)


def _bar(cls: str, *parts: Markup | None) -> Markup:
    """A line's drawing; hidden from screen readers, for its figures stand beside it."""
    return tag("svg", *parts, viewBox=f"0 0 {_BAR} {_TALL}", cls=f"bar {cls}", aria_hidden="true")
