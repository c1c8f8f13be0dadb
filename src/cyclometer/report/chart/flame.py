# SPDX-License-Identifier: BSD-2-Clause
"""A flame graph of a turn: who called whom across, as wide as what it cost, the outermost function
at the bottom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cyclometer.explain.explanation import Explanation
from cyclometer.explain.parts import LEVELS
from cyclometer.report.chart import plot
from cyclometer.report.markup import Markup, join, tag

WIDTH, _ROW = 840, 18
_LETTER = 6.3  # pixels of one
_NARROW = 0.6  # pixels below which a frame is not drawn; its caller shows it


@dataclass
class _Frame:
    """A function below one caller: what it and all it called cost."""

    name: str
    total: int = 0
    called: dict[str, _Frame] = field(default_factory=dict)


def draw(e: Explanation) -> plot.Chart:
    """Stacks merged where they begin alike; colours tell the level that a function runs at."""
    levels = {segment.function: segment.mode.partition(",")[0] for segment in e.segments}
    sentence = (
        f"Who called whom in a turn of {e.facts.contract.key}; the table of functions "
        "says the same in figures"
    )
    stacks = [(part.name, part.total) for part in e.stacks]
    return draw_stacks(stacks, levels, e.turn.turns, sentence)


def draw_stacks(
    stacks: Iterable[tuple[Sequence[str], int]],
    levels: dict[str, str],
    turns: float,
    sentence: str,
) -> plot.Chart:
    """Any stacks, outermost function first, with what each cost over `turns`; `levels` is that of a
    function.
    """
    root = _Frame("turn")
    for names, total in stacks:
        frame = root
        frame.total += total
        for name in names:
            frame = frame.called.setdefault(name, _Frame(name))
            frame.total += total
    deep = _depth(root)
    scale = WIDTH / max(root.total, 1)
    parts = list(_frames(root, 0.0, 0, scale, deep, levels, turns))
    return plot.Chart("Flame graph", sentence, join(parts), height=(deep + 1) * _ROW, width=WIDTH)


def level_class(level: str) -> str:
    """The colour of a level, by the series of chart.css."""
    order = list(LEVELS.values())
    return f"s{order.index(level)}" if level in order else "s3"


def _depth(frame: _Frame) -> int:
    return max((1 + _depth(called) for called in frame.called.values()), default=0)


def _frames(
    frame: _Frame,
    x: float,
    depth: int,
    scale: float,
    deep: int,
    levels: dict[str, str],
    turns: float,
) -> Iterator[Markup]:
    width = frame.total * scale
    if width < _NARROW:
        return
    yield _box(
        frame.name,
        x,
        (deep - depth) * _ROW,
        width,
        levels.get(frame.name, ""),
        f"{frame.total / turns:g}",
    )
    for called in frame.called.values():
        yield from _frames(called, x, depth + 1, scale, deep, levels, turns)
        x += called.total * scale


def _box(name: str, x: float, y: float, width: float, level: str, count: str) -> Markup:
    told = tag("title", f"{name}: {count}{f', {level}' if level else ''}")
    area = {"x": x, "y": y, "width": max(width - 0.6, 0.3), "height": _ROW - 1}
    rect = tag(
        "g",
        told,
        tag("rect", cls="fill", rx=2, **area),
        cls=f"box {level_class(level) if level else 'whole'}",
    )
    letters = int((width - 6) / _LETTER)
    if letters < 3:
        return rect
    shown = name if len(name) <= letters else name[: letters - 1] + "\u2026"
    return join((rect, tag("text", shown, x=x + 4, y=y + 13, cls="in-box")))


def legend(modes: Sequence[str]) -> Markup:
    """What the colours mean, of the levels among `modes`."""
    levels = dict.fromkeys(mode.partition(",")[0] for mode in modes)
    items = (tag("span", tag("b", "■ ", cls=level_class(level)), f"{level} ") for level in levels)
    return tag("p", *items, cls="legend")
