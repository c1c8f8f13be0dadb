# SPDX-License-Identifier: BSD-2-Clause
"""The documents of an explained turn, and of the difference of two, in words and on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from rich import box
from rich.table import Table

from cyclometer.explain.span import ROLE as SPAN
from cyclometer.report import harts
from cyclometer.report.comparison import paper
from cyclometer.report.documents.explained import (
    ChangedPart,
    CodeFootprint,
    ExplainedCircle,
    ExplainedDifference,
    ExplainedInstruction,
    ExplainedPart,
    ExplainedTurn,
    HardwareFloor,
    NamedPart,
)

_MOST = 16  # functions that a terminal shows; JSON and HTML have all
_BAR = 20
_NAMED = 4  # causes in a row


def show(found: ExplainedCircle, lines: bool) -> None:
    """Prints the views of a steady turn with the cold one beside it; `lines` adds the annotated
    instructions.
    """
    console, steady, cold = paper(), found.steady, found.cold
    for words in heading(found):
        console.print(words, soft_wrap=True)
    for line in harts.lanes(steady):
        console.print(line, soft_wrap=True)
    if steady.harts:
        console.print(_harts(steady))
    for title, parts, others in views(steady, cold):
        console.print(_parts(title, found, *_shown(parts, others)))
    most, others = steady.inclusive[:_MOST], cold.inclusive if cold else ()
    console.print(_parts("function with all it calls", found, most, others))
    if steady.floor:
        console.print(_floor(steady.floor, steady.unit))
    for line in listing(steady) if lines else ():
        console.print(line, soft_wrap=True)


def show_difference(found: ExplainedDifference) -> None:
    """Prints what changed from one turn to the other by function, phase, level and cause."""
    console = paper()
    for words in difference_heading(found):
        console.print(words, soft_wrap=True)
    for title, changes in difference_views(found):
        console.print(changes_table(title, changes))


def heading(found: ExplainedCircle) -> list[str]:
    """What was explained, in words."""
    steady, cold = found.steady, found.cold
    lines = [
        f"{steady.circle}: {steady.title}",
        f"  on {steady.target}, {options(steady.configuration)}",
        f"  {_length(steady)}, {certainty(steady)}",
    ]
    if cold is not None:
        lines.append(
            f"  cold turn {number(length(cold))} {steady.unit}: the first pass, after an eviction "
            "if the target can"
        )
    lines.append(f"  code {footprint(steady.footprint)}")
    if not steady.in_sequence:
        lines.append(
            "  the events in the trace are not those of the contract's sequence, so phases are "
            "named by them"
        )
    return lines


def per_turn(count: float, e: ExplainedTurn) -> Fraction:
    """A count of all explained turns as that of one."""
    return Fraction(int(count), e.turns)


def length(e: ExplainedTurn) -> Fraction:
    """Of one turn in clock units, by the trace."""
    return per_turn(e.total, e)


def _length(e: ExplainedTurn) -> str:
    steady = "" if e.role == SPAN else "steady turn "
    hart = f" of hart {e.hart}" if e.harts else ""
    return f"{steady}{number(length(e))} {e.unit}{hart}"


def footprint(f: CodeFootprint, then: CodeFootprint | None = None) -> str:
    """How much code a turn touches, in words; of two sides how that changes."""
    lines, fetches, pages, branches, functions, aligned = (
        from_to(x, y) for x, y in zip(_sizes(f), _sizes(then or f), strict=True)
    )
    return (
        f"in {lines} lines of 64 bytes, {fetches} fetches of 16 and {pages} pages of 4 KiB, "
        f"{branches} branches taken, {functions} functions, {aligned} at a line's beginning"
    )


def _sizes(f: CodeFootprint) -> tuple[float, ...]:
    return (
        f.lines_64_bytes,
        f.fetches_16_bytes,
        f.pages_4_kib,
        f.branches,
        f.functions,
        f.functions_that_begin_a_line,
    )


def from_to(before: float, after: float) -> str:
    """Both figures, or one if they are equal."""
    return number(before) if before == after else f"{number(before)} to {number(after)}"


def options(configuration: Mapping[str, str]) -> str:
    """A configuration in words."""
    return " ".join(f"{name}={value}" for name, value in configuration.items())


def certainty(e: ExplainedTurn) -> str:
    """How the turn was found, and that it is what was measured."""
    several = f"one of {e.turns} that were explained together, " if e.turns > 1 else ""
    if e.role == SPAN:
        return "up to the instruction before the second address"
    if e.test_turns == 1:
        return f"{several}from clock reading to clock reading, as the pass was measured"
    alike = "all alike" if e.steady else "which differ"
    found = (
        "as long as the latency of this boot"
        if e.exact
        else f"at the end of a test of {e.test_turns} turns, {alike}; between two test sizes "
        f"of this boot {number(e.latency)}"
    )
    return f"{several}{found}{_beside_run(e)}"


def _beside_run(e: ExplainedTurn) -> str:
    """What `run` says of the same circle, and why that may be another figure."""
    if e.measured is not None and round(e.measured, 2) == round(float(length(e)), 2):
        return ", as `run` measured"
    if e.measured is None and e.exact and not e.target.endswith("linux"):
        return ""
    said = "measures" if e.measured is None else f"measured {number(e.measured)}:"
    why = (
        "whole tests, whose first turns differ"
        if e.unit == "cycles"
        else "other boots, where what ran before and what waits can add to a turn"
    )
    return f"; `run` {said} {why}"


def views(
    steady: ExplainedTurn, cold: ExplainedTurn | None
) -> Iterator[tuple[str, Sequence[NamedPart], Sequence[NamedPart]]]:
    """Title and parts of each view, with the parts of the cold turn."""
    titles = ("phases", "system_calls", "subsystems", "modes", "functions")
    for title in titles[steady.role == SPAN :]:  # a span has no contract, so no phases
        if parts := getattr(steady, title):
            yield _singular(title), parts, getattr(cold, title) if cold else ()
    if many_causes(steady):
        yield "cause", _by_cause(steady), _by_cause(cold) if cold else ()


def _by_cause(e: ExplainedTurn) -> list[NamedPart]:
    return [
        NamedPart(int(total), e.held_up[name], {name: total}, name=name)
        for name, total in e.causes.items()
    ]


def _singular(title: str) -> str:
    return title.removesuffix("s").replace("_", " ")


def many_causes(e: ExplainedTurn) -> bool:
    """Whether the clock counts more than instructions, so that causes and instructions say
    something of their own.
    """
    return len(e.causes) > 1


def many_causes_of(found: ExplainedDifference) -> bool:
    """The same of either side of a difference."""
    sides = ([c.before for c in found.causes], [c.after for c in found.causes])
    return max(sum(map(bool, side)) for side in sides) > 1


def number(value: float | Fraction) -> str:
    """A whole number as such, another to a hundredth."""
    return str(int(value)) if value == int(value) else f"{float(value):.2f}"


def stalls(part: ExplainedPart, e: ExplainedTurn) -> str:
    """The largest causes per turn, but the issue of instructions, which each has."""
    shares = [
        f"{cause} {number(per_turn(count, e))}"
        for cause, count in part.causes.items()
        if cause != "issue"
    ]
    return ", ".join(shares[:_NAMED])


def _shown(
    parts: Sequence[NamedPart], others: Sequence[NamedPart]
) -> tuple[list[NamedPart], list[NamedPart]]:
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
    return [*parts[:_MOST], _together(rest, parts[_MOST:])], [
        *there,
        _together(rest, left),
    ] if left else there


def _together(name: str, parts: Sequence[NamedPart]) -> NamedPart:
    """Several parts as one."""
    sums: Counter[str] = Counter()
    for part in parts:
        sums.update({cause: int(count) for cause, count in part.causes.items()})
    total, instructions = sum(p.total for p in parts), sum(p.instructions for p in parts)
    return NamedPart(total, instructions, {c: float(n) for c, n in sums.most_common()}, name=name)


def _parts(
    title: str,
    found: ExplainedCircle,
    parts: Sequence[NamedPart],
    others: Sequence[NamedPart],
) -> Table:
    e, cold = found.steady, found.cold
    many = many_causes(e)
    columns = (e.unit, "share", "", *["instructions"] * many, *["cold"] * (cold is not None))
    table = figures(f"by {title}", columns, "stall causes" if many else "")
    there = {part.name: part for part in others}
    for part in parts:
        share = part.total / max(e.total, 1)
        cells = [number(per_turn(part.total, e)), f"{share:.1%}", "█" * round(_BAR * share)]
        if many:
            cells.append(number(per_turn(part.instructions, e)))
        if cold is not None:
            other = there.get(part.name)
            cells.append(number(per_turn(other.total, cold)) if other else "")
        table.add_row(part.name, *cells, "" if title == "cause" else stalls(part, e))
    return table


def _harts(e: ExplainedTurn) -> Table:
    table = figures("by hart", harts.heads(e), "")
    for lane in e.harts:
        table.add_row(f"hart {lane.hart}", *map(number, harts.shares(e, lane)), "")
    return table


def _floor(shares: Sequence[HardwareFloor], unit: str) -> Table:
    table = figures("against the hardware's floor", ("count", "each", unit), "")
    for share in shares:
        table.add_row(share.name, *floor_cells(share), "")
    return table


def floor_cells(share: HardwareFloor) -> tuple[str, str, str]:
    """How often, what each costs, and what all cost; the first two only of what is counted."""
    counted = share.count != 1 or share.each != share.total
    cells = (number(share.count), number(share.each)) if counted else ("", "")
    return *cells, number(share.total)


def changes_table(
    title: str,
    changes: Sequence[ChangedPart],
    columns: tuple[str, str, str] = ("before", "after", "change"),
) -> Table:
    """Changes of one view, in the order given."""
    many = len({cause for change in changes for cause in change.causes}) > 1
    table = figures(f"by {title}", columns, "causes of the change" if many else "")
    for change in changes:
        cells = (number(change.before), number(change.after), signed(change.change))
        table.add_row(change.name, *cells, signed_causes(change) if many else "")
    return table


def figures(title: str, numbers: Sequence[str], last: str | None = None) -> Table:
    """An empty table: names at the left, figures at the right, and words in the last column if
    there is one.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column(title, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="left" if not name else "right", no_wrap=True)
    if last is not None:
        table.add_column(last, overflow="fold")
    return table


def listing(e: ExplainedTurn) -> Iterator[str]:
    """The annotated disassembly: every instruction of the turn below its source line, heaviest
    function first.
    """
    for function, instructions in by_function(e):
        yield f"{function}:"
        where = ""
        for one in instructions:
            if (line := f"{one.file}:{one.line}" if one.file else "") != where:
                where = line
                yield f"    {line}"
            cost, executed = (number(per_turn(n, e)) for n in (one.total, one.instructions))
            counts = f"{cost:>8} {executed:>6}x"
            yield f"{counts} {one.pc:>12x}  {one.text or '?':<36} {stalls(one, e)}".rstrip()


def by_function(e: ExplainedTurn) -> Iterator[tuple[str, list[ExplainedInstruction]]]:
    """The instructions of each function by address."""
    for part in e.functions:
        found = [one for one in e.instructions if one.function == part.name]
        yield part.name, sorted(found, key=lambda one: (one.user, one.pc))


def difference_heading(found: ExplainedDifference) -> list[str]:
    """What was compared, in words."""
    lines = [f"{found.circle}: {signed(found.change)} {found.unit} per turn"]
    for word, side in (("before", found.before), ("after", found.after)):
        lines.append(
            f"  {word:6} {number(side.total)} on {side.target}, {options(side.configuration)}"
        )
        lines.append(f"         code {footprint(side.footprint)}")
    if found.only_layout:
        lines.append(
            "  as many instructions from another footprint: layout may explain a difference in time"
        )
    return lines


def difference_views(found: ExplainedDifference) -> Iterator[tuple[str, list[ChangedPart]]]:
    """Title and changes of each view in which something changed; names that took the same for the
    same causes are left out, and so is the one cause of a clock that counts instructions.
    """
    titles = ("functions", "phases", "system_calls", "subsystems", "modes", "causes")
    for title in titles if many_causes_of(found) else titles[:-1]:
        changes = [change for change in getattr(found, title) if change.causes]
        if changes:
            yield _singular(title), changes


def in_one_line(found: ExplainedDifference) -> str:
    """The change of a turn, and the functions and causes that carry most of it."""
    functions = [f"{c.name} {signed(c.change)}" for c in found.functions if c.change][:_NAMED]
    causes = [f"{c.name} {signed(c.change)}" for c in found.causes if c.change][:_NAMED]
    parts = [f"{found.circle}: {signed(found.change)} {found.unit}"]
    parts += [", ".join(functions)] * bool(functions)
    parts += [", ".join(causes)] * (many_causes_of(found) and bool(causes))
    return "; ".join(parts)


def signed(value: float | Fraction) -> str:
    """A change with its sign."""
    return f"{'+' if value > 0 else ''}{number(value)}"


def signed_causes(change: ChangedPart) -> str:
    """What each cause adds to a change, where it is not one cause alone."""
    shares = [f"{cause} {signed(count)}" for cause, count in change.causes.items()]
    return ", ".join(shares[:_NAMED])
