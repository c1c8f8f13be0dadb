# SPDX-License-Identifier: BSD-2-Clause
"""An explained circle, or the difference of two, as one HTML file that loads nothing and runs no
script but its own, which flame graphs do without.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from cyclometer.explain.difference import Difference, PartChange
from cyclometer.explain.explanation import Explanation
from cyclometer.explain.kernels import KernelRow, Kernels
from cyclometer.explain.parts import Part
from cyclometer.explain.tail import Tail
from cyclometer.report import explanation as words
from cyclometer.report import tail as tail_words
from cyclometer.report.chart import flame, plot, timeline
from cyclometer.report.html.document import whole
from cyclometer.report.html.overview import breakable
from cyclometer.report.markup import Markup, join, tag

_STYLE = Path(__file__).with_name("explanation.css")
_SCRIPT = Path(__file__).with_name("flame.js")
_BAR = 100


def document(steady: Explanation, cold: Explanation | None) -> str:
    """Both turns with all views, to be written as UTF-8."""
    links = {"steady": "Steady turn", "cold": "Cold turn"} if cold is not None else {}
    turns = [_turn("steady", "The steady turn", steady, cold)]
    turns += [_turn("cold", "The cold turn", cold, None)] if cold is not None else []
    return _page(steady.facts.contract.key, words.heading(steady, cold), links, turns)


def tail_document(found: Tail) -> str:
    """The turn that differs and the common one, to be written as UTF-8."""
    sides = ("The common turn", "The turn that differs")
    return _two_turns(found.difference, tail_words.heading(found), "What differs", sides)


def difference_document(found: Difference) -> str:
    """What changed, and both turns, to be written as UTF-8."""
    sides = ("The turn before", "The turn after")
    return _two_turns(found, words.difference_heading(found), "What changed", sides)


def _two_turns(found: Difference, heading: list[str], title: str, sides: tuple[str, str]) -> str:
    links = {"change": title, "before": sides[0], "after": sides[1]}
    tables = [
        _change_table(title, changes, found.whole)
        for title, changes in words.difference_views(found)
    ]
    change = (flame_figure(flame.draw_change(found)), flame.legend_of_change())
    parts = [
        tag("section", tag("h2", title), *tables, *change, id="change"),
        _turn("before", sides[0], found.before, None),
        _turn("after", sides[1], found.after, None),
    ]
    return _page(found.before.facts.contract.key, heading, links, parts)


def kernels_document(found: Kernels, mail: str) -> str:
    """Two kernels: the mail, then what changed in each circle, to be written as UTF-8."""
    changed = [row for row in found.changed() if row.difference is not None]
    links = {row.key: row.key for row in changed}
    parts = [tag("pre", mail), *map(_kernels_row, changed)]
    return _page(" and ".join(found.names), [], links, parts, "Kernels compared: ")


def _kernels_row(row: KernelRow) -> Markup:
    assert row.difference is not None
    whole_change, both = row.difference.whole, (row.difference.before, row.difference.after)
    figures = (flame_figure(flame.draw(e)) for e in both)
    return tag(
        "section",
        tag("h2", breakable(row.key)),
        _change_table("function", row.functions, whole_change),
        _change_table("phase", [c for c in row.difference.phases if c.change], whole_change),
        flame_figure(flame.draw_change(row.difference)),
        flame.legend_of_change(),
        *(
            join((tag("h3", name), drawn))
            for name, drawn in zip(("Old", "New"), figures, strict=True)
        ),
        flame.legend([part.name for part in both[0].modes]),
        id=row.key,
    )


def _page(
    key: str,
    lines: Sequence[str],
    links: dict[str, str],
    parts: Iterable[Markup],
    what: str = "Explained: ",
) -> str:
    title = f"{what}{key}"
    nav = tag(
        "nav",
        *(tag("a", name, href=f"#{place}") for place, name in links.items()),
        aria_label="Turns",
    )
    header = tag(
        "header", tag("h1", breakable(title)), *(tag("p", line, cls="lead") for line in lines), nav
    )
    return explained(title, header, parts)


def explained(title: str, header: Markup, parts: Iterable[Markup]) -> str:
    """A whole page in the style of explanations, whose flame graphs can be zoomed and searched."""
    main = tag("main", *parts, cls="explained")
    return whole(title, (header, main), _STYLE.read_text(), _SCRIPT.read_text())


def _turn(anchor: str, title: str, e: Explanation, cold: Explanation | None) -> Markup:
    lead = f"{words.number(e.length)} {e.facts.clock.unit}, {words.certainty(e)}."
    return tag(
        "section",
        tag("h2", title),
        tag("p", lead, cls="lead"),
        _floor(e),
        *(
            _part_table(name, e, parts, cold, others)
            for name, parts, others in words.views(e, cold)
        ),
        _figure(timeline.draw(e)),
        flame_figure(flame.draw(e)),
        flame.legend([part.name for part in e.modes]),
        tag("h3", "By source line"),
        _lines(e),
        tag("details", tag("summary", "Every instruction"), _listing(e)),
        id=anchor,
    )


def _figure(chart: plot.Chart, kind: str | None = None) -> Markup:
    return tag("figure", tag("figcaption", chart.title), tag("div", chart.svg()), cls=kind)


def flame_figure(chart: plot.Chart) -> Markup:
    """A flame graph that the page's script equips."""
    return _figure(chart, "flame")


def _part_table(
    title: str,
    e: Explanation,
    parts: Sequence[Part[str]],
    cold: Explanation | None,
    others: Sequence[Part[str]],
) -> Markup:
    there = {part.name: part for part in others}
    many = words.many_causes(e)
    heads = [
        e.facts.clock.unit,
        "share",
        *(["instructions"] if many else []),
        *(["cold turn"] if cold else []),
    ]
    rows = []
    for place, part in enumerate(parts, 1):
        cells: list[str | Markup] = [
            words.number(e.a_turn(part.total)),
            _share(part.total, e.turn.length),
        ]
        cells += [words.number(e.a_turn(part.instructions))] if many else []
        cells += [_elsewhere(cold, there.get(part.name))] if cold else []
        why = "" if title == "cause" else _causes(e, part)
        rows.append(_row(f"{place}. {part.name}" if title == "phase" else part.name, cells, why))
    last = "causes beyond issue" if many and title != "cause" else ""
    return join((tag("h3", f"By {title}"), _table([*heads, last], rows)))


def _causes(e: Explanation, part: Part[Any]) -> str:
    return words.causes({name: e.a_turn(count) for name, count in part.by_cause.items()})


def _elsewhere(e: Explanation, part: Part[str] | None) -> str:
    return words.number(e.a_turn(part.total)) if part else ""


def _share(part: int, total: int) -> Markup:
    """A share as a bar, with its figure for those who do not see it."""
    share = 100 * part / max(total, 1)
    bar = tag("rect", x=0, y=0, width=share * _BAR / 100, height=10)
    return tag(
        "svg",
        bar,
        viewBox=f"0 0 {_BAR} 10",
        cls="amount",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"{share:.1f} %",
    )


def _floor(e: Explanation) -> Markup | None:
    if not e.floor:
        return None
    rows = [
        _row(s.name, (words.number(s.count), words.number(s.each), words.number(s.total)), "")
        for s in e.floor
    ]
    foot = tag("tfoot", _row("turn", ("", "", words.number(e.length)), ""))
    heads = ("count", "each", e.facts.clock.unit, "")
    return join((tag("h3", "Against the hardware's floor"), _table(heads, rows, foot)))


def _change_table(title: str, changes: Sequence[PartChange], total: PartChange) -> Markup:
    rows = [_change_row(change) for change in changes]
    foot = tag("tfoot", _change_row(total))
    return join(
        (
            tag("h3", f"By {title}"),
            _table(("before", "after", "change", "causes of the change"), rows, foot),
        )
    )


def _change_row(change: PartChange) -> Markup:
    way = tag("span", words.signed(change.change), cls="up" if change.change > 0 else "down")
    cells = (words.number(change.before), words.number(change.after), way)
    return _row(change.name, cells, words.signed_causes(change))


def _row(name: str, numbers: Sequence[str | Markup], why: str) -> Markup:
    cells = (tag("td", cell, cls="n") for cell in numbers)
    return tag("tr", tag("th", breakable(name), scope="row"), *cells, tag("td", why, cls="why"))


def _table(heads: Sequence[str], rows: Sequence[Markup], foot: Markup | None = None) -> Markup:
    last = len(heads) - 1
    names = (
        tag("th", head, scope="col", cls="n" if i < last else None) for i, head in enumerate(heads)
    )
    head = tag("thead", tag("tr", tag("td"), *names))
    return tag("div", tag("table", head, tag("tbody", *rows), foot, cls="parts"), cls="scroll")


def _lines(e: Explanation) -> Markup:
    rows = [
        _row(
            f"{part.name[1]}:{part.name[2]}" if part.name[1] else "[no source line]",
            (words.number(e.a_turn(part.total)), words.number(e.a_turn(part.instructions))),
            f"{part.name[0]}: {_causes(e, part)}".rstrip(": "),
        )
        for part in e.lines
    ]
    return tag(
        "details",
        tag("summary", f"{len(rows)} lines, the most costly first"),
        _table((e.facts.clock.unit, "instructions", "function"), rows),
    )


def _listing(e: Explanation) -> Markup:
    """The annotated disassembly."""
    rows: list[Markup] = []
    for function, instructions in words.by_function(e):
        rows.append(tag("tr", tag("th", function, scope="rowgroup", colspan=5), cls="line"))
        where = ""
        for part in instructions:
            place = e.places[part.name]
            if place.file and (line := f"{place.file}:{place.line}") != where:
                where = line
                rows.append(tag("tr", tag("td"), tag("td"), tag("td", line, colspan=3)))
            rows.append(_instruction(e, part, place.text))
    return tag("div", tag("table", tag("tbody", *rows), cls="listing"), cls="scroll")


def _instruction(e: Explanation, part: Part[tuple[bool, int]], text: str) -> Markup:
    why = _causes(e, part)
    counts = (words.number(Fraction(n, e.turn.turns)) for n in (part.total, part.instructions))
    cells = (tag("td", count, cls="n") for count in counts)
    address, code = tag("code", f"{part.name[1]:x}"), tag("code", text or "?")
    return tag("tr", *cells, tag("td", address), tag("td", code), tag("td", why))
