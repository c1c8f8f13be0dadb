# SPDX-License-Identifier: BSD-2-Clause
"""An explained circle, or the difference of two, as one HTML file. Flame graphs do without its
script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cyclometer.explain.difference import Difference
from cyclometer.explain.explanation import Explanation
from cyclometer.explain.kernels import Kernels
from cyclometer.explain.tail import Tail
from cyclometer.report import explained, harts, kernel_mail
from cyclometer.report import explanation as words
from cyclometer.report import tail as tail_words
from cyclometer.report.chart import flame, timeline
from cyclometer.report.chart.plot import Chart
from cyclometer.report.documents.explained import (
    ChangedPart,
    ExplainedDifference,
    ExplainedInstruction,
    ExplainedTurn,
    NamedPart,
)
from cyclometer.report.documents.kernels import CarriedChange, KernelRow, KernelsCompared
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
    found = explained.circle(steady, cold)
    turns = [_turn("steady", "The steady turn", steady, found.steady, found.cold)]
    if cold is not None and found.cold is not None:
        turns.append(_turn("cold", "The cold turn", cold, found.cold, None))
    return _page(f"Explained: {found.steady.circle}", words.heading(found), [], turns)


def tail_document(found: Tail) -> str:
    """The turn that differs and the common one, to be written as UTF-8."""
    document = explained.tail(found)
    sides = ("The common turn", "The turn that differs")
    lead = tail_words.heading(document)
    return _two_turns(found.difference, document, lead, "What differs", sides)


def difference_document(found: Difference) -> str:
    """What changed, and both turns, to be written as UTF-8."""
    document = explained.difference(found)
    sides = ("The turn before", "The turn after")
    return _two_turns(found, document, words.difference_heading(document), "What changed", sides)


def kernels_document(found: Kernels, document: KernelsCompared, mail: str) -> str:
    """Two kernels: the mail, then what changed in each circle, by their document; `found` has the
    turns that are drawn. To be written as UTF-8.
    """
    traced = {row.key: row.difference for row in found.rows if row.difference is not None}
    rows = [row for row in kernel_mail.changed(document) if row.key in traced]
    changes = [_kernels_change(row, traced[row.key]) for row in rows]
    title = f"Kernels compared: {document.old} and {document.new}"
    return _page(title, [], changes, [], mail)


def _two_turns(
    found: Difference,
    document: ExplainedDifference,
    heading: list[str],
    title: str,
    sides: tuple[str, str],
) -> str:
    views = words.difference_views(document)
    tables = [_changes(name, parts, document) for name, parts in views]
    change = ChangeView("change", title, tables, flame.draw_change(found), {}, [])
    turns = [
        _turn(anchor, side, e, explained.turn(e), None)
        for anchor, side, e in zip(
            ("before", "after"), sides, (found.before, found.after), strict=True
        )
    ]
    return _page(f"Explained: {document.circle}", heading, [change], turns)


def _kernels_change(row: KernelRow, found: Difference) -> ChangeView:
    document = explained.difference(found)
    phases = [phase for phase in document.phases if phase.change]
    return ChangeView(
        row.key,
        row.key,
        [
            *([_changes("subsystem", row.subsystems, document)] if row.subsystems else []),
            _changes("function", row.functions, document),
            _changes("phase", phases, document),
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


def _turn(
    anchor: str, title: str, drawn: Explanation, e: ExplainedTurn, cold: ExplainedTurn | None
) -> TurnView:
    """The views of `e`, which is the document of what is drawn."""
    parts = (_parts(name, e, found, cold, others) for name, found, others in words.views(e, cold))
    return TurnView(
        anchor,
        title,
        f"{words.number(words.length(e))} {e.unit}, {words.certainty(e)}.",
        [*_harts(e), *_floor(e), *parts],
        timeline.draw_harts(drawn),
        [(style, state) for state, style in timeline.hart_legend().items()],
        timeline.draw(drawn),
        flame.draw(drawn),
        flame.legend([part.name for part in e.modes]),
        _lines(e),
        [(name, list(_instructions(e, found))) for name, found in words.by_function(e)],
    )


def _parts(
    title: str,
    e: ExplainedTurn,
    parts: Sequence[NamedPart],
    cold: ExplainedTurn | None,
    others: Sequence[NamedPart],
) -> PartTable:
    """A view of the turn, beside that of the cold one if there is one."""
    there = {part.name: part for part in others}
    many = words.many_causes(e)
    rows = []
    for place, part in enumerate(parts, 1):
        cells: list[str | Markup] = [_number(part.total, e), bars.share(part.total, e.total)]
        cells += [_number(part.instructions, e)] if many else []
        cells += [_elsewhere(cold, there.get(part.name))] if cold else []
        why = "" if title == "cause" else words.stalls(part, e)
        rows.append(PartRow(f"{place}. {part.name}" if title == "phase" else part.name, cells, why))
    optional = [*(["instructions"] if many else []), *(["cold turn"] if cold else [])]
    last = "stall causes" if many and title != "cause" else ""
    return PartTable(f"By {title}", [e.unit, "share", *optional, last], rows)


def _number(count: int, e: ExplainedTurn) -> str:
    """A count of all explained turns as that of one, in words."""
    return words.number(words.per_turn(count, e))


def _elsewhere(e: ExplainedTurn, part: NamedPart | None) -> str:
    return _number(part.total, e) if part else ""


def _harts(e: ExplainedTurn) -> Iterator[PartTable]:
    """What each hart waited for, if there are several."""
    if e.harts:
        rows = [
            PartRow(f"hart {lane.hart}", list(map(words.number, harts.shares(e, lane))), "")
            for lane in e.harts
        ]
        yield PartTable("By hart", [*harts.heads(e), ""], rows)


def _floor(e: ExplainedTurn) -> Iterator[PartTable]:
    """What the hardware alone would take, if it was measured."""
    if e.floor:
        rows = [PartRow(share.name, words.floor_cells(share), "") for share in e.floor]
        heads = ("count", "each", e.unit, "")
        total = PartRow("turn", ("", "", words.number(words.length(e))), "")
        yield PartTable("Against the hardware's floor", heads, rows, total)


def _changes(
    title: str, changes: Iterable[ChangedPart | CarriedChange], found: ExplainedDifference
) -> PartTable:
    """Changes of one view, and their sum; causes only where a clock has many."""
    many = words.many_causes_of(found)
    heads = ("before", "after", "change", "causes of the change" if many else "")
    causes = {cause.name: cause.change for cause in found.causes if cause.change}
    whole = ChangedPart("turn", found.before.total, found.after.total, found.change, causes)
    rows = [_change(one, many) for one in changes]
    return PartTable(f"By {title}", heads, rows, _change(whole, many))


def _change(one: ChangedPart | CarriedChange, many: bool) -> PartRow:
    figures = (words.number(one.before), words.number(one.after), words.signed(one.change))
    why = words.signed_causes(one) if many and isinstance(one, ChangedPart) else ""
    return PartRow(one.name, figures, why)


def _lines(e: ExplainedTurn) -> PartTable:
    rows = [
        PartRow(
            f"{part.file}:{part.line}" if part.file else "[no source line]",
            (_number(part.total, e), _number(part.instructions, e)),
            f"{part.function}: {words.stalls(part, e)}".rstrip(": "),
        )
        for part in e.lines
    ]
    title = f"{len(rows)} lines, the most costly first"
    return PartTable(title, (e.unit, "instructions", "function"), rows)


def _instructions(
    e: ExplainedTurn, listed: Sequence[ExplainedInstruction]
) -> Iterator[Instruction]:
    """The annotated disassembly of a function."""
    last = ""
    for one in listed:
        line = f"{one.file}:{one.line}" if one.file else last
        yield Instruction(
            line if line != last else "",
            _number(one.total, e),
            _number(one.instructions, e),
            f"{one.pc:x}",
            one.text or "?",
            words.stalls(one, e),
        )
        last = line
