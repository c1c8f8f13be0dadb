# SPDX-License-Identifier: BSD-2-Clause
"""A sampled circle, or two and what changed, as one HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cyclometer.explain.explanation import Explanation
from cyclometer.explain.profile import LatencyShares, ShareChange
from cyclometer.report import profile as words
from cyclometer.report.chart import flame
from cyclometer.report.chart.plot import Chart
from cyclometer.report.documents.explained import ExplainedTurn, NamedPart
from cyclometer.report.documents.sampled import SampledPart
from cyclometer.report.explanation import number, per_turn
from cyclometer.report.html import render


@dataclass(frozen=True)
class ProfiledSide:
    """One side, sampled or executed: who called whom, and shares by several views."""

    title: str
    unit: str
    flame: Chart
    views: dict[str, list[tuple[str, ...]]]


def document(
    sides: Sequence[LatencyShares],
    changes: Sequence[ShareChange],
    exact: Explanation | None = None,
) -> str:
    """The page's text, to be written as UTF-8; below the samples the turn that the same kernel
    executes, if it was traced.
    """
    names = ("Before", "After") if changes else ("Functions",)
    shown = [_side(side, name) for side, name in zip(sides, names, strict=True)]
    found = words.as_json(sides[0], exact)
    lead = words.heading(found)
    if exact is not None and found.exact is not None:
        lead.append(words.exact_heading(found.exact))
        shown.append(_executed(exact, found.exact))
    compared = words.difference_json(sides[0], sides[-1], changes)
    return render.page(
        "profile.html",
        "flame.js",
        title=f"Sampled: {found.circle}",
        lead=lead,
        links=[],
        changes=[(one.name, *words.changed_cells(one)) for one in compared.changes],
        sides=shown,
        levels=flame.legend(["user", "kernel"]),
    )


def _side(sampled: LatencyShares, title: str) -> ProfiledSide:
    found, stacks = words.as_json(sampled), sampled.profile.stacks
    levels = {stack.frames[-1]: stack.level for stack in stacks}
    for stack in stacks:
        levels |= dict.fromkeys(stack.frames[1:], "kernel")
    chart = flame.draw_stacks(
        [(stack.frames, stack.count) for stack in stacks],
        levels,
        1,
        f"Samples of {found.circle} by who called whom; the table says the same in figures",
    )
    views = {"level": found.levels, "with all it calls": found.inclusive, "alone": found.functions}
    return ProfiledSide(title, found.unit, chart, {name: _rows(of) for name, of in views.items()})


def _executed(drawn: Explanation, e: ExplainedTurn) -> ProfiledSide:
    """The exact turn; its shares have no interval."""
    views = {"with all it calls": e.inclusive, "alone": e.functions}
    tables = {name: [_exact_row(e, part) for part in parts] for name, parts in views.items()}
    return ProfiledSide("Instructions", e.unit, flame.draw(drawn), tables)


def _exact_row(e: ExplainedTurn, part: NamedPart) -> tuple[str, ...]:
    return part.name, number(per_turn(part.total, e)), f"{part.total / e.total:.1%}", "exact"


def _rows(parts: Iterable[SampledPart]) -> list[tuple[str, ...]]:
    return [(part.name, *words.cells(part)) for part in parts]
