# SPDX-License-Identifier: BSD-2-Clause
"""Drawings as tall as a line of a table: a figure on the scale of all rows. The figures stand
beside them, so screen readers pass them over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cyclometer.compare.finding import Finding
from cyclometer.estimate.rows import Estimate
from cyclometer.report.chart.plot import Scale
from cyclometer.report.html.render import css_class
from cyclometer.report.markup import Markup, join, tag

_WIDE, _TALL = 180, 18  # pixels
_LABEL_PX = 34
# changes beyond the upper one are cut; below the lower one no scale is drawn finer
_REACH = (0.02, 1.0)


def latency_scale(found: Sequence[Estimate]) -> Scale | None:
    """A logarithmic scale of all valid latencies; None if there is none."""
    values = [v for e in found if e.valid and (v := _plotted(e)) and v > 0]
    return Scale(min(values) * 0.8, max(values) * 1.25, 4, _WIDE - 4, log=True) if values else None


def latency_axis(scale: Scale | None) -> Markup | None:
    """The decades of the scale."""
    if scale is None:
        return None
    ticks = [t for t in scale.ticks(4) if math.log10(t).is_integer()]
    apart = scale(10 * ticks[0]) - scale(ticks[0]) if ticks else 1.0
    every = math.ceil(_LABEL_PX / apart)  # decades, so that labels do not run into each other
    labels = [tag("text", _si(t), x=scale(t), y=13, cls="middle") for t in ticks[::every]]
    return _bar("scale", *labels)


def latency(e: Estimate, scale: Scale | None) -> Markup | None:
    """The latency as a dot with its interval, where it is known, and overall as a tick."""
    value = _plotted(e)
    if scale is None or e.latency is None or e.overall is None or not value or value <= 0:
        return None
    factor, level = value / e.latency.value, e.latency
    bounds = np.array([level.interval.low, level.interval.high, e.overall.value]) * factor
    low, high, overall = scale.many(bounds).tolist()
    known = math.isfinite(level.interval.half_width)
    parts = (
        tag("line", cls="whisker", x1=low, x2=high, y1=9, y2=9) if known else None,
        tag("line", cls="overall", x1=overall, x2=overall, y1=4, y2=14),
        tag("circle", cls="dot", cx=scale(value), cy=9, r=4),
    )
    return _bar("s0", *parts)


def change_scale(changes: Sequence[float]) -> Scale:
    """A scale of changes as fractions, with no change in the middle."""
    reach = float(np.clip(1.3 * max(map(abs, changes), default=0.0), *_REACH))
    return Scale(-reach, reach, 6, _WIDE - 6)


def change_axis(scale: Scale) -> Markup:
    """The ticks of the scale in percent."""
    words = [(t, f"{100 * t:+g}%".replace("-", "\u2212") if t else "0") for t in scale.ticks(3)]
    labels = (tag("text", word, x=scale(tick), y=13, cls="middle") for tick, word in words)
    return _bar("scale", *labels)


def change(finding: Finding | None, scale: Scale) -> Markup | None:
    """The change as a dot with its interval, both cut where they leave the scale; the grey line is
    no change.
    """
    if finding is None or finding.change is None:
        return None
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
    return _bar(css_class(finding.verdict), *parts)


def share(part: float, whole: float) -> Markup:
    """A share in percent, and as a bar."""
    percent = 100 * part / max(whole, 1)
    bar = tag("rect", x=0, y=0, width=percent, height=10)
    box = {"viewBox": "0 0 100 10", "preserveAspectRatio": "none"}
    return join((f"{percent:.1f} %", tag("svg", bar, cls="amount", aria_hidden="true", **box)))


def _plotted(e: Estimate) -> float | None:
    """What is drawn: nanoseconds where the clock is a time, so that clocks may mix; else the
    clock's unit.
    """
    if e.latency is None:
        return None
    return e.latency.value if e.ns is None else e.ns


def _si(value: float) -> str:
    power = min(2, max(0, math.floor(math.log10(value) / 3))) if value >= 1 else 0
    return f"{value / 1000**power:g}{('', 'k', 'M')[power]}"


def _bar(cls: str, *parts: Markup | None) -> Markup:
    return tag("svg", *parts, viewBox=f"0 0 {_WIDE} {_TALL}", cls=f"bar {cls}", aria_hidden="true")
