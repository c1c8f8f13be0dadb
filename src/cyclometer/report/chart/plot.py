# SPDX-License-Identifier: BSD-2-Clause
"""What charts are made of: scales, axes, curves, and the frame that holds them.

Colours and type stand in chart.css by class: `s0`, `s1` ... are the series, in the order of the bundles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from cyclometer.report.circle import FloatArray
from cyclometer.report.markup import Markup, join, short, tag

WIDTH, HEIGHT = 420, 250
"""Size of a chart in its own units: readable when scaled to the width of a phone."""
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 22, 36
_TICK_PX = 55  # wanted distance of ticks on the x axis
_THIN = "\u2009"


@dataclass(frozen=True)
class Chart:
    """A drawing with a title for people and a sentence for those who do not see it. `series` labels its legend."""

    title: str
    sentence: str
    body: Markup
    series: tuple[str, ...] = ()
    height: int = HEIGHT
    width: int = WIDTH

    def svg(self) -> Markup:
        """The drawing inside a page that has chart.css."""
        box = f"0 0 {self.width} {self.height}"
        return tag("svg", self._legend(), self.body, viewBox=box, role="img", aria_label=self.sentence)

    def standalone(self, style: str) -> str:
        """The drawing as a file of its own, with its title above and its style inside."""
        head = 26
        size = {"width": 2 * self.width, "height": 2 * (self.height + head)}
        box = f"0 {-head} {self.width} {self.height + head}"
        ground = tag("rect", cls="ground", x=0, y=-head, width=self.width, height=self.height + head)
        title = tag("text", self.title, cls="title", x=8, y=-9)
        parts = (tag("title", self.sentence), tag("style", Markup(style)), ground, title, self._legend(), self.body)
        return tag("svg", *parts, xmlns="http://www.w3.org/2000/svg", viewBox=box, **size) + "\n"

    def _legend(self) -> Markup | None:
        """Labels of two series and more, on the right above the plot."""
        if len(self.series) < 2:
            return None
        items, right = [], self.width - RIGHT
        for index in reversed(range(len(self.series))):
            label = self.series[index]
            items.append(tag("text", label, x=right, y=11, cls="end"))
            right -= 6 * len(label) + 14
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

    def ticks(self, wanted: int) -> list[float]:
        """Round values within the scale, about as many as wanted."""
        if not self.log:
            return _linear_ticks(self.low, self.high, wanted)
        decades = math.log10(self.high / self.low)
        digits = (1,) if decades > wanted else (1, 3) if 2 * decades > wanted else (1, 2, 5)
        first = math.floor(math.log10(self.low))
        values = (d * 10.0**power for power in range(first, first + math.ceil(decades) + 2) for d in digits)
        found = [v for v in values if self.low <= v <= self.high]
        return found if len(found) > 1 else _linear_ticks(self.low, self.high, wanted)


def _linear_ticks(low: float, high: float, wanted: int) -> list[float]:
    raw = (high - low) / max(1, wanted)
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next(m for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    return [step * i for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


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
        return join(self.parts)


def frame(
    x: tuple[float, float], y: tuple[float, float], x_label: str, y_label: str, log_x: bool = False,
    log_y: bool = False, top: int = TOP, bottom: int = HEIGHT - BOTTOM, percent_y: bool = False,
) -> Frame:  # fmt: skip
    """A frame with axes, grid and labels; `top` and `bottom` are pixels."""
    across = Scale(*_opened(*x), LEFT, WIDTH - RIGHT, log_x and x[0] > 0)
    made = Frame(across, Scale(*_opened(*y), bottom, top, log_y and y[0] > 0))
    made.draw(*_y_axis(made, y_label, percent_y), *_x_axis(made, x_label, bottom))
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
    for tick, name in zip(ticks, spelled(ticks), strict=True):
        yield tag("text", name + "%" * percent, cls="end", x=f.x.start - 6, y=f.y(tick) + 4)
    yield tag("text", label, cls="label", x=4, y=f.y.stop - 10)


def _x_axis(f: Frame, label: str, bottom: int) -> Iterable[Markup]:
    ticks = f.x.ticks(int((f.x.stop - f.x.start) / _TICK_PX))
    marks = "".join(f"M{short(f.x(t))} {bottom}v4" for t in ticks)
    yield tag("path", cls="axis", d=f"M{LEFT} {bottom}H{WIDTH - RIGHT}{marks}")
    if label:
        for tick, name in zip(ticks, spelled(ticks), strict=True):
            x, half = f.x(tick), 3.4 * len(name)
            inside = x + half <= WIDTH - 2
            yield tag("text", name, cls="middle" if inside else "end", x=x if inside else WIDTH - 2, y=bottom + 16)
        yield tag("text", label, cls="label end", x=WIDTH - RIGHT, y=bottom + 31)


def spelled(values: Sequence[float]) -> list[str]:
    """Axis values with the digits that tell them apart."""
    gaps = [abs(b - a) for a, b in pairwise(values) if b != a]
    places = max(0, -math.floor(math.log10(min(gaps)) + 1e-9)) if gaps else 0
    return [f"{v:,.{places}f}".replace(",", _THIN).replace("-", "\u2212") for v in values]


def curve(x: FloatArray, y: FloatArray, cls: str = "curve") -> Markup:
    """A line through pixels, shape (n,) each."""
    points = " ".join(f"{short(a)} {short(b)}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    return tag("path", cls=cls, d=f"M{points}")


def band(x: FloatArray, low: FloatArray, high: FloatArray) -> Markup:
    """The area between two lines of pixels."""
    there = [f"{short(a)} {short(b)}" for a, b in zip(x.tolist(), low.tolist(), strict=True)]
    back = [f"{short(a)} {short(b)}" for a, b in zip(x.tolist(), high.tolist(), strict=True)]
    return tag("path", cls="band", d=f"M{' '.join(there + back[::-1])}Z")


def series(index: int, *parts: Markup) -> Markup:
    """What belongs to one series, in its colour."""
    return tag("g", *parts, cls=f"s{index}")


def robust_range(values: FloatArray, share: float = 0.005) -> tuple[float, float]:
    """The range of all but `share` of the values at either end, with a margin."""
    low, high = np.quantile(values, (share, 1 - share))
    margin = max(0.06 * (high - low), 0.002 * abs(high), 1e-9)
    return float(low - margin), float(high + margin)
