# SPDX-License-Identifier: BSD-2-Clause
"""A sampled circle, also beside its exact path, and the difference of two, on a terminal and as
JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table

from cyclometer.explain.explanation import Explanation
from cyclometer.explain.profile import LatencyShare, LatencyShares, ShareChange
from cyclometer.record.profile import Profile
from cyclometer.report import explained
from cyclometer.report.beside import beside
from cyclometer.report.comparison import paper
from cyclometer.report.documents.explained import ExplainedTurn, NamedPart
from cyclometer.report.documents.sampled import (
    SampledChange,
    SampledCircle,
    SampledDifference,
    SampledPart,
    SampledStack,
    Sampling,
)
from cyclometer.report.explanation import figures, length, number, options, per_turn

_MOST = 20
_BAR = 20


def heading(found: Sampling) -> list[str]:
    """What was sampled, how, and what the samples cannot tell."""
    lines = [
        f"{found.circle}: {found.title}",
        f"  on {found.target}, {options(found.configuration)}",
        f"  {found.latency:.4g} {found.unit} per turn while sampled; {found.samples} samples by "
        f"{found.event} over {found.turns} turns in {found.window_s:.2g} s",
        f"  {_skid(found)}",
    ]
    if not found.kernel_seen:
        lines.append(
            "  the kernel's part is not seen; allow it with `sysctl kernel.perf_event_paranoid=1`"
        )
    if found.outside or found.lost:
        lines.append(
            f"  not counted: {found.outside} samples of other threads, {found.lost} lost by the "
            "kernel"
        )
    return lines


def _skid(found: Sampling) -> str:
    if found.event == "cpu-clock":
        return (
            "skid: a timer interrupt samples; code that keeps interrupts off is charged to the "
            "function that turns them on again"
        )
    if found.precise:
        return (
            f"skid: precise_ip {found.precise}; the address is that of the instruction or the next"
        )
    return "skid: the address may lie some instructions behind the one that used the time"


def show(found: SampledCircle) -> None:
    """Prints the levels and the functions, in instructions of an exact turn, too, if there is
    one.
    """
    console, exact, unit = paper(), found.exact, found.unit
    for words in heading(found) + ([exact_heading(exact)] if exact else []):
        console.print(words, soft_wrap=True)
    console.print(_table("level", found.levels, unit))
    inclusive, alone = "function, with all it calls", "function alone"
    if exact is not None:
        console.print(_beside(inclusive, found.inclusive, exact.inclusive, exact, unit))
        console.print(_beside(alone, found.functions, exact.functions, exact, unit))
        console.print("Each table has the largest functions of either side; --json lists all.")
        return
    console.print(_table(inclusive, found.inclusive[:_MOST], unit))
    console.print(_table(alone, found.functions[:_MOST], unit))
    if len(found.functions) > _MOST:
        rest = found.functions[_MOST:]
        share = sum(one.share for one in rest)
        console.print(f"and {len(rest)} more functions with {share:.1%} (--json lists them)")


def exact_heading(exact: ExplainedTurn) -> str:
    """What a turn executes, and where it was traced."""
    return (
        f"  the same kernel executes {number(length(exact))} {exact.unit} per turn on "
        f"{exact.target}, {options(exact.configuration)}"
    )


def _beside(
    title: str,
    sampled: Sequence[SampledPart],
    executed: Sequence[NamedPart],
    exact: ExplainedTurn,
    unit: str,
) -> Table:
    """Functions in time and in instructions; a blank says that one side did not meet it."""
    table = figures(f"by {title}", (unit, "share", "interval", exact.unit, "share"))
    for one in beside(sampled, executed, exact)[:_MOST]:
        time = cells(one.sampled) if one.sampled else ("", "", "")
        steps = ("", "")
        if one.executed:
            steps = (number(per_turn(one.executed.total, exact)), f"{one.executed_share:.1%}")
        table.add_row(one.name, *time, *steps)
    return table


def _table(title: str, parts: Iterable[SampledPart], unit: str) -> Table:
    table = figures(f"by {title}", (unit, "share", "interval"), "")
    for part in parts:
        table.add_row(part.name, *cells(part), "█" * round(_BAR * part.share))
    return table


def cells(part: SampledPart) -> tuple[str, str, str]:
    """Its latency, its share and the interval of the share."""
    low, high = part.interval
    return f"{part.value:.4g}", f"{part.share:.1%}", f"{low:.1%} to {high:.1%}"


def show_difference(found: SampledDifference) -> None:
    """Prints both headings and the largest changes."""
    console = paper()
    for side in (found.before, found.after):
        for words in heading(side):
            console.print(words, soft_wrap=True)
    heads = ("before", "after", f"change [{found.before.unit}]", "interval")
    table = figures("by function", heads)
    for one in found.changes[:_MOST]:
        table.add_row(one.name, *changed_cells(one))
    console.print(table)
    console.print(
        "Intervals are those of sampling alone. `compare` judges how far two sessions differ.",
        soft_wrap=True,
    )


def changed_cells(one: SampledChange) -> tuple[str, str, str, str]:
    """Both latencies, the change and its interval."""
    low, high = one.interval
    change = f"{one.after - one.before:+.4g}"
    return f"{one.before:.4g}", f"{one.after:.4g}", change, f"{low:+.3g} to {high:+.3g}"


def as_json(found: LatencyShares, exact: Explanation | None = None) -> SampledCircle:
    """The document that `show` prints: everything, with the stacks."""
    return SampledCircle(
        **_sampling(found.profile),
        levels=_parts(found.levels),
        inclusive=_parts(found.inclusive),
        functions=_parts(found.functions),
        stacks=[SampledStack(list(s.frames), s.level, s.count) for s in found.profile.stacks],
        exact=explained.turn(exact) if exact else None,
    )


def _sampling(p: Profile) -> dict[str, Any]:
    """What every document on samples has."""
    return {
        "circle": p.contract.key,
        "title": p.contract.title,
        "target": p.target,
        "configuration": dict(p.configuration),
        "unit": p.clock.unit,
        "latency": p.a_turn,
        "event": p.event,
        "precise": p.precise,
        "period": p.every,
        "turns": p.turns,
        "window_s": p.window_ns / 1e9,
        "samples": p.seen,
        "expected": p.expected,
        "outside": p.outside,
        "lost": p.lost,
        "kernel_seen": p.kernel_seen,
    }


def _parts(shares: Iterable[LatencyShare]) -> list[SampledPart]:
    return [
        SampledPart(
            one.name,
            one.level,
            one.samples,
            one.share,
            (one.interval.low, one.interval.high),
            one.value,
        )
        for one in shares
    ]


def difference_json(
    before: LatencyShares, after: LatencyShares, changes: Iterable[ShareChange]
) -> SampledDifference:
    """The document that `show_difference` prints: every function's change."""
    listed = [
        SampledChange(one.name, one.before, one.after, (one.change.low, one.change.high))
        for one in changes
    ]
    sides = [Sampling(**_sampling(side.profile)) for side in (before, after)]
    return SampledDifference(sides[0], sides[1], listed)
