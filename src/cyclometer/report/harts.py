# SPDX-License-Identifier: BSD-2-Clause
"""Several harts in one turn, in words: a lane each on one axis of time, and a table."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from cyclometer.explain.explanation import Explanation
from cyclometer.explain.harts import WAITS, HartLane
from cyclometer.explain.parts import LEVELS
from cyclometer.report.explain_documents import ExplainedHart, HartStretch

_COLUMNS = 64
_LETTERS = {
    **{level: level[0].upper() for level in LEVELS.values()},
    **dict(zip(WAITS, ".sc", strict=True)),
}


def heads(e: Explanation) -> list[str]:
    """What `shares` are."""
    return [f"{e.facts.clock.unit} at work", *WAITS]


def lanes(e: Explanation) -> Iterator[str]:
    """The harts as lines of letters: in each column the state that filled most of it."""
    if not e.harts:
        return
    length = str(e.turn.length)
    yield "harts on the turn's clock: " + ", ".join(
        f"{letter} {state}" for state, letter in _LETTERS.items()
    )
    for lane in e.harts:
        yield f"  hart {lane.hart}  {_letters(lane, e.turn.length)}"
    yield f"          0{length:>{_COLUMNS - 1}}"


def _letters(lane: HartLane, length: int) -> str:
    return "".join(
        _letter(lane, Fraction(at * length, _COLUMNS), Fraction((at + 1) * length, _COLUMNS))
        for at in range(_COLUMNS)
    )


def _letter(lane: HartLane, start: Fraction, stop: Fraction) -> str:
    filled = dict.fromkeys(_LETTERS, Fraction())
    for one in lane.stretches:
        end, begin = min(stop, Fraction(one.stop)), max(start, Fraction(one.start))
        filled[one.state] += max(end - begin, Fraction())
    return _LETTERS[max(filled, key=lambda state: filled[state])]


def shares(e: Explanation, lane: HartLane) -> list[Fraction]:
    """Of one turn: what is none of WAITS, and these."""
    waits = [lane.cycles(state) for state in WAITS]
    return [e.a_turn(count) for count in (e.turn.length - sum(waits), *waits)]


def lane_json(lane: HartLane) -> ExplainedHart:
    """A hart's waits in all explained turns, and every stretch in order."""
    waited = {state: cycles for state in WAITS if (cycles := lane.cycles(state))}
    stretches = [HartStretch(s.start, s.stop, s.state, s.function) for s in lane.stretches]
    return ExplainedHart(lane.hart, waited, stretches)
