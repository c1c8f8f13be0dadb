# SPDX-License-Identifier: BSD-2-Clause
"""What each of several harts did in one turn, on the turn's clock, and in which of its cycles it
waited for another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice

import numpy as np
from numpy.typing import NDArray

from cyclometer.errors import UsageError
from cyclometer.explain.evidence import Evidence
from cyclometer.explain.parts import LEVELS
from cyclometer.explain.turn import Turn
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.trace import CAUSES, GIVEN_UP, ISSUE, USER, Steps

IDLE, SPINNING, MISS = WAITS = ("idle", "spinning", "coherence miss")
_IDLE_FUNCTIONS = ("thread_idle",)  # of the reference kernel
_OF_DATA = [CAUSES.index(cause) for cause in ("dcache", "store")]
_LOOP_MAX = 4  # instructions of a loop that only looks
_LOAD = re.compile(r"l[bhwd]u?\s+(\w+),-?\w+\((\w+)\)")
_HARMLESS = re.compile(r"(b\w+|j|fence|pause|nop)\b")


@dataclass(frozen=True)
class LaneStretch:
    """Consecutive cycles of a hart in one state, which is a level or one of WAITS, and function;
    `start` and `stop` are on the turn's clock.
    """

    start: int
    stop: int
    state: str
    function: str


@dataclass(frozen=True)
class HartLane:
    """One hart in the cycles of the explained turns, which its stretches fill."""

    hart: int
    stretches: list[LaneStretch]

    def cycles(self, state: str) -> int:
        """How many it spent in a state."""
        return sum(one.stop - one.start for one in self.stretches if one.state == state)


def lanes(evidence: Evidence, turn: Turn) -> list[HartLane]:
    """The client's hart and the others beside it; empty where there is one alone."""
    if not evidence.elsewhere:
        return []
    turns = {0: turn} | {hart: _meanwhile(evidence, turn, hart) for hart in evidence.elsewhere}
    return [HartLane(hart, list(_stretches(own, evidence.places))) for hart, own in turns.items()]


def of_hart(evidence: Evidence, turn: Turn, hart: int) -> Turn:
    """What a hart did in the cycles of the client's turn. Raises UsageError if it is not there."""
    known = [0, *evidence.elsewhere]
    if hart not in known:
        raise UsageError(
            f"the trace of {evidence.facts.contract.key} has no hart {hart}; give --hart one of "
            f"{', '.join(map(str, known))}"
        )
    return turn if hart == 0 else _meanwhile(evidence, turn, hart)


def _meanwhile(evidence: Evidence, turn: Turn, hart: int) -> Turn:
    """The steps of another hart in the cycles of a turn. One that is under way at either end is
    there with its cycles within, and the last of all, behind which it slept, with all that follow.
    """
    steps = evidence.elsewhere[hart]
    clock = steps["clock"].astype(np.int64)
    end = int(turn.steps["clock"][-1])
    begin = end - turn.length
    first, last = np.searchsorted(clock, (begin, end), side="right")
    first = min(first, len(steps) - 1)
    within = steps[first : last + 1].copy()  # the ends are cut below; the evidence stays whole
    causes = within["causes"]
    # cut the step under way at the beginning, then the one at the end, or fill up behind that
    _shorten(causes[0], begin - int(clock[first]) + int(causes[0].sum(dtype=np.int64)))
    missing = turn.length - int(causes.sum(dtype=np.int64))
    _shorten(causes[-1], -missing)
    causes[-1, CAUSES.index("unattributed")] += max(missing, 0)
    opening = turn.lead[:1]  # by which the instruction set is known
    return replace(turn, steps=within, lead=np.concatenate([opening, steps[:first]]))


def _shorten(causes: NDArray[np.uint32], by: int) -> None:
    """Takes cycles off those of one step, from the largest cause first; off its issue, which is the
    last in time, only if no others are left.
    """
    for cause in sorted(range(len(CAUSES)), key=lambda i: (i == ISSUE, -int(causes[i]))):
        less = min(max(by, 0), int(causes[cause]))
        causes[cause] -= less
        by -= less


def _stretches(turn: Turn, places: AddressMap) -> Iterator[LaneStretch]:
    """What each cycle was spent on, without a gap."""
    start = 0
    for (state, function), run in groupby(_spent(turn, places), lambda spent: spent[:2]):
        stop = start + sum(cycles for _, _, cycles in run)
        if stop > start:
            yield LaneStretch(start, stop, state, function)
        start = stop


def _spent(turn: Turn, places: AddressMap) -> Iterator[tuple[str, str, int]]:
    """State, function and cycles of every step; of one that missed, its miss first."""
    before = turn.lead[-_LOOP_MAX:]
    steps = np.concatenate([before, turn.steps])
    levels = steps["privilege"].tolist()
    at = [
        places.at(pc, level == USER) for pc, level in zip(steps["pc"].tolist(), levels, strict=True)
    ]
    taken = steps["causes"].sum(axis=1, dtype=np.int64).tolist()
    missed = _missed(steps).tolist()
    looking = _spins(steps["pc"].tolist(), at)
    each = zip(at, levels, looking, taken, missed, strict=True)
    for place, level, spins, cycles, miss in islice(each, len(before), None):
        if place.function in _IDLE_FUNCTIONS:
            yield IDLE, place.function, cycles
        elif spins:
            yield SPINNING, place.function, cycles
        else:
            if miss:
                yield MISS, place.function, miss
            yield LEVELS[level], place.function, cycles - miss


def _missed(steps: Steps) -> NDArray[np.int64]:
    """The cycles in which each step waited for data that another hart had to give up."""
    waited = steps["causes"][:, _OF_DATA].sum(axis=1, dtype=np.int64)
    return np.where(steps["flags"] & GIVEN_UP != 0, waited, 0)


def _spins(pcs: Sequence[int], places: Sequence[Place]) -> list[bool]:
    """Of each step whether it looks once more: it was executed a few steps before, and since then
    nothing was changed but registers by loads whose addresses are the same again. What ends such a
    loop comes from elsewhere.
    """
    found = []
    for i, pc in enumerate(pcs):
        before = next((n for n in range(1, _LOOP_MAX + 1) if i >= n and pcs[i - n] == pc), 0)
        found.append(bool(before) and _only_looks(places[i - before + 1 : i + 1]))
    return found


def _only_looks(loop: Sequence[Place]) -> bool:
    loads = [match for place in loop if (match := _LOAD.match(place.text))]
    rest = [place for place in loop if not _LOAD.match(place.text)]
    bases = {load[2] for load in loads}
    same = not bases & {load[1] for load in loads}
    return bool(loads) and same and all(_HARMLESS.match(place.text) for place in rest)
