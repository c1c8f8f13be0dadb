# SPDX-License-Identifier: BSD-2-Clause
"""An explained turn, and the difference of two, on a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rich import box
from rich.table import Table

from cyclometer.explain.difference import Difference, PartChange
from cyclometer.explain.explanation import Explanation, Instruction, Line
from cyclometer.explain.floor import FloorShare
from cyclometer.explain.footprint import Footprint
from cyclometer.explain.parts import Part, together
from cyclometer.explain.span import ROLE as SPAN
from cyclometer.record.address_map import Place
from cyclometer.report import harts
from cyclometer.report.comparison import paper
from cyclometer.report.explain_documents import (
    CallStack,
    ChangedPart,
    CodeFootprint,
    ExplainedCircle,
    ExplainedDifference,
    ExplainedInstruction,
    ExplainedSide,
    ExplainedTurn,
    HardwareFloor,
    NamedPart,
    SourceLine,
)

_MOST = 16  # functions that a terminal shows; JSON and HTML have all
_BAR = 20
_NAMED = 4  # causes in a row


def show(steady: Explanation, cold: Explanation | None, lines: bool) -> None:
    """Prints the views of a steady turn with the cold one beside it; `lines` adds the annotated
    instructions.
    """
    console = paper()
    for words in heading(steady, cold):
        console.print(words, soft_wrap=True)
    for line in harts.lanes(steady):
        console.print(line, soft_wrap=True)
    if steady.harts:
        console.print(_harts(steady))
    for title, parts, others in views(steady, cold):
        console.print(_parts(title, steady, cold, *_shown(parts, others)))
    most = steady.inclusive[:_MOST]
    console.print(_parts("function with all it calls", steady, cold, most, _cold_inclusive(cold)))
    if steady.floor:
        console.print(_floor(steady.floor, steady.facts.clock.unit))
    for line in listing(steady) if lines else ():
        console.print(line, soft_wrap=True)


def show_difference(found: Difference) -> None:
    """Prints what changed from one turn to the other by function, phase, level and cause."""
    console = paper()
    for words in difference_heading(found):
        console.print(words, soft_wrap=True)
    for title, changes in difference_views(found):
        console.print(changes_table(title, changes))


def heading(steady: Explanation, cold: Explanation | None) -> list[str]:
    """What was explained, in words."""
    facts, unit = steady.facts, steady.facts.clock.unit
    lines = [
        f"{facts.contract.key}: {facts.contract.title}",
        f"  on {facts.target}, {options(facts.configuration)}",
        f"  {_length(steady)}, {certainty(steady)}",
    ]
    if cold is not None:
        lines.append(
            f"  cold turn {number(cold.length)} {unit}: the first pass, after an eviction if the "
            "target can"
        )
    lines.append(f"  code {footprint(steady.footprint)}")
    if not steady.in_sequence:
        lines.append(
            "  the events in the trace are not those of the contract's sequence, so phases are "
            "named by them"
        )
    return lines


def _length(e: Explanation) -> str:
    steady = "" if e.facts.role == SPAN else "steady turn "
    hart = f" of hart {e.hart}" if e.harts else ""
    return f"{steady}{number(e.length)} {e.facts.clock.unit}{hart}"


def footprint(f: Footprint) -> str:
    """How much code a turn touches, in words."""
    return (
        f"in {f.lines} lines of 64 bytes and {f.pages} pages of 4 KiB, "
        f"{number(f.branches)} branches taken"
    )


def options(configuration: Mapping[str, str]) -> str:
    """A configuration in words."""
    return " ".join(f"{name}={value}" for name, value in configuration.items())


def certainty(e: Explanation) -> str:
    """How the turn was found, and that it is what was measured."""
    several = f"one of {e.turn.turns} that were explained together, " if e.turn.turns > 1 else ""
    if e.facts.role == SPAN:
        return "up to the instruction before the second address"
    if e.facts.test.turns == 1:
        return f"{several}from clock reading to clock reading, as the pass was measured"
    alike = "all alike" if e.turn.steady else "which differ"
    found = (
        "as long as the latency of this boot"
        if e.turn.exact
        else f"at the end of a test of {e.facts.test.turns} turns, {alike}; between two test sizes "
        f"of this boot {number(e.latency)}"
    )
    return f"{several}{found}{_beside_run(e)}"


def _beside_run(e: Explanation) -> str:
    """What `run` says of the same circle, and why that may be another figure."""
    if e.measured is not None and round(e.measured, 2) == round(e.length, 2):
        return ", as `run` measured"
    if e.measured is None and e.turn.exact and not e.facts.target.endswith("linux"):
        return ""
    said = "measures" if e.measured is None else f"measured {number(e.measured)}:"
    why = (
        "whole tests, whose first turns differ"
        if e.facts.clock.unit == "cycles"
        else "other boots, where what ran before and what waits can add to a turn"
    )
    return f"; `run` {said} {why}"


def views(
    steady: Explanation, cold: Explanation | None
) -> Iterator[tuple[str, Sequence[Part[str]], Sequence[Part[str]]]]:
    """Title and parts of each view, with the parts of the cold turn."""
    titles = ("phases", "system_calls", "subsystems", "modes", "functions", "causes")
    for title in titles[steady.facts.role == SPAN :]:  # a span has no contract, so no phases
        if (title == "causes" and not many_causes(steady)) or not getattr(steady, title):
            continue
        yield _singular(title), getattr(steady, title), getattr(cold, title) if cold else ()


def _cold_inclusive(cold: Explanation | None) -> Sequence[Part[str]]:
    """Functions of the cold turn with all that they call."""
    return cold.inclusive if cold else ()


def _singular(title: str) -> str:
    return title.removesuffix("s").replace("_", " ")


def many_causes(e: Explanation) -> bool:
    """Whether the clock counts more than instructions, so that causes and instructions say
    something of their own.
    """
    return len(e.causes) > 1


def number(value: Fraction) -> str:
    """A whole number as such, another to a hundredth."""
    return str(value) if value.denominator == 1 else f"{float(value):.2f}"


def causes(named: Mapping[str, int | Fraction]) -> str:
    """The largest causes but the issue of instructions, which each has."""
    shares = [
        f"{cause} {number(Fraction(count))}" for cause, count in named.items() if cause != "issue"
    ]
    return ", ".join(shares[:_NAMED])


def _shown(
    parts: Sequence[Part[str]], others: Sequence[Part[str]]
) -> tuple[list[Part[str]], list[Part[str]]]:
    """As many parts as a terminal shows, and those of the cold turn: what is left is one part, so
    that all sum up.
    """
    if len(parts) <= _MOST:
        return list(parts), list(others)
    rest, names = (
        f"{len(parts) - _MOST} more (--json lists them)",
        {part.name for part in parts[:_MOST]},
    )
    there = [part for part in others if part.name in names]
    left = [part for part in others if part.name not in names]
    return [*parts[:_MOST], together(rest, parts[_MOST:])], [
        *there,
        together(rest, left),
    ] if left else there


def _parts(
    title: str,
    e: Explanation,
    cold: Explanation | None,
    parts: Sequence[Part[str]],
    others: Sequence[Part[str]],
) -> Table:
    many = many_causes(e)
    columns = (
        e.facts.clock.unit,
        "share",
        "",
        *(["instructions"] if many else []),
        *(["cold"] if cold else []),
    )
    table = _table(f"by {title}", columns, "stall causes" if many else "")
    there = {part.name: part for part in others}
    for part in parts:
        share = part.total / max(e.turn.length, 1)
        cells = [number(e.a_turn(part.total)), f"{share:.1%}", "█" * round(_BAR * share)]
        if many:
            cells.append(number(e.a_turn(part.instructions)))
        if cold is not None:
            cells.append(number(cold.a_turn(there[part.name].total)) if part.name in there else "")
        why = (
            ""
            if title == "cause"
            else causes({name: e.a_turn(n) for name, n in part.by_cause.items()})
        )
        table.add_row(part.name, *cells, why)
    return table


def _harts(e: Explanation) -> Table:
    table = _table("by hart", harts.heads(e), "")
    for lane in e.harts:
        table.add_row(f"hart {lane.hart}", *map(number, harts.shares(e, lane)), "")
    return table


def _floor(shares: Sequence[FloorShare], unit: str) -> Table:
    table = _table("against the hardware's floor", ("count", "each", unit), "")
    for share in shares:
        counted = share.count != 1 or share.each != share.total
        cells = (number(share.count), number(share.each)) if counted else ("", "")
        table.add_row(share.name, *cells, number(share.total), "")
    return table


def changes_table(
    title: str,
    changes: Sequence[PartChange],
    columns: tuple[str, str, str] = ("before", "after", "change"),
) -> Table:
    """Changes of one view, in the order given."""
    many = len({cause for change in changes for cause in change.by_cause}) > 1
    table = _table(f"by {title}", columns, "causes of the change" if many else "")
    for change in changes:
        cells = (number(change.before), number(change.after), signed(change.change))
        table.add_row(change.name, *cells, signed_causes(change) if many else "")
    return table


def _table(title: str, numbers: Sequence[str], last: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column(title, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="left" if not name else "right", no_wrap=True)
    table.add_column(last, overflow="fold")
    return table


def listing(e: Explanation) -> Iterator[str]:
    """The annotated disassembly: every instruction of the turn below its source line, heaviest
    function first.
    """
    for function, instructions in by_function(e):
        yield f"{function}:"
        where = ""
        for part in instructions:
            place = e.places[part.name]
            if (line := f"{place.file}:{place.line}" if place.file else "") != where:
                where = line
                yield f"    {line}"
            why = causes({name: e.a_turn(n) for name, n in part.by_cause.items()})
            count = f"{number(e.a_turn(part.total)):>8} {number(e.a_turn(part.instructions)):>6}x"
            yield f"{count} {part.name[1]:>12x}  {place.text or '?':<36} {why}".rstrip()


def by_function(e: Explanation) -> Iterator[tuple[str, list[Part[tuple[bool, int]]]]]:
    """The instructions of each function by address."""
    for part in e.functions:
        yield (
            part.name,
            sorted(
                (i for i in e.instructions if e.places[i.name].function == part.name), key=_place
            ),
        )


def _place(part: Part[tuple[bool, int]]) -> tuple[bool, int]:
    return part.name


def difference_heading(found: Difference) -> list[str]:
    """What was compared, in words."""
    before, after, whole = found.before, found.after, found.whole
    lines = [
        f"{before.facts.contract.key}: {signed(whole.change)} {before.facts.clock.unit} per turn"
    ]
    for side, e in (("before", before), ("after", after)):
        lines.append(
            f"  {side:6} {number(e.length)} on {e.facts.target}, {options(e.facts.configuration)}"
        )
        lines.append(f"         code {footprint(e.footprint)}")
    if found.only_layout:
        lines.append(
            "  as many instructions from another footprint: layout may explain a difference in time"
        )
    return lines


def difference_views(found: Difference) -> Iterator[tuple[str, list[PartChange]]]:
    """Title and changes of each view in which something changed; names that took the same for the
    same causes are left out, and so is the one cause of a clock that counts instructions.
    """
    titles = ("functions", "phases", "system_calls", "subsystems", "modes", "causes")
    for title in titles if many_causes(found.before) or many_causes(found.after) else titles[:-1]:
        changes = [change for change in getattr(found, title) if any(change.causes)]
        if changes:
            yield _singular(title), changes


def in_one_line(found: Difference) -> str:
    """The change of a turn, and the functions and causes that carry most of it."""
    unit = found.before.facts.clock.unit
    functions = [f"{c.name} {signed(c.change)}" for c in found.functions if c.change][:_NAMED]
    causes = [f"{c.name} {signed(c.change)}" for c in found.causes if c.change][:_NAMED]
    parts = [f"{found.before.facts.contract.key}: {signed(found.whole.change)} {unit}"]
    parts += [", ".join(functions)] * bool(functions)
    parts += [", ".join(causes)] * (many_causes(found.after) and bool(causes))
    return "; ".join(parts)


def signed(value: Fraction) -> str:
    """A change with its sign."""
    return f"{'+' if value > 0 else ''}{number(value)}"


def signed_causes(change: PartChange) -> str:
    """What each cause adds to a change, where it is not one cause alone."""
    shares = [f"{cause} {signed(count)}" for cause, count in change.by_cause.items()]
    return ", ".join(shares[:_NAMED])


def as_json(steady: Explanation, cold: Explanation | None) -> ExplainedCircle:
    """Both turns with all views; counts are of all explained turns together, `turns` says how
    many.
    """
    return ExplainedCircle(turn_json(steady), turn_json(cold) if cold else None)


def turn_json(e: Explanation) -> ExplainedTurn:
    """All views of one explanation; counts as in `as_json`."""
    facts = e.facts
    return ExplainedTurn(
        circle=facts.contract.key,
        target=facts.target,
        configuration=facts.configuration,
        unit=facts.clock.unit,
        turns=e.turn.turns,
        total=e.turn.length,
        latency=float(e.latency),
        measured=None if e.measured is None else float(e.measured),
        exact=e.turn.exact,
        steady=e.turn.steady,
        in_sequence=e.in_sequence,
        footprint=_footprint(e.footprint),
        hart=e.hart,
        harts=[harts.lane_json(lane) for lane in e.harts],
        causes=_counts(e.whole),
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


def _footprint(f: Footprint) -> CodeFootprint:
    return CodeFootprint(f.lines, f.pages, float(f.branches))


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


def difference_json(found: Difference) -> ExplainedDifference:
    """Both sides in short, and every change."""
    return ExplainedDifference(**difference_members(found))


def difference_members(found: Difference) -> dict[str, Any]:
    """What every document on two turns has."""
    views = ("functions", "phases", "system_calls", "subsystems", "modes", "causes")
    return {
        "circle": found.before.facts.contract.key,
        "unit": found.before.facts.clock.unit,
        "before": _side(found.before),
        "after": _side(found.after),
        "change": float(found.whole.change),
        **{view: [_changed(one) for one in getattr(found, view)] for view in views},
    }


def _side(e: Explanation) -> ExplainedSide:
    facts = e.facts
    return ExplainedSide(
        facts.target, facts.configuration, float(e.length), _footprint(e.footprint)
    )


def _changed(one: PartChange) -> ChangedPart:
    by_cause = {name: float(count) for name, count in one.by_cause.items()}
    return ChangedPart(one.name, float(one.before), float(one.after), float(one.change), by_cause)
