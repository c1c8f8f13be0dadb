# SPDX-License-Identifier: BSD-2-Clause
"""A turn in the order in which it happened: a lane for each level and address space, the phases
marked above; or a lane for each hart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import NamedTuple

from cyclometer.explain.explanation import Explanation
from cyclometer.explain.harts import WAITS
from cyclometer.explain.parts import LEVELS
from cyclometer.report.chart import plot
from cyclometer.report.chart.flame import WIDTH, level_class
from cyclometer.report.markup import Markup, join, short, tag

_LEFT, _TOP, _LANE = 116, 26, 30
_LETTER = 6.3


class _Box(NamedTuple):
    lane: int
    start: int
    stop: int
    function: str
    style: str
    said: str  # of its tip, behind the function and its cycles


def draw(e: Explanation) -> plot.Chart:
    """Every stretch of one function as a box in its lane; numbers above are the phases of the
    table.
    """
    lanes = list(dict.fromkeys(segment.mode for segment in e.segments))
    boxes = (
        _Box(
            lanes.index(s.mode),
            s.start,
            s.stop,
            s.function,
            level_class(s.mode.partition(",")[0]),
            f"{s.mode}, {s.phase}",
        )
        for s in e.segments
    )
    order = " then ".join(
        f"{name} in {mode}" for (mode, name), _ in groupby((s.mode, s.function) for s in e.segments)
    )
    return _chart(e, "Timeline", f"A turn in order: {order}", lanes, boxes, _phases)


def draw_harts(e: Explanation) -> plot.Chart | None:
    """A lane for each hart, coloured by level or by why it waited; None if there is one hart."""
    if not e.harts:
        return None
    states = list(hart_legend())
    boxes = (
        _Box(i, s.start, s.stop, s.function, f"s{states.index(s.state)}", s.state)
        for i, lane in enumerate(e.harts)
        for s in lane.stretches
    )
    said = "; ".join(
        f"hart {lane.hart} " + ", ".join(f"{state} {lane.cycles(state)}" for state in WAITS)
        for lane in e.harts
    )
    lanes = [f"hart {lane.hart}" for lane in e.harts]
    return _chart(e, "Harts", f"In which cycles each hart waited: {said}", lanes, boxes, _no_marks)


def hart_legend() -> dict[str, str]:
    """The states of harts, each with its colour."""
    return {state: f"s{i}" for i, state in enumerate((*LEVELS.values(), *WAITS))}


_Marks = Callable[[Explanation, plot.Scale, float], Iterator[Markup]]


def _chart(
    e: Explanation,
    title: str,
    said: str,
    lanes: list[str],
    boxes: Iterator[_Box],
    marks: _Marks,
) -> plot.Chart:
    bottom = _TOP + _LANE * len(lanes)
    scale = plot.Scale(0, max(e.turn.length, 1), _LEFT, WIDTH - 8)
    parts = [
        tag("text", lane, x=_LEFT - 8, y=_TOP + _LANE * i + 19, cls="end")
        for i, lane in enumerate(lanes)
    ]
    parts += list(_boxes(boxes, scale))
    parts += list(marks(e, scale, bottom))
    parts += list(_axis(e, scale, bottom))
    return plot.Chart(title, said, join(parts), height=bottom + 40, width=WIDTH)


def _boxes(boxes: Iterator[_Box], scale: plot.Scale) -> Iterator[Markup]:
    for one in boxes:
        x, width = scale(one.start), scale(one.stop) - scale(one.start)
        y = _TOP + _LANE * one.lane + 3
        title = f"{one.function}: {one.stop - one.start} from {one.start}, {one.said}"
        box = tag("rect", cls="fill", x=x, y=y, width=max(width - 0.5, 0.3), height=_LANE - 6, rx=2)
        yield tag("g", tag("title", title), box, cls=f"box {one.style}")
        if (letters := int((width - 4) / _LETTER)) >= 3:
            name = one.function
            shown = name if len(name) <= letters else name[: letters - 1] + "\u2026"
            yield tag("text", shown, x=x + 3, y=y + 16, cls="in-box")


def _no_marks(_e: Explanation, _scale: plot.Scale, _bottom: float) -> Iterator[Markup]:
    return iter(())


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
