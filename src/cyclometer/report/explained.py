# SPDX-License-Identifier: BSD-2-Clause
"""The documents of explained turns: what `explain` prints, on a terminal, as HTML and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cyclometer.explain.difference import Difference, PartChange
from cyclometer.explain.explanation import Explanation, Instruction, Line
from cyclometer.explain.footprint import Footprint
from cyclometer.explain.harts import WAITS, HartLane
from cyclometer.explain.parts import Part
from cyclometer.explain.tail import Tail
from cyclometer.record.address_map import Place
from cyclometer.report.documents.explained import (
    CallStack,
    ChangedPart,
    CodeFootprint,
    ExplainedCircle,
    ExplainedDifference,
    ExplainedHart,
    ExplainedInstruction,
    ExplainedSide,
    ExplainedTail,
    ExplainedTurn,
    HardwareFloor,
    HartStretch,
    NamedPart,
    SourceLine,
)

_VIEWS = ("functions", "phases", "system_calls", "subsystems", "modes", "causes")


def circle(steady: Explanation, cold: Explanation | None = None) -> ExplainedCircle:
    """Both turns with all views; counts are of all explained turns together, `turns` says how
    many.
    """
    return ExplainedCircle(turn(steady), turn(cold) if cold else None)


def turn(e: Explanation) -> ExplainedTurn:
    """All views of one explanation; counts as in `circle`."""
    facts = e.facts
    return ExplainedTurn(
        circle=facts.contract.key,
        title=facts.contract.title,
        role=facts.role,
        target=facts.target,
        configuration=facts.configuration,
        unit=facts.clock.unit,
        turns=e.turn.turns,
        test_turns=facts.test.turns,
        total=e.turn.length,
        latency=float(e.latency),
        measured=None if e.measured is None else float(e.measured),
        exact=e.turn.exact,
        steady=e.turn.steady,
        in_sequence=e.in_sequence,
        footprint=footprint(e.footprint),
        hart=e.hart,
        harts=[_hart(lane) for lane in e.harts],
        causes={part.name: part.total for part in e.causes},
        held_up={part.name: part.instructions for part in e.causes},
        phases=_named(e.phases),
        modes=_named(e.modes),
        system_calls=_named(e.system_calls),
        subsystems=_named(e.subsystems),
        inclusive=_named(e.inclusive),
        functions=_named(e.functions),
        lines=[_line(part) for part in e.lines],
        instructions=[_instruction(e.places[part.name], part) for part in e.instructions],
        stacks=[
            CallStack(part.total, part.instructions, _counts(part), stack=list(part.name))
            for part in e.stacks
        ],
        floor=[
            HardwareFloor(s.name, float(s.count), float(s.each), float(s.total)) for s in e.floor
        ],
    )


def _hart(lane: HartLane) -> ExplainedHart:
    """A hart's waits in all explained turns, and every stretch in order."""
    waited = {state: cycles for state in WAITS if (cycles := lane.cycles(state))}
    stretches = [HartStretch(s.start, s.stop, s.state, s.function) for s in lane.stretches]
    return ExplainedHart(lane.hart, waited, stretches)


def footprint(f: Footprint) -> CodeFootprint:
    """How much code the turns touch."""
    return CodeFootprint(
        float(f.instructions),
        f.lines,
        f.fetches,
        f.pages,
        float(f.branches),
        f.entered,
        f.aligned,
    )


def _counts(part: Part[Any]) -> dict[str, float]:
    return dict(part.by_cause)


def _named(parts: Sequence[Part[str]]) -> list[NamedPart]:
    return [
        NamedPart(part.total, part.instructions, _counts(part), name=part.name) for part in parts
    ]


def _line(part: Part[Line]) -> SourceLine:
    function, file, line = part.name
    counted = (part.total, part.instructions, _counts(part))
    return SourceLine(*counted, function=function, file=file, line=line)


def _instruction(place: Place, part: Part[Instruction]) -> ExplainedInstruction:
    user, pc = part.name
    return ExplainedInstruction(
        part.total,
        part.instructions,
        _counts(part),
        user=user,
        pc=pc,
        function=place.function,
        file=place.file,
        line=place.line,
        text=place.text,
    )


def difference(found: Difference) -> ExplainedDifference:
    """Both sides in short, and every change."""
    return ExplainedDifference(**_members(found))


def tail(found: Tail) -> ExplainedTail:
    """All lengths, and the changes of `difference` from the common turn to the other."""
    return ExplainedTail(
        **_members(found.difference),
        turns_each=found.each,
        lengths=list(found.lengths),
        common=found.common,
        differing=list(found.at),
        period=None if found.period is None else found.period * found.each,
    )


def _members(found: Difference) -> dict[str, Any]:
    """What every document on two turns has."""
    contract = found.before.facts.contract
    return {
        "circle": contract.key,
        "title": contract.title,
        "unit": found.before.facts.clock.unit,
        "before": _side(found.before),
        "after": _side(found.after),
        "change": float(found.whole.change),
        "only_layout": found.only_layout,
        **{view: [_changed(one) for one in getattr(found, view)] for view in _VIEWS},
    }


def _side(e: Explanation) -> ExplainedSide:
    facts = e.facts
    return ExplainedSide(facts.target, facts.configuration, float(e.length), footprint(e.footprint))


def _changed(one: PartChange) -> ChangedPart:
    by_cause = {name: float(count) for name, count in one.by_cause.items()}
    return ChangedPart(one.name, float(one.before), float(one.after), float(one.change), by_cause)
