# SPDX-License-Identifier: BSD-2-Clause
"""One turn explained: the same steps of the clock in every view, each of which sums to the turn."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

import numpy as np

from cyclometer.explain import floor as floors
from cyclometer.explain import turn as turns
from cyclometer.explain.calls import inclusive, system_calls
from cyclometer.explain.evidence import Evidence, Facts
from cyclometer.explain.floor import FloorShare
from cyclometer.explain.footprint import Footprint, footprint
from cyclometer.explain.frames import Path
from cyclometer.explain.harts import HartLane, lanes, of_hart
from cyclometer.explain.parts import Part, by_cause, labels, largest_first, modes, split
from cyclometer.explain.phases import phases
from cyclometer.explain.stacks import paths
from cyclometer.explain.subsystems import subsystems
from cyclometer.explain.turn import Turn
from cyclometer.record.address_map import Place
from cyclometer.record.trace import USER, of_turn

Line = tuple[str, str, int]  # function, file, line
Instruction = tuple[bool, int]  # in a program, address


@dataclass(frozen=True)
class TurnSegment:
    """A stretch of the turn in one mode, function and phase, with the same functions open; `start`
    and `stop` are on the turn's clock.
    """

    start: int
    stop: int
    mode: str
    function: str
    phase: str
    stack: Path


@dataclass(frozen=True)
class Explanation:
    """The views. Counts are those of all `turn.turns` together, so that they are whole numbers."""

    facts: Facts
    turn: Turn
    whole: Part[str]
    causes: list[Part[str]]
    phases: list[Part[str]]
    in_sequence: bool  # the events in the trace are those of the contract's sequence
    modes: list[Part[str]]
    functions: list[Part[str]]
    lines: list[Part[Line]]
    instructions: list[Part[Instruction]]
    places: dict[Instruction, Place]
    stacks: list[Part[Path]]
    system_calls: list[Part[str]]  # with all that they call; empty where Linux is not
    subsystems: list[Part[str]]  # with the helpers they call; empty where Linux is not
    inclusive: list[Part[str]]  # functions with all that they call, which does not sum
    segments: list[TurnSegment]
    floor: list[FloorShare]
    footprint: Footprint
    harts: list[HartLane]  # of all, on the turn's clock; empty where there is one alone
    hart: int = 0  # whose turn it is
    measured: Fraction | None = None  # the latency that the bundle's own tests say

    def a_turn(self, count: int) -> Fraction:
        """A count of all turns as that of one."""
        return Fraction(count, self.turn.turns)

    @property
    def latency(self) -> Fraction:
        """Of one turn in clock units, by the records of the traced boot."""
        return Fraction(*self.facts.latency)

    @property
    def length(self) -> Fraction:
        """Of one turn in clock units, by the trace."""
        return self.a_turn(self.turn.length)


def explain(evidence: Evidence, turn: Turn | None = None, hart: int = 0) -> Explanation:
    """All views of a turn of the evidence, of the steady one if none is given; of another hart than
    the client's, what it did meanwhile. Raises BadFile or MeasurementFailed where the window holds
    no turn, UsageError for a hart that the trace has not.
    """
    clients, places = turn or turns.find(evidence), evidence.places
    turn = of_hart(evidence, clients, hart)
    steps = turn.steps
    functions = labels(steps, places, lambda place, _privilege, _space: place.function)
    in_modes = modes(steps)
    in_phases, in_sequence = phases(turn, places, evidence.facts.contract)
    open_at = paths(turn.lead, steps, places)
    lines = labels(
        steps, places, lambda place, _privilege, _space: (place.function, place.file, place.line)
    )
    instructions = list(
        zip((steps["privilege"] == USER).tolist(), steps["pc"].tolist(), strict=True)
    )
    user = [user for user, _ in instructions]
    by_call = system_calls(open_at, user)
    by_subsystem = subsystems(open_at, [file for _, file, _ in lines], user)
    stacks = split(steps, open_at)
    return Explanation(
        evidence.facts,
        turn,
        split(steps, ["turn"] * len(steps))[0],
        largest_first(by_cause(steps)),
        split(steps, in_phases),
        in_sequence,
        split(steps, in_modes),
        largest_first(split(steps, functions)),
        largest_first(split(steps, lines)),
        split(steps, instructions),
        {(user, pc): places.at(pc, user) for user, pc in instructions},
        stacks,
        largest_first(split(steps, by_call)) if by_call else [],
        largest_first(split(steps, by_subsystem)) if by_subsystem else [],
        inclusive(stacks),
        _segments(turn, list(zip(in_modes, functions, in_phases, open_at, strict=True))),
        floors.floor(evidence, turn),
        footprint(turn, places, of_turn(turn.lead).name),
        lanes(evidence, clients),
        hart,
    )


def _segments(turn: Turn, names: list[tuple[str, str, str, Path]]) -> list[TurnSegment]:
    """Consecutive steps of one mode, function, phase and stack as one stretch."""
    gone = np.cumsum(turn.steps["causes"].sum(axis=1, dtype=np.int64)).tolist()
    found, start = [], 0
    for name, run in groupby(range(len(names)), names.__getitem__):
        stop = gone[list(run)[-1]]
        found.append(TurnSegment(start, stop, *name))
        start = stop
    return found
