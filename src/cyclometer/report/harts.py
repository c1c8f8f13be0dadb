# SPDX-License-Identifier: BSD-2-Clause
"""Several harts in one turn, in words: a lane each on one axis of time, and a table."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from cyclometer.explain.harts import WAITS
from cyclometer.explain.parts import LEVELS
from cyclometer.report.documents.explained import ExplainedHart, ExplainedTurn

_COLUMNS = 64
_LETTERS = {
    **{level: level[0].upper() for level in LEVELS.values()},
    **dict(zip(WAITS, ".sc", strict=True)),
}


def heads(e: ExplainedTurn) -> list[str]:
    """What `shares` are."""
    return [f"{e.unit} at work", *WAITS]


def lanes(e: ExplainedTurn) -> Iterator[str]:
    """The harts as lines of letters: in each column the state that filled most of it."""
    if not e.harts:
        return
    length = str(e.total)
    yield "harts on the turn's clock: " + ", ".join(
        f"{letter} {state}" for state, letter in _LETTERS.items()
    )
    for lane in e.harts:
        yield f"  hart {lane.hart}  {_letters(lane, e.total)}"
    yield f"          0{length:>{_COLUMNS - 1}}"


def _letters(lane: ExplainedHart, length: int) -> str:
    return "".join(
        _letter(lane, Fraction(at * length, _COLUMNS), Fraction((at + 1) * length, _COLUMNS))
        for at in range(_COLUMNS)
    )


def _letter(lane: ExplainedHart, start: Fraction, stop: Fraction) -> str:
    filled = dict.fromkeys(_LETTERS, Fraction())
    for one in lane.stretches:
        end, begin = min(stop, Fraction(one.stop)), max(start, Fraction(one.start))
        filled[one.state] += max(end - begin, Fraction())
    return _LETTERS[max(filled, key=lambda state: filled[state])]


def shares(e: ExplainedTurn, lane: ExplainedHart) -> list[Fraction]:
    """Of one turn: what is none of WAITS, and these."""
    waits = [lane.waited.get(state, 0) for state in WAITS]
    return [Fraction(count, e.turns) for count in (e.total - sum(waits), *waits)]
