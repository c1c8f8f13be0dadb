# SPDX-License-Identifier: BSD-2-Clause
"""An explained circle, or the difference of two, as one HTML file. Flame graphs do without its
script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from cyclometer.explain.difference import Difference, PartChange
from cyclometer.explain.explanation import Explanation
from cyclometer.explain.kernels import KernelRow, Kernels
from cyclometer.explain.parts import Part
from cyclometer.explain.tail import Tail
from cyclometer.report import explanation as words
from cyclometer.report import harts
from cyclometer.report import tail as tail_words
from cyclometer.report.chart import flame, timeline
from cyclometer.report.chart.plot import Chart
from cyclometer.report.html import bars, render
from cyclometer.report.html.render import Link
from cyclometer.report.markup import Markup


class PartRow(NamedTuple):
    """A part of a turn: its figures, and what they come from."""

    name: str
    figures: Sequence[str | Markup]
    why: str


@dataclass(frozen=True)
class PartTable:
    """Parts of a turn by one view. `heads` name the figures and the why; `total` is last."""

    title: str
    heads: Sequence[str]
    rows: Sequence[PartRow]
    total: PartRow | None = None


class Instruction(NamedTuple):
    """A line of the annotated disassembly; `line` is the source line that begins with it."""

    line: str
    cost: str
    executed: str
    address: str
    text: str
    why: str


@dataclass(frozen=True)
class TurnView:
    """One turn in all views."""

    anchor: str
    title: str
    lead: str
    tables: list[PartTable]
    harts: Chart | None
    states: list[tuple[str, str]]  # what the colours of `harts` mean
    timeline: Chart
    flame: Chart
    levels: list[tuple[str, str]]
    lines: PartTable
    listing: list[tuple[str, list[Instruction]]]


@dataclass(frozen=True)
class ChangeView:
    """What changed between two turns, and the flame graphs of both where `flames` has them."""

    anchor: str
    title: str
    tables: list[PartTable]
    flame: Chart
    flames: dict[str, Chart]
    levels: list[tuple[str, str]]


def document(steady: Explanation, cold: Explanation | None) -> str:
    """Both turns with all views, to be written as UTF-8."""
    turns = [_turn("steady", "The steady turn", steady, cold)]
    turns += [_turn("cold", "The cold turn", cold, None)] if cold is not None else []
    return _page(f"Explained: {steady.facts.contract.key}", words.heading(steady, cold), [], turns)


def tail_document(found: Tail) -> str:
    """The turn that differs and the common one, to be written as UTF-8."""
    sides = ("The common turn", "The turn that differs")
    return _two_turns(found.difference, tail_words.heading(found), "What differs", sides)


def difference_document(found: Difference) -> str:
    """What changed, and both turns, to be written as UTF-8."""
    sides = ("The turn before", "The turn after")
    return _two_turns(found, words.difference_heading(found), "What changed", sides)


def kernels_document(found: Kernels, mail: str) -> str:
    """Two kernels: the mail, then what changed in each circle, to be written as UTF-8."""
    changes = [_kernels_change(row) for row in found.changed() if row.difference is not None]
    return _page(f"Kernels compared: {' and '.join(found.names)}", [], changes, [], mail)


def _two_turns(found: Difference, heading: list[str], title: str, sides: tuple[str, str]) -> str:
    views = words.difference_views(found)
    tables = [_changes(name, parts, found) for name, parts in views]
    change = ChangeView("change", title, tables, flame.draw_change(found), {}, [])
    turns = [
        _turn("before", sides[0], found.before, None),
        _turn("after", sides[1], found.after, None),
    ]
    return _page(f"Explained: {found.before.facts.contract.key}", heading, [change], turns)


def _kernels_change(row: KernelRow) -> ChangeView:
    assert row.difference is not None  # for the caller asks for these only
    found = row.difference
    phases = [phase for phase in found.phases if phase.change]
    return ChangeView(
        row.key,
        row.key,
        [
            *([_changes("subsystem", found.subsystems, found)] if found.subsystems else []),
            _changes("function", row.functions, found),
            _changes("phase", phases, found),
        ],
        flame.draw_change(found),
        {"Old": flame.draw(found.before), "New": flame.draw(found.after)},
        flame.legend([part.name for part in found.before.modes]),
    )


def _page(
    title: str,
    lead: Sequence[str],
    changes: list[ChangeView],
    turns: list[TurnView],
    mail: str = "",
) -> str:
    sections = [(c.anchor, c.title) for c in changes] + [(t.anchor, t.title) for t in turns]
    return render.page(
        "explanation.html",
        "flame.js",
        title=title,
        lead=lead,
        links=[Link(f"#{anchor}", name) for anchor, name in sections] if len(sections) > 1 else [],
        mail=mail,
        changes=changes,
        turns=turns,
        legend_of_change=flame.LEGEND_OF_CHANGE,
    )


def _turn(anchor: str, title: str, e: Explanation, cold: Explanation | None) -> TurnView:
    parts = (_parts(name, e, found, cold, others) for name, found, others in words.views(e, cold))
    return TurnView(
        anchor,
        title,
        f"{words.number(e.length)} {e.facts.clock.unit}, {words.certainty(e)}.",
        [*_harts(e), *_floor(e), *parts],
        timeline.draw_harts(e),
        [(style, state) for state, style in timeline.hart_legend().items()],
        timeline.draw(e),
        flame.draw(e),
        flame.legend([part.name for part in e.modes]),
        _lines(e),
        [(name, list(_instructions(e, found))) for name, found in words.by_function(e)],
    )


def _parts(
    title: str,
    e: Explanation,
    parts: Sequence[Part[str]],
    cold: Explanation | None,
    others: Sequence[Part[str]],
) -> PartTable:
    """A view of the turn, beside that of the cold one if there is one."""
    there = {part.name: part for part in others}
    many = words.many_causes(e)
    rows = []
    for place, part in enumerate(parts, 1):
        cells: list[str | Markup] = [
            words.number(e.a_turn(part.total)),
            bars.share(part.total, e.turn.length),
        ]
        cells += [words.number(e.a_turn(part.instructions))] if many else []
        cells += [_elsewhere(cold, there.get(part.name))] if cold else []
        why = "" if title == "cause" else _causes(e, part)
        rows.append(PartRow(f"{place}. {part.name}" if title == "phase" else part.name, cells, why))
    optional = [*(["instructions"] if many else []), *(["cold turn"] if cold else [])]
    last = "stall causes" if many and title != "cause" else ""
    return PartTable(f"By {title}", [e.facts.clock.unit, "share", *optional, last], rows)


def _causes(e: Explanation, part: Part[Any]) -> str:
    return words.causes({name: e.a_turn(count) for name, count in part.by_cause.items()})


def _elsewhere(e: Explanation, part: Part[str] | None) -> str:
    return words.number(e.a_turn(part.total)) if part else ""


def _harts(e: Explanation) -> Iterator[PartTable]:
    """What each hart waited for, if there are several."""
    if e.harts:
        rows = [
            PartRow(f"hart {lane.hart}", list(map(words.number, harts.shares(e, lane))), "")
            for lane in e.harts
        ]
        yield PartTable("By hart", [*harts.heads(e), ""], rows)


def _floor(e: Explanation) -> Iterator[PartTable]:
    """What the hardware alone would take, if it was measured."""
    if e.floor:
        rows = [
            PartRow(
                s.name, (words.number(s.count), words.number(s.each), words.number(s.total)), ""
            )
            for s in e.floor
        ]
        heads = ("count", "each", e.facts.clock.unit, "")
        total = PartRow("turn", ("", "", words.number(e.length)), "")
        yield PartTable("Against the hardware's floor", heads, rows, total)


def _changes(title: str, changes: Iterable[PartChange], found: Difference) -> PartTable:
    many = words.many_causes(found.before) or words.many_causes(found.after)
    heads = ("before", "after", "change", "causes of the change" if many else "")
    rows = [_change(one, many) for one in changes]
    return PartTable(f"By {title}", heads, rows, _change(found.whole, many))


def _change(one: PartChange, many: bool) -> PartRow:
    figures = (words.number(one.before), words.number(one.after), words.signed(one.change))
    return PartRow(one.name, figures, words.signed_causes(one) if many else "")


def _lines(e: Explanation) -> PartTable:
    rows = [
        PartRow(
            f"{part.name[1]}:{part.name[2]}" if part.name[1] else "[no source line]",
            (words.number(e.a_turn(part.total)), words.number(e.a_turn(part.instructions))),
            f"{part.name[0]}: {_causes(e, part)}".rstrip(": "),
        )
        for part in e.lines
    ]
    title = f"{len(rows)} lines, the most costly first"
    return PartTable(title, (e.facts.clock.unit, "instructions", "function"), rows)


def _instructions(e: Explanation, parts: Sequence[Part[tuple[bool, int]]]) -> Iterator[Instruction]:
    """The annotated disassembly of a function."""
    last = ""
    for part in parts:
        place = e.places[part.name]
        line = f"{place.file}:{place.line}" if place.file else last
        cost, executed = (
            words.number(Fraction(n, e.turn.turns)) for n in (part.total, part.instructions)
        )
        yield Instruction(
            line if line != last else "",
            cost,
            executed,
            f"{part.name[1]:x}",
            place.text or "?",
            _causes(e, part),
        )
        last = line
