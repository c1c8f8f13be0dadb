# SPDX-License-Identifier: BSD-2-Clause
"""Estimates as a terminal table and as JSON."""

from __future__ import annotations

import math
from typing import Any

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table

from cyclometer.bundle.model import Bundle
from cyclometer.estimate import digits
from cyclometer.estimate.direct import DirectEstimate
from cyclometer.estimate.interval import Interval
from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.estimate.regimes import Regime
from cyclometer.estimate.rows import Estimate, estimates
from cyclometer.report.circle import names
from cyclometer.units import to_ns

_WIDE = 160  # columns from which the whole table is shown
_UNBOUNDED = 1000  # a file or a pipe has no edge


def show(bundle: Bundle) -> None:
    """Prints the table of a bundle and what its reader must know, on standard output."""
    found = estimates(bundle)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _UNBOUNDED
    console.print(_title(bundle, found), soft_wrap=True)
    console.print(table(found, wide=console.width >= _WIDE))
    for line in footnotes(bundle, found):
        console.print(line, style="dim", soft_wrap=True)


def table(found: list[Estimate], wide: bool = True) -> Table:
    """One line per circle: quiet latency with its interval first, what to doubt last; fewer columns unless `wide`."""
    unit = found[0].clock.unit if found else ""
    result = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for name, left, narrow in _COLUMNS:
        if wide or narrow:
            header = f"quiet [{unit}]" if name == "quiet" else name
            result.add_column(header, justify="left" if left else "right", no_wrap=True)
    for name, estimate in zip(names(found), found, strict=True):
        cells = [name, *_cells(estimate)]
        chosen = [cell for cell, (_, _, narrow) in zip(cells, _COLUMNS, strict=False) if wide or narrow]
        result.add_row(*chosen, style=None if estimate.valid else "red")
    return result


# name, left-aligned, shown on a narrow terminal
_COLUMNS = (
    ("circle", True, True), ("quiet", False, True), ("ns", False, True), ("typical", False, False),
    ("fixed c", False, False), ("cold", False, False), ("spread", False, True), ("tests", False, True),
    ("set aside", True, False), ("steady", True, False),
)  # fmt: skip


def _cells(e: Estimate) -> list[str]:
    """What stands behind the name."""
    if e.quiet is None or not e.valid:
        absent = "none" if e.method == "reported" else "not run"
        return ["invalid" if e.tests or e.set_aside else absent, *[""] * (len(_COLUMNS) - 2)]
    return [
        with_interval(e.quiet),
        nanoseconds(e),
        "" if e.typical is None else latency(e.typical),
        fixed_cost(e),
        "" if e.cold is None else f"{e.cold:.0f}",
        f"{100 * e.quiet.spread:.2f} %" if e.quiet.runs > 1 else "one run",
        str(e.tests),
        set_aside(e),
        e.steadiness,
    ]


def with_interval(level: LevelsEstimate | Regime) -> str:
    """A latency with its half-width and no more digits than that supports; alone where nothing bounds it."""
    half_width = level.interval.half_width
    return digits.with_interval(level.value, half_width) if math.isfinite(half_width) else digits.plain(level.value)


def latency(level: LevelsEstimate | Regime) -> str:
    """A latency without its half-width, and with no more digits than that supports."""
    return with_interval(level).partition(" ± ")[0]


def nanoseconds(e: Estimate) -> str:
    """The quiet latency in ns; empty where the clock has no rate or is one of ns already."""
    if e.quiet is None or e.ns is None or e.clock.unit == "ns":
        return ""
    half_ns = to_ns(e.quiet.interval.half_width, e.clock.unit, e.clock.hz) or math.inf
    return digits.rounded(e.ns, half_ns) if math.isfinite(half_ns) else digits.plain(e.ns)


def fixed_cost(e: Estimate) -> str:
    """c of A = c + b N, marked where the line does not hold."""
    if e.fixed_cost is None:
        return ""
    bent = " (bent)" if e.fixed_cost.line_holds() is False else ""
    return digits.rounded(e.fixed_cost.c, e.fixed_cost.c_interval.half_width) + bent


def quantiles(tails: DirectEstimate) -> str:
    """Least, largest, and what lies between with intervals; a quantile that the passes cannot bound is left out."""
    each = (
        f"p{100 * q.p:g} {digits.rounded(q.value, q.interval.half_width)} ({_ends(q.interval)})"
        for q in tails.supported
    )
    return ", ".join((f"min {tails.minimum:.0f}", *each, f"max {tails.maximum:.0f}"))


def _ends(interval: Interval) -> str:
    return " to ".join(digits.rounded(end, interval.half_width) for end in (interval.low, interval.high))


def set_aside(e: Estimate) -> str:
    """Causes and counts of the tests that do not count."""
    return ", ".join(f"{count} {cause}" for cause, count in e.set_aside.items())


def _title(bundle: Bundle, found: list[Estimate]) -> str:
    identity = bundle.identity
    clock = found[0].clock if found else None
    rate = f" at {clock.hz / 1e6:.1f} MHz" if clock and clock.hz and clock.unit != "instructions" else ""
    unit = f"clock {clock.name} ({clock.unit}{rate})" if clock else "no clock"
    policy = found[0].configuration.get("policy", "") if found else ""
    label = f", [bold red]{policy}[/]" if policy == "unprivileged" else ""
    kernel = identity.environment.get("target_kernel", "")
    name = identity.title or (identity.target if identity.target != "unknown" else "unknown machine")
    return ", ".join([" ".join(filter(None, (f"[bold]{name}[/]", kernel))), unit, _runs(found) + label])


def _runs(found: list[Estimate]) -> str:
    most = max((len(e.runs) for e in found), default=0)
    return f"{most} run{'s' if most != 1 else ''}"


def footnotes(bundle: Bundle, found: list[Estimate]) -> list[str]:
    """What the table's words mean here, and everything that went wrong."""
    notes = ["quiet: lowest sustained regime; intervals at 95 %, " + _scope(found) + "; typical: all tests that count."]
    if any(e.valid and e.quiet and not math.isfinite(e.quiet.interval.half_width) for e in found):
        notes.append("a latency without ± is one figure whose spread is not known.")
    wrong = [e for e in found if not e.valid]
    if wrong:
        notes.append(f"{len(wrong)} of {len(found)} circles have no valid latency and enter no comparison:")
        notes += [f"  {name}: {e.reason}" for name, e in zip(names(found), found, strict=True) if not e.valid]
    gaps = [e.contract.key for e in found if _disagree(e)]
    if gaps:
        circles = f"{len(gaps)} circle{'s' if len(gaps) > 1 else ''}"
        why = "their latency hangs on what ran before" if found[0].clock.exact else "the machine changed regime"
        notes.append(f"quiet and typical differ by more than 5 % in {circles}: {why}.")
    unproven = sorted({name for e in found for name in e.unproven})
    if unproven:
        notes.append(f"not counted on this machine, so not proven: {', '.join(unproven)}.")
    assumption = next((e.assumption for e in found if e.assumption), "")
    if assumption:
        notes.append(f"intervals of printed figures take for granted: {assumption}.")
    told = {f"circle {e.contract.key}" for e in wrong}
    problems = [p for p in bundle.identity.problems if p.where not in told]
    notes += [": ".join(filter(None, (p.kind, p.where, p.what))) for p in problems]
    return notes


def _scope(found: list[Estimate]) -> str:
    scopes = {e.quiet.scope for e in found if e.quiet}
    return " and ".join(sorted(scopes)) or "none"


def _disagree(e: Estimate) -> bool:
    return bool(e.quiet and e.typical and e.typical.value > 1.05 * e.quiet.value)


def as_json(bundle: Bundle) -> dict[str, Any]:
    """{"clock", "rows": [...]} as `show --json` prints it."""
    found = estimates(bundle)
    clock = found[0].clock if found else None
    return {
        "bundle": bundle.digest,
        "target": bundle.identity.target,
        "clock": clock and msgspec.to_builtins(clock),
        "rows": [row_json(e) for e in found],
        "problems": [{"kind": p.kind, "where": p.where, "what": p.what} for p in bundle.identity.problems],
    }


def row_json(e: Estimate) -> dict[str, Any]:
    """One estimate as plain data; numbers that do not exist are null."""
    return {
        "key": e.contract.key,
        "configuration": e.configuration,
        "params": e.contract.params,
        "method": e.method,
        "unit": e.clock.unit,
        "estimate": e.quiet and e.quiet.value,
        "interval": e.quiet and finite([e.quiet.interval.low, e.quiet.interval.high]),
        "scope": e.quiet and e.quiet.scope,
        "ns": e.ns,
        "typical": e.typical and e.typical.value,
        "typical_interval": e.typical and finite([e.typical.interval.low, e.typical.interval.high]),
        "fixed_cost": e.fixed_cost and e.fixed_cost.c,
        "line_holds": e.fixed_cost and e.fixed_cost.line_holds(),
        "cold": e.cold,
        "spread": e.quiet and e.quiet.spread if e.quiet and e.quiet.runs > 1 else None,
        "runs": len(e.runs),
        "tests": e.tests,
        "set_aside": e.set_aside,
        "steadiness": e.steadiness,
        "valid": e.valid,
        "reason": e.reason,
        "unproven": list(e.unproven),
        "quantiles": e.tails and {str(q.p): q.value for q in e.tails.supported},
    }


def finite(ends: list[float]) -> list[float | None]:
    """JSON has no infinity: an open end is null."""
    return [end if math.isfinite(end) else None for end in ends]
