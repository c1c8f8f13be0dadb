# SPDX-License-Identifier: BSD-2-Clause
"""A flame graph of a turn: who called whom across, as wide as what it cost, the outermost function
at the bottom. html/templates/flame.js zooms, searches and turns it upside down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cyclometer.explain.difference import Difference
from cyclometer.explain.explanation import Explanation
from cyclometer.explain.parts import LEVELS
from cyclometer.report.chart import plot
from cyclometer.report.markup import Markup, join, tag

WIDTH, _ROW = 840, 18
_LETTER = 6.3  # pixels of one
_NARROW = 0.05  # pixels below which a frame is not drawn; its caller shows it
_SHADES = 4  # of a change, the strongest that of the largest
LEGEND_OF_CHANGE = (
    ("more by-4", "costs more"),
    ("less by-4", "costs less"),
    ("whole", "as before"),
)
"""What the colours of a difference mean."""


@dataclass
class _Frame:
    """A function below one caller: what it and all it called cost, a turn; `before` and `after` on
    the two sides of a difference.
    """

    name: str
    total: float = 0.0
    before: float = 0.0
    after: float = 0.0
    called: dict[str, _Frame] = field(default_factory=dict)

    @property
    def change(self) -> float:
        return round(self.after - self.before, 6)

    def downwards(self) -> Iterator[_Frame]:
        """This frame and all it called."""
        yield self
        for called in self.called.values():
            yield from called.downwards()


@dataclass(frozen=True)
class _Look:
    """How a frame is drawn: its class, the words in it, and the words of its tip."""

    style: Callable[[_Frame], str]
    label: Callable[[_Frame], str]
    tip: Callable[[_Frame], str]


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
        for frame in _open(root, names):
            frame.total += total / turns
    level = {name: level_class(one) for name, one in levels.items() if one}
    return _chart(
        "Flame graph",
        sentence,
        root,
        _Look(
            lambda frame: level.get(frame.name, "whole"),
            lambda frame: frame.name,
            lambda frame: ", ".join(
                (f"{frame.name}: {frame.total:g}", *filter(None, [levels.get(frame.name)]))
            ),
        ),
    )


def draw_change(found: Difference) -> plot.Chart:
    """Both turns in one graph: each stack as wide as on the side where it cost more, so that what
    vanished is seen, too. Colours tell what became more and what less.
    """
    root = _Frame("turn")
    sides = [
        {part.name: part.total / e.turn.turns for part in e.stacks}
        for e in (found.before, found.after)
    ]
    for names in dict.fromkeys(name for side in sides for name in side):
        before, after = (side.get(names, 0.0) for side in sides)
        for frame in _open(root, names):
            frame.total += max(before, after)
            frame.before += before
            frame.after += after
    most = max(abs(frame.change) for frame in root.downwards())
    sentence = (
        f"Who called whom in a turn of {found.before.facts.contract.key}, before and after; the "
        "table of functions says the same in figures"
    )
    return _chart(
        "Flame graph of the change: as wide as the side that costs more",
        sentence,
        root,
        _Look(
            lambda frame: _shade(frame.change, most),
            lambda frame: f"{frame.name} {frame.change:+g}" if frame.change else frame.name,
            lambda frame: f"{frame.name}: {frame.before:g} -> {frame.after:g}, {frame.change:+g}",
        ),
    )


def _shade(change: float, most: float) -> str:
    if not change:
        return "whole"
    return f"{'more' if change > 0 else 'less'} by-{math.ceil(_SHADES * abs(change) / most)}"


def _open(root: _Frame, names: Sequence[str]) -> list[_Frame]:
    """The frames of a stack, made where they are new."""
    found = [root]
    for name in names:
        found.append(found[-1].called.setdefault(name, _Frame(name)))
    return found


def _chart(title: str, sentence: str, root: _Frame, look: _Look) -> plot.Chart:
    deep = _depth(root)
    scale = WIDTH / root.total if root.total else 1.0
    parts = list(_frames(root, 0.0, 0, scale, deep, look))
    return plot.Chart(title, sentence, join(parts), height=(deep + 1) * _ROW, width=WIDTH)


def level_class(level: str) -> str:
    """The colour of a level, by the series of chart.css."""
    order = list(LEVELS.values())
    return f"s{order.index(level)}" if level in order else "s3"


def _depth(frame: _Frame) -> int:
    return max((1 + _depth(called) for called in frame.called.values()), default=0)


def _frames(
    frame: _Frame, x: float, depth: int, scale: float, deep: int, look: _Look
) -> Iterator[Markup]:
    """Callers before those they call, as flame.js expects."""
    width = frame.total * scale
    if width < _NARROW:
        return
    yield _box(frame, x, (deep - depth) * _ROW, width, look)
    for called in frame.called.values():
        yield from _frames(called, x, depth + 1, scale, deep, look)
        x += called.total * scale


def _box(frame: _Frame, x: float, y: float, width: float, look: _Look) -> Markup:
    label, letters = look.label(frame), int((width - 6) / _LETTER)
    area = {"x": x, "y": y, "width": max(width - 0.6, 0.3), "height": _ROW - 1}
    shown = label if len(label) <= letters else label[: letters - 1] + "\u2026"
    words = tag("text", shown, x=x + 4, y=y + 13, cls="in-box") if letters >= 3 else None
    return tag(
        "g",
        tag("title", look.tip(frame)),
        tag("rect", cls="fill", rx=2, **area),
        words,
        cls=f"box {look.style(frame)}",
        data_label=label,
        data_at=f"{x:.3f} {width:.3f}",
    )


def legend(modes: Sequence[str]) -> list[tuple[str, str]]:
    """What the colours mean, of the levels among `modes`: class and words."""
    levels = dict.fromkeys(mode.partition(",")[0] for mode in modes)
    return [(level_class(level), level) for level in levels]
