# SPDX-License-Identifier: BSD-2-Clause
"""A contract's events in order, a lane for each participant, with the part of the turn that is
timed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cyclometer.bundle.model import Contract
from cyclometer.report.chart import plot
from cyclometer.report.circle import ReportedCircle
from cyclometer.report.markup import Markup, join, tag

_FIRST, _STEP = 44, 30  # pixel of the first event, and from one to the next
_MARGIN = 30  # left of the first lane, where the timed part is marked


@dataclass(frozen=True)
class _Event:
    actor: str  # "" if the event has none
    what: str


def draw(circles: Sequence[ReportedCircle]) -> plot.Chart | None:
    """The event sequence of the first circle's contract; None if its source states none."""
    contract = circles[0].estimate.contract
    events = [_event(line) for line in contract.sequence]
    if not events:
        return None
    actors = list(dict.fromkeys(e.actor for e in events))
    width = (plot.WIDTH - _MARGIN) / len(actors)
    x = {actor: _MARGIN + width * i + 12 for i, actor in enumerate(actors)}
    y = [_FIRST + _STEP * i for i in range(len(events))]
    bottom = y[-1] + 24
    parts = [_lane(x[actor], actor, bottom) for actor in actors]
    parts += [
        _hand_over(x[a.actor], x[b.actor], top)
        for a, b, top in zip(events, events[1:], y, strict=False)
    ]
    parts += [_mark(x[e.actor], top, e.what, width) for e, top in zip(events, y, strict=True)]
    if contract.interval.kind != "unknown":
        parts.append(_timed(contract, events, y))
    sentence = "; ".join(contract.sequence) + f". Timed: {interval(contract)}"
    return plot.Chart("What a turn is", sentence, join(parts), height=bottom + 12)


def interval(contract: Contract) -> str:
    """The timed part in words."""
    i = contract.interval
    kind = i.kind.replace("_", " ")
    return f"{kind}, from {i.start} to {i.stop}" if i.start else kind


def _event(line: str) -> _Event:
    actor, colon, what = line.partition(": ")
    return _Event(actor, what) if colon and len(actor) <= 24 else _Event("", line)


def _lane(x: float, actor: str, bottom: float) -> Markup:
    life = tag("line", cls="lane", x1=x, x2=x, y1=24, y2=bottom)
    return join((tag("text", actor, cls="actor", x=x - 6, y=16), life))


def _hand_over(here: float, there: float, y: float) -> Markup:
    """Control goes on in the same lane, or over to another."""
    if here == there:
        return tag("line", cls="busy", x1=here, x2=here, y1=y, y2=y + _STEP)
    path = f"M{here} {y}V{y + _STEP / 2}H{there}V{y + _STEP - 5}"
    arrow = f"M{there - 3} {y + _STEP - 9}L{there} {y + _STEP - 5}L{there + 3} {y + _STEP - 9}"
    return tag("path", cls="over", d=path + arrow)


def _mark(x: float, y: float, what: str, width: float) -> Markup:
    lines = _wrapped(what, max(10, int((width - 16) / 6)))
    start = y + 4 - 6 * (len(lines) - 1)
    words = [tag("text", line, x=x + 10, y=start + 12 * i) for i, line in enumerate(lines)]
    return join((tag("circle", cls="event", cx=x, cy=y, r=4.5), *words))


def _wrapped(what: str, letters: int) -> list[str]:
    """At most two lines; what does not fit ends in an ellipsis, for the whole stands beside the
    drawing as text.
    """
    words, lines = what.split(), [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > letters:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    if len(lines) > 2:
        lines = [lines[0], lines[1] + " \u2026"]
    return [line if len(line) <= letters + 8 else line[: letters + 7] + "\u2026" for line in lines]


def _timed(contract: Contract, events: Sequence[_Event], y: Sequence[float]) -> Markup:
    """A bracket from the event at which the interval begins to the one at which it ends."""
    first = _match(events, contract.interval.start, 0, 1)
    last = _match(events, contract.interval.stop, len(events) - 1, -1)
    top, bottom = y[min(first, last)] - 9, y[max(first, last)] + 9
    middle = (top + bottom) / 2
    bracket = tag("path", cls="timed", d=f"M18 {top}H12V{bottom}H18")
    label = tag(
        "text", "timed", cls="timed-label", x=0, y=0, transform=f"translate(8 {middle}) rotate(-90)"
    )
    return join((bracket, label))


def _match(events: Sequence[_Event], end: str, otherwise: int, step: int) -> int:
    """The event that an interval's end speaks of: the same participant and the most words in
    common.
    """
    actor, _, what = end.partition(": ")
    wanted = _words(what)
    order = range(len(events))[::step]
    best = max(
        order, key=lambda i: (events[i].actor == actor) * len(wanted & _words(events[i].what))
    )
    return best if events[best].actor == actor and wanted & _words(events[best].what) else otherwise


def _words(what: str) -> set[str]:
    """Words that distinguish events; what comes after a call is its return."""
    words = set(re.findall(r"\w+", what.lower()))
    return {"returns" if word == "after" else word for word in words} - {
        "before",
        "the",
        "from",
        "in",
        "its",
        "of",
    }
