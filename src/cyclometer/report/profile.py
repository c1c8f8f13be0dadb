# SPDX-License-Identifier: BSD-2-Clause
"""A sampled circle, also beside its exact path, and the difference of two, on a terminal and as
JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table

from cyclometer.explain.beside import beside
from cyclometer.explain.explanation import Explanation
from cyclometer.explain.parts import Part
from cyclometer.explain.profile import LatencyShare, LatencyShares, ShareChange
from cyclometer.record.profile import Profile
from cyclometer.report import explanation
from cyclometer.report.comparison import paper
from cyclometer.report.explain_documents import (
    SampledChange,
    SampledCircle,
    SampledDifference,
    SampledPart,
    SampledStack,
)

_MOST = 20
_BAR = 20


def heading(found: LatencyShares) -> list[str]:
    """What was sampled, how, and what the samples cannot tell."""
    p = found.profile
    options = " ".join(f"{name}={value}" for name, value in p.configuration.items())
    lines = [
        f"{p.contract.key}: {p.contract.title}",
        f"  on {p.target}, {options}",
        f"  {p.a_turn:.4g} {p.clock.unit} per turn while sampled; {p.seen} samples by {p.event} "
        f"over {p.turns} turns in {p.window_ns / 1e9:.2g} s",
        f"  {_skid(p)}",
    ]
    if not p.kernel_seen:
        lines.append(
            "  the kernel's part is not seen; allow it with `sysctl kernel.perf_event_paranoid=1`"
        )
    if p.outside or p.lost:
        lines.append(
            f"  not counted: {p.outside} samples of other threads, {p.lost} lost by the kernel"
        )
    return lines


def _skid(p: Profile) -> str:
    if p.event == "cpu-clock":
        return (
            "skid: a timer interrupt samples; code that keeps interrupts off is charged to the "
            "function that turns them on again"
        )
    if p.precise:
        return f"skid: precise_ip {p.precise}; the address is that of the instruction or the next"
    return "skid: the address may lie some instructions behind the one that used the time"


def show(found: LatencyShares, exact: Explanation | None = None) -> None:
    """Prints the levels and the functions, in instructions of an exact turn, too, if there is
    one.
    """
    console = paper()
    for words in heading(found) + ([exact_heading(exact)] if exact else []):
        console.print(words, soft_wrap=True)
    unit = found.profile.clock.unit
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


def exact_heading(exact: Explanation) -> str:
    """What a turn executes, and where it was traced."""
    facts = exact.facts
    return (
        f"  the same kernel executes {explanation.number(exact.length)} {facts.clock.unit} per "
        f"turn on {facts.target}, {explanation.options(facts.configuration)}"
    )


def _beside(
    title: str,
    sampled: Sequence[LatencyShare],
    executed: Sequence[Part[str]],
    exact: Explanation,
    unit: str,
) -> Table:
    """Functions in time and in instructions; a blank says that one side did not meet it."""
    columns = (unit, "share", "interval", exact.facts.clock.unit, "share")
    table = _empty_table(f"by {title}", columns)
    for one in beside(sampled, executed, exact)[:_MOST]:
        time = ("", "", "")
        if one.sampled:
            low, high = one.sampled.interval.low, one.sampled.interval.high
            interval = f"{low:.1%} to {high:.1%}"
            time = (f"{one.sampled.value:.4g}", f"{one.sampled.share:.1%}", interval)
        steps = ("", "")
        if one.executed:
            count = explanation.number(exact.a_turn(one.executed.total))
            steps = (count, f"{one.executed_share:.1%}")
        table.add_row(one.name, *time, *steps)
    return table


def _table(title: str, parts: Iterable[LatencyShare], unit: str) -> Table:
    table = _empty_table(f"by {title}", (unit, "share", "interval"))
    table.add_column("")
    for part in parts:
        low, high = part.interval.low, part.interval.high
        table.add_row(
            part.name,
            f"{part.value:.4g}",
            f"{part.share:.1%}",
            f"{low:.1%} to {high:.1%}",
            "█" * round(_BAR * part.share),
        )
    return table


def _empty_table(title: str, columns: Iterable[str]) -> Table:
    """Names at the left, figures at the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column(title, overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def show_difference(
    before: LatencyShares, after: LatencyShares, changes: Sequence[ShareChange]
) -> None:
    """Prints both headings and the largest changes."""
    console = paper()
    for side in (before, after):
        for words in heading(side):
            console.print(words, soft_wrap=True)
    unit = before.profile.clock.unit
    columns = ("before", "after", f"change [{unit}]", "interval")
    table = _empty_table("by function", columns)
    for one in changes[:_MOST]:
        table.add_row(
            one.name,
            f"{one.before:.4g}",
            f"{one.after:.4g}",
            f"{one.after - one.before:+.4g}",
            f"{one.change.low:+.3g} to {one.change.high:+.3g}",
        )
    console.print(table)
    console.print(
        "Intervals are those of sampling alone. `compare` judges how far two sessions differ.",
        soft_wrap=True,
    )


def as_json(found: LatencyShares, exact: Explanation | None = None) -> SampledCircle:
    """Everything, with the stacks."""
    p = found.profile
    return SampledCircle(
        circle=p.contract.key,
        target=p.target,
        configuration=dict(p.configuration),
        unit=p.clock.unit,
        latency=p.a_turn,
        event=p.event,
        precise=p.precise,
        period=p.every,
        turns=p.turns,
        samples=p.seen,
        expected=p.expected,
        outside=p.outside,
        lost=p.lost,
        kernel_seen=p.kernel_seen,
        levels=_parts(found.levels),
        inclusive=_parts(found.inclusive),
        functions=_parts(found.functions),
        stacks=[SampledStack(list(one.frames), one.level, one.count) for one in p.stacks],
        exact=explanation.turn_json(exact) if exact else None,
    )


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


def difference_json(changes: Iterable[ShareChange]) -> SampledDifference:
    """Every function's change."""
    return SampledDifference(
        [
            SampledChange(one.name, one.before, one.after, (one.change.low, one.change.high))
            for one in changes
        ]
    )
