# SPDX-License-Identifier: BSD-2-Clause
"""A turn in the order in which it happened: a lane for each level and address space, the phases
marked above.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from cyclometer.explain.explanation import Explanation
from cyclometer.report.chart import plot
from cyclometer.report.chart.flame import WIDTH, level_class
from cyclometer.report.markup import Markup, join, short, tag

_LEFT, _TOP, _LANE = 116, 26, 30
_LETTER = 6.3


def draw(e: Explanation) -> plot.Chart:
    """Every stretch of one function as a box in its lane; numbers above are the phases of the
    table.
    """
    lanes = list(dict.fromkeys(segment.mode for segment in e.segments))
    bottom = _TOP + _LANE * len(lanes)
    scale = plot.Scale(0, max(e.turn.length, 1), _LEFT, WIDTH - 8)
    parts = [
        tag("text", lane, x=_LEFT - 8, y=_TOP + _LANE * i + 19, cls="end")
        for i, lane in enumerate(lanes)
    ]
    parts += list(_boxes(e, scale, lanes))
    parts += list(_phases(e, scale, bottom))
    parts += list(_axis(e, scale, bottom))
    order = " then ".join(
        f"{name} in {mode}" for (mode, name), _ in groupby((s.mode, s.function) for s in e.segments)
    )
    return plot.Chart(
        "Timeline", f"A turn in order: {order}", join(parts), height=bottom + 40, width=WIDTH
    )


def _boxes(e: Explanation, scale: plot.Scale, lanes: list[str]) -> Iterator[Markup]:
    for segment in e.segments:
        x, width = scale(segment.start), scale(segment.stop) - scale(segment.start)
        y = _TOP + _LANE * lanes.index(segment.mode) + 3
        title = (
            f"{segment.function}: {segment.stop - segment.start} from {segment.start}, "
            f"{segment.mode}, {segment.phase}"
        )
        box = tag("rect", cls="fill", x=x, y=y, width=max(width - 0.5, 0.3), height=_LANE - 6, rx=2)
        yield tag(
            "g", tag("title", title), box, cls=f"box {level_class(segment.mode.partition(',')[0])}"
        )
        if (letters := int((width - 4) / _LETTER)) >= 3:
            name = segment.function
            shown = name if len(name) <= letters else name[: letters - 1] + "\u2026"
            yield tag("text", shown, x=x + 3, y=y + 16, cls="in-box")


def _phases(e: Explanation, scale: plot.Scale, bottom: float) -> Iterator[Markup]:
    """A rule where each phase begins, with its number."""
    numbers = {part.name: place for place, part in enumerate(e.phases, 1)}
    for name, run in groupby(e.segments, lambda segment: segment.phase):
        x = scale(next(run).start)
        yield tag("line", cls="runs", x1=x, x2=x, y1=_TOP - 8, y2=bottom)
        yield tag(
            "g",
            tag("title", name),
            tag("text", str(numbers[name]), x=x + 3, y=_TOP - 10, cls="note"),
        )


def _axis(e: Explanation, scale: plot.Scale, bottom: float) -> Iterator[Markup]:
    ticks = scale.ticks(8)
    marks = "".join(f"M{short(scale(tick))} {short(bottom)}v4" for tick in ticks)
    yield tag("path", cls="axis", d=f"M{_LEFT} {short(bottom)}H{WIDTH - 8}{marks}")
    for tick, name in zip(ticks, plot.spelled(ticks), strict=True):
        yield tag("text", name, x=scale(tick), y=bottom + 17, cls="middle")
    turns = f" of {e.turn.turns} turns" if e.turn.turns > 1 else ""
    yield tag("text", f"{e.facts.clock.unit}{turns}", x=WIDTH - 8, y=bottom + 33, cls="label end")
