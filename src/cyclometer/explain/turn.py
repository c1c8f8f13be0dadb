# SPDX-License-Identifier: BSD-2-Clause
"""Finds one turn in a window: from a point of the timing thread's loop to its next occurrence.

A pass is a turn by itself, from its first clock reading to its last. A turn's length must be the
latency measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cyclometer.errors import BadFile, MeasurementFailed
from cyclometer.explain.evidence import Evidence
from cyclometer.record.instructions import matches
from cyclometer.record.trace import Steps, instruction_set, windows

_Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Turn:
    """`turns` turns in a row, as few as make the latency exact. `lead` is what of the window came
    before them.

    The clock's steps of instruction i are those since the instruction before, so the causes sum to
    `length`.
    """

    steps: Steps
    lead: Steps
    turns: int
    exact: bool  # as long as the latency that the records tell
    steady: bool  # exact, or they repeat to the step of the clock

    @property
    def length(self) -> int:
        """Steps of the clock that all `turns` take together."""
        return int(self.steps["causes"].sum(dtype=np.int64))


def find(evidence: Evidence) -> Turn:
    """The turn to explain. Raises BadFile if the window is not the one of its test."""
    window, (begin, end) = evidence.steps, _timed(evidence)
    if evidence.facts.test.turns == 1:
        return _between(window, begin, end, 1, True, True)
    return _steady(window, *_loop(evidence, begin, end), evidence.latency)


def every(evidence: Evidence) -> list[Turn]:
    """All turns of the window but the last, in order, each by itself; of a loop unrolled k times k
    together. Raises BadFile and MeasurementFailed as `find` does.
    """
    window = evidence.steps
    heads, each = _loop(evidence, *_timed(evidence))
    pairs = zip(heads[:-1].tolist(), heads[1:].tolist(), strict=True)
    return [_between(window, begin, end, each, True, True) for begin, end in pairs]


def _timed(evidence: Evidence) -> tuple[int, int]:
    """Where the interval begins and ends in the window."""
    facts, window, where = evidence.facts, evidence.steps, _where(evidence)
    if len(windows(window, where)) != 1:
        raise BadFile(f"{where} does not hold one window; trace the circle again")
    return _interval(window, facts.clock.name, facts.test.value, where)


def _loop(evidence: Evidence, begin: int, end: int) -> tuple[_Indices, int]:
    turns = evidence.facts.test.turns
    heads, each = _heads(evidence.steps, begin, end, turns)
    if len(heads) < 2:
        raise MeasurementFailed(
            f"{_where(evidence)} shows no loop of {turns} turns; give the flow two or more a test"
        )
    return heads, each


def _where(evidence: Evidence) -> str:
    return f"the {evidence.facts.role} trace of {evidence.facts.contract.key}"


def _interval(window: Steps, clock_name: str, value: int, where: str) -> tuple[int, int]:
    """The readings at both ends of the interval: the widest pair of clock readings that are `value`
    apart.
    """
    patterns = instruction_set(window).clock_reads.get(clock_name)
    if patterns is None:
        raise BadFile(
            f"{where} is of the clock {clock_name!r}, whose readings the trace does not show"
        )
    reads = np.flatnonzero(matches(window["insn"], patterns))
    clock = window["clock"][reads].astype(np.int64)
    pairs = np.argwhere(clock[None, :] - clock[:, None] == value)
    forward = [(int(reads[a]), int(reads[b])) for a, b in pairs if a < b]
    if not forward:
        raise BadFile(
            f"{where} has {len(reads)} clock readings and no two of them are the measured {value} "
            "apart; "
            "the trace is not of that test"
        )
    return max(forward, key=lambda pair: pair[1] - pair[0])


def _heads(window: Steps, begin: int, end: int, turns: int) -> tuple[_Indices, int]:
    """Occurrences of one point of the loop in order, and how many turns lie between two of them.

    The point is the first instruction of the timing thread that occurs once per turn. Of a loop
    unrolled k times it occurs once in k turns; code that both threads run occurs k times per turn,
    and every k-th counts.
    """
    places = window[["pc", "privilege", "space"]][begin + 1 : end]
    _, first, which, counts = np.unique(
        places, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    for share in (1, 2, 4, 8, 16, 32):
        if turns % share == 0 and (found := order[counts[order] == turns // share]).size:
            return begin + 1 + np.flatnonzero(which == found[0]), share
    for multiple in range(2, 9):
        if (found := order[counts[order] == turns * multiple]).size:
            return begin + 1 + np.flatnonzero(which == found[0])[::multiple], 1
    return np.zeros(0, np.intp), 1


def _steady(window: Steps, heads: _Indices, each: int, latency: Fraction) -> Turn:
    """The fewest rounds of the loop that are as long as the latency, the last such ones, else the
    fewest that repeat through the later half of the test, else that half.
    """
    clock = window["clock"][heads].astype(np.int64)
    lengths = np.diff(clock)
    half = max(len(lengths) // 2, 1)
    last = len(lengths)
    exact = (
        (end - n, end)
        for n in range(1, last + 1)
        for end in range(last, n - 1, -1)
        if int(clock[end] - clock[end - n]) == latency * n * each
    )
    alike = (
        n
        for n in range(1, half // 2 + 1)
        if np.array_equal(lengths[-half:-n], lengths[-half + n :])
    )
    if found := next(exact, None):
        begin, end = found
        turns = (end - begin) * each
        return _between(window, int(heads[begin]), int(heads[end]), turns, True, True)
    rounds = next(alike, 0)
    return _between(
        window,
        int(heads[-1 - (rounds or half)]),
        int(heads[-1]),
        (rounds or half) * each,
        False,
        rounds > 0,
    )


def _between(window: Steps, begin: int, end: int, turns: int, exact: bool, steady: bool) -> Turn:
    return Turn(window[begin + 1 : end + 1], window[: begin + 1], turns, exact, steady)
