# SPDX-License-Identifier: BSD-2-Clause
"""What charts are made of: scales, axes, curves, and the frame that holds them.

Colours and type stand in chart.css by class: `s0`, `s1` ... are the series, in the order of the
bundles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from cyclometer.report.circle import FloatArray
from cyclometer.report.markup import Markup, join, short, tag

WIDTH, HEIGHT = 420, 250
"""Size of a chart in its own units: readable when scaled to the width of a phone."""
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 22, 36
GRAIN = 0.5
GRAINS = f"scale({GRAIN})"
"""Curves are drawn in whole grains, half a pixel each: a report holds hundreds, and digits are
most of its size.
"""
LETTER_PX = 6.5
"""What a letter or digit takes on average; labels are placed by it."""
_TICK_PX = 55  # wanted distance of ticks on the x axis
_DIGIT_PX = 6.8  # with what separates it from the next label
_THIN = "\u2009"
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Chart:
    """A drawing with a title for people and a sentence for those who do not see it. `series` labels
    its legend.
    """

    title: str
    sentence: str
    body: Markup
    series: tuple[str, ...] = ()
    height: int = HEIGHT
    width: int = WIDTH

    def svg(self) -> Markup:
        """The drawing inside a page that has chart.css."""
        box = f"0 0 {self.width} {self.height}"
        return tag(
            "svg", self._legend(), self.body, viewBox=box, role="img", aria_label=self.sentence
        )

    def titled(self, title: str) -> Chart:
        """The same drawing under another title."""
        return replace(self, title=title)

    def standalone(self, style: str) -> str:
        """The drawing as a file of its own, with its title above and its style inside."""
        head = 26
        size = {"width": 2 * self.width, "height": 2 * (self.height + head)}
        box = f"0 {-head} {self.width} {self.height + head}"
        ground = tag(
            "rect", cls="ground", x=0, y=-head, width=self.width, height=self.height + head
        )
        title = tag("text", self.title, cls="title", x=8, y=-9)
        parts = (
            tag("title", self.sentence),
            tag("style", Markup(style)),
            ground,
            title,
            self._legend(),
            self.body,
        )
        return tag("svg", *parts, xmlns="http://www.w3.org/2000/svg", viewBox=box, **size) + "\n"

    def _legend(self) -> Markup | None:
        """Labels of two series and more, on the right above the plot."""
        if len(self.series) < 2:
            return None
        items, right = [], float(self.width - RIGHT)
        for index in reversed(range(len(self.series))):
            label = self.series[index]
            items.append(tag("text", label, x=right, y=11, cls="end"))
            right -= LETTER_PX * len(label) + 14
            items.append(tag("rect", cls=f"s{index} fill", x=right, y=3, width=9, height=9, rx=2))
            right -= 12
        return join(items)


@dataclass(frozen=True)
class Scale:
    """A linear or logarithmic map from values low..high to pixels start..stop."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def __call__(self, value: float) -> float:
        return self.start + (self.stop - self.start) * self._share(value)

    def many(self, values: FloatArray) -> FloatArray:
        """Pixels of an array of values, kept within the plot."""
        lifted = np.log(np.maximum(values, self.low)) if self.log else values
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        inside: FloatArray = np.clip((lifted - low) / (high - low), 0, 1)
        return self.start + (self.stop - self.start) * inside

    def _share(self, value: float) -> float:
        if self.log:
            return math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ends(self) -> str:
        """The scale's ends, for a script that turns pixels into values."""
        return f"{self.low:.8g} {self.high:.8g}{' log' if self.log else ''}"

    def ticks(self, wanted: int) -> list[float]:
        """Round values within the scale, about as many as wanted."""
        if not self.log:
            return _linear_ticks(self.low, self.high, wanted)
        decades = math.log10(self.high / self.low)
        # the more decades, the fewer ticks in each
        digits = (1,) if decades > wanted else (1, 3) if 2 * decades > wanted else (1, 2, 5)
        first = math.floor(math.log10(self.low))
        values = (
            d * 10.0**power
            for power in range(first, first + math.ceil(decades) + 2)
            for d in digits
        )
        found = [v for v in values if self.low <= v <= self.high]
        return found if len(found) > 1 else _linear_ticks(self.low, self.high, wanted)


def _linear_ticks(low: float, high: float, wanted: int) -> list[float]:
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * min((1, 2, 2.5, 5, 10), key=lambda m: abs(math.log(m * power / raw)))
    return [
        step * i for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]


@dataclass(frozen=True)
class Frame:
    """The plot's rectangle with its two scales."""

    x: Scale
    y: Scale
    parts: list[Markup] = field(default_factory=list)

    def draw(self, *parts: Markup) -> None:
        self.parts.extend(parts)

    def line_at(self, value: float, label: str = "", cls: str = "rule") -> None:
        """A horizontal line across the plot."""
        if self.y.low <= value <= self.y.high:
            y = self.y(value)
            self.draw(tag("line", cls=cls, x1=self.x.start, x2=self.x.stop, y1=y, y2=y))
            if label:
                self.draw(tag("text", label, cls="end note", x=self.x.stop - 3, y=y - 4))

    def body(self) -> Markup:
        """All that was drawn, and over it the area in which a pointer reads values off."""
        x, y = self.x, self.y
        area = {"x": x.start, "y": y.stop, "width": x.stop - x.start, "height": y.start - y.stop}
        hit = tag("rect", cls="hit", **area, data_x=x.ends(), data_y=y.ends())
        return join((*self.parts, hit))


def frame(
    x: tuple[float, float],
    y: tuple[float, float],
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = False,
    top: int = TOP,
    bottom: int = HEIGHT - BOTTOM,
    percent_y: bool = False,
    whole_x: bool = False,
) -> Frame:
    """A frame with axes, grid and labels; `top` and `bottom` are pixels. `whole_x` is for what is
    counted: it has no tick between two.
    """
    across = Scale(*_opened(*x), LEFT, WIDTH - RIGHT, log_x and x[0] > 0)
    made = Frame(across, Scale(*_opened(*y), bottom, top, log_y and y[0] > 0))
    made.draw(*_y_axis(made, y_label, percent_y), *_x_axis(made, x_label, bottom, whole_x))
    return made


def _opened(low: float, high: float) -> tuple[float, float]:
    """A range that is not empty."""
    if high > low:
        return low, high
    room = abs(low) * 0.01 or 1.0
    return low - room, high + room


def _y_axis(f: Frame, label: str, percent: bool) -> Iterable[Markup]:
    ticks = f.y.ticks(max(3, int((f.y.start - f.y.stop) / 38)))
    grid = "".join(f"M{short(f.x.start)} {short(f.y(t))}H{short(f.x.stop)}" for t in ticks)
    yield tag("path", cls="grid", d=grid)
    words = (name + "%" * percent for name in spelled(ticks))
    texts = (tag("text", word, y=f.y(tick)) for tick, word in zip(ticks, words, strict=True))
    yield tag("g", *texts, cls="end", transform=f"translate({LEFT - 6} 4)")
    yield tag("text", label, cls="label", x=4, y=f.y.stop - 10)


def _x_axis(f: Frame, label: str, bottom: int, whole: bool) -> Iterable[Markup]:
    ticks = f.x.ticks(int((f.x.stop - f.x.start) / _TICK_PX))
    ticks = [t for t in ticks if t == round(t)] if whole else ticks
    marks = "".join(f"M{short(f.x(t))} {bottom}v4" for t in ticks)
    yield tag("path", cls="axis", d=f"M{LEFT} {bottom}H{WIDTH - RIGHT}{marks}")
    if label:
        named = zip(map(f.x, ticks), spelled(ticks), strict=True)
        yield tag("g", *_tick_labels(named), cls="middle", transform=f"translate(0 {bottom + 16})")
        yield tag("text", label, cls="label end", x=WIDTH - RIGHT, y=bottom + 31)


def _tick_labels(named: Iterable[tuple[float, str]]) -> Iterable[Markup]:
    """The names of ticks below them; one that would leave the drawing ends at its edge, and one
    that would touch the one before is left out.
    """
    taken = -math.inf
    for x, name in named:
        half = _DIGIT_PX / 2 * len(name)
        inside = x + half <= WIDTH - 2
        start = x - half if inside else WIDTH - 2 - 2 * half
        if start > taken:
            yield tag("text", name, x=x if inside else WIDTH - 2, cls=None if inside else "end")
            taken = start + 2 * half


def spelled(values: Sequence[float]) -> list[str]:
    """Axis values with the digits that distinguish them; from a million on in thousands, or more,
    as 1500k: what is longer would leave the drawing.
    """
    largest = max(map(abs, values), default=0.0)
    power, letter = next((one for one in _PREFIXES if largest >= 1e3 * one[0]), (1.0, ""))
    values = [v / power for v in values]
    gap = min((abs(b - a) for a, b in pairwise(values)), default=1.0)
    places = next(
        (p for p in range(12) if all(abs(round(v, p) - v) < gap / 100 for v in values)), 12
    )
    words = [f"{v:,.{places}f}{letter if v else ''}" for v in values]
    return [word.replace(",", _THIN).replace("-", "\u2212") for word in words]


def curve(x: FloatArray, y: FloatArray, cls: str = "curve") -> Markup:
    """A line through pixels, shape (n,) each; for use in `series`."""
    return tag("path", cls=cls, d=_through(x, y))


def band(x: FloatArray, low: FloatArray, high: FloatArray) -> Markup:
    """The area between two lines of pixels; for use in `series`."""
    outline = _through(np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]]))
    return tag("path", cls="band", d=f"{outline}z")


def dots(x: FloatArray, y: FloatArray) -> Markup:
    """A dot at each pixel, a stroke of no length with round ends; for use in `series`."""
    spots = np.rint(np.stack([x, y]) / GRAIN).astype(int).T.tolist()
    return tag("path", cls="dots", d="".join(f"M{a} {b}h0" for a, b in spots))


def series(index: int, *parts: Markup) -> Markup:
    """What belongs to one series, in its colour and in whole grains."""
    return tag("g", *parts, cls=f"s{index}", transform=GRAINS)


def _through(x: FloatArray, y: FloatArray) -> str:
    """A path by steps from grain to grain, with no more letters than it needs: a minus parts
    numbers like a space.
    """
    spots = np.rint(np.stack([x, y]) / GRAIN).astype(int)
    steps = np.diff(spots, axis=1).T.ravel().tolist()
    return f"M{spots[0, 0]} {spots[1, 0]}l" + " ".join(map(str, steps)).replace(" -", "-")


def robust_range(values: FloatArray, share: float = 0.005) -> tuple[float, float]:
    """The range of all but `share` of the values at either end, with a margin."""
    low, high = np.quantile(values, (share, 1 - share))
    margin = max(0.06 * (high - low), 0.002 * abs(high), 1e-9)
    return float(low - margin), float(high + margin)
