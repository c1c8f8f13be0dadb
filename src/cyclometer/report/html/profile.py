# SPDX-License-Identifier: BSD-2-Clause
"""A sampled circle, or two and what changed, as one HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cyclometer.explain.explanation import Explanation
from cyclometer.explain.parts import Part
from cyclometer.explain.profile import LatencyShare, LatencyShares, ShareChange
from cyclometer.report import explanation
from cyclometer.report import profile as words
from cyclometer.report.chart import flame
from cyclometer.report.chart.plot import Chart
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
    return render.page(
        "profile.html",
        "flame.js",
        title=f"Sampled: {sides[0].profile.contract.key}",
        lead=words.heading(sides[0]) + ([words.exact_heading(exact)] if exact else []),
        links=[],
        changes=[_change(one) for one in changes],
        sides=shown + ([_executed(exact)] if exact else []),
        levels=flame.legend(["user", "kernel"]),
    )


def _side(found: LatencyShares, title: str) -> ProfiledSide:
    p = found.profile
    levels = {stack.frames[-1]: stack.level for stack in p.stacks}
    for stack in p.stacks:
        levels |= dict.fromkeys(stack.frames[1:], "kernel")
    chart = flame.draw_stacks(
        [(stack.frames, stack.count) for stack in p.stacks],
        levels,
        1,
        f"Samples of {p.contract.key} by who called whom; the table says the same in figures",
    )
    views = {"level": found.levels, "with all it calls": found.inclusive, "alone": found.functions}
    return ProfiledSide(title, p.clock.unit, chart, {name: _rows(of) for name, of in views.items()})


def _executed(e: Explanation) -> ProfiledSide:
    """The exact turn; its shares have no interval."""
    views = {"with all it calls": e.inclusive, "alone": e.functions}
    tables = {name: [_exact_row(e, part) for part in parts] for name, parts in views.items()}
    return ProfiledSide("Instructions", e.facts.clock.unit, flame.draw(e), tables)


def _exact_row(e: Explanation, part: Part[str]) -> tuple[str, ...]:
    count = explanation.number(e.a_turn(part.total))
    return (part.name, count, f"{part.total / e.turn.length:.1%}", "exact")


def _rows(parts: Iterable[LatencyShare]) -> list[tuple[str, ...]]:
    return [
        (
            part.name,
            f"{part.value:.4g}",
            f"{part.share:.1%}",
            f"{part.interval.low:.1%} to {part.interval.high:.1%}",
        )
        for part in parts
    ]


def _change(one: ShareChange) -> tuple[str, ...]:
    return (
        one.name,
        f"{one.before:.4g}",
        f"{one.after:.4g}",
        f"{one.after - one.before:+.4g}",
        f"{one.change.low:+.3g} to {one.change.high:+.3g}",
    )
