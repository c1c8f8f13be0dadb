# SPDX-License-Identifier: BSD-2-Clause
"""A sampled circle, and the difference of two, on a terminal, as JSON and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.table import Table

from cyclometer.explain.profile import LatencyShare, LatencyShares, ShareChange
from cyclometer.record.profile import Profile
from cyclometer.report.chart import flame
from cyclometer.report.comparison import paper
from cyclometer.report.html.explanation import explained, flame_figure
from cyclometer.report.html.overview import breakable
from cyclometer.report.markup import Markup, tag

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


def show(found: LatencyShares) -> None:
    """Prints the levels and the functions."""
    console = paper()
    for words in heading(found):
        console.print(words, soft_wrap=True)
    unit = found.profile.clock.unit
    console.print(_table("level", found.levels, unit))
    console.print(_table("function, with all it calls", found.inclusive[:_MOST], unit))
    console.print(_table("function alone", found.functions[:_MOST], unit))
    if len(found.functions) > _MOST:
        rest = found.functions[_MOST:]
        share = sum(one.share for one in rest)
        console.print(f"and {len(rest)} more functions with {share:.1%} (--json lists them)")


def _table(title: str, parts: Iterable[LatencyShare], unit: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column(f"by {title}", overflow="fold")
    for name in (unit, "share", "interval"):
        table.add_column(name, justify="right", no_wrap=True)
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


def show_difference(
    before: LatencyShares, after: LatencyShares, changes: Sequence[ShareChange]
) -> None:
    """Prints both headings and the largest changes."""
    console = paper()
    for side in (before, after):
        for words in heading(side):
            console.print(words, soft_wrap=True)
    unit = before.profile.clock.unit
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("by function", overflow="fold")
    for name in ("before", "after", f"change [{unit}]", "interval"):
        table.add_column(name, justify="right", no_wrap=True)
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


def as_json(found: LatencyShares) -> dict[str, Any]:
    """Everything, with the stacks."""
    p = found.profile
    return {
        "circle": p.contract.key,
        "target": p.target,
        "configuration": p.configuration,
        "unit": p.clock.unit,
        "latency": p.a_turn,
        "event": p.event,
        "precise": p.precise,
        "period": p.every,
        "turns": p.turns,
        "samples": p.seen,
        "expected": p.expected,
        "outside": p.outside,
        "lost": p.lost,
        "kernel_seen": p.kernel_seen,
        "levels": [_share(part) for part in found.levels],
        "inclusive": [_share(part) for part in found.inclusive],
        "functions": [_share(part) for part in found.functions],
        "stacks": [
            {"frames": stack.frames, "level": stack.level, "samples": stack.count}
            for stack in p.stacks
        ],
    }


def _share(part: LatencyShare) -> dict[str, Any]:
    return {
        "name": part.name,
        "level": part.level,
        "samples": part.samples,
        "share": part.share,
        "interval": [part.interval.low, part.interval.high],
        "value": part.value,
    }


def difference_json(changes: Iterable[ShareChange]) -> list[dict[str, Any]]:
    """Every function's change."""
    return [
        {
            "name": one.name,
            "before": one.before,
            "after": one.after,
            "interval": [one.change.low, one.change.high],
        }
        for one in changes
    ]


def document(sides: Sequence[LatencyShares], changes: Sequence[ShareChange]) -> str:
    """One sampled circle, or two and what changed, to be written as UTF-8."""
    key = sides[0].profile.contract.key
    title = f"Sampled: {key}"
    parts = [_change_rows(changes)] if changes else []
    for side, name in zip(sides, ("Before", "After") if changes else ("Functions",), strict=True):
        parts.append(_side(side, name))
    lines = [tag("p", line, cls="lead") for line in heading(sides[0])]
    header = tag("header", tag("h1", breakable(title)), *lines)
    return explained(title, header, parts)


def _side(found: LatencyShares, name: str) -> Markup:
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
    return tag(
        "section",
        tag("h2", name),
        flame_figure(chart),
        flame.legend(["user", "kernel"]),
        *(_view(title, parts, p.clock.unit) for title, parts in views.items()),
    )


def _view(title: str, parts: Iterable[LatencyShare], unit: str) -> Markup:
    rows = [
        (part.name, f"{part.value:.4g}", f"{part.share:.1%}", _interval(part)) for part in parts
    ]
    return _rows((title, f"{unit} per turn", "share", "interval at 95 %"), rows)


def _interval(part: LatencyShare) -> str:
    return f"{part.interval.low:.1%} to {part.interval.high:.1%}"


def _change_rows(changes: Sequence[ShareChange]) -> Markup:
    rows = [
        (
            one.name,
            f"{one.before:.4g}",
            f"{one.after:.4g}",
            f"{one.after - one.before:+.4g}",
            f"{one.change.low:+.3g} to {one.change.high:+.3g}",
        )
        for one in changes
    ]
    head = ("function", "before", "after", "change", "interval at 95 %")
    return tag("section", tag("h2", "What changed"), _rows(head, rows))


def _rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    body = [tag("tr", tag("th", first, scope="row"), *map(_cell, rest)) for first, *rest in rows]
    top = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head)))
    return tag("div", tag("table", top, tag("tbody", *body)), cls="scroll")


def _cell(words: str) -> Markup:
    return tag("td", words)
