# SPDX-License-Identifier: BSD-2-Clause
"""Estimates as a terminal table, and as the document that JSON is made from."""

from __future__ import annotations

import math

from rich import box
from rich.table import Table
from rich.text import Text

from cyclometer.bundle.model import Bundle
from cyclometer.estimate import digits, extremes, frequency
from cyclometer.estimate.direct import DirectEstimate
from cyclometer.estimate.interval import Interval
from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.estimate.regimes import Regime
from cyclometer.estimate.rows import Estimate, estimates
from cyclometer.report import brief
from cyclometer.report.circle import names
from cyclometer.report.documents import measured, members
from cyclometer.report.terminal import Terminal
from cyclometer.text import plain


def show(bundle: Bundle, wide: bool = False) -> None:
    """Prints the table of a bundle and what its reader must know, on standard output; `wide` is
    with every column.
    """
    found = brief.order(estimates(bundle))
    console = Terminal()
    console.print(_title(bundle, found), soft_wrap=True)
    if wide:
        console.print(table(found))
    else:
        for row in brief.lines(found, brief.page_columns()):
            console.print(row, soft_wrap=True)
    for line in [*([] if wide else brief.footnotes(found)), *footnotes(bundle, found, wide)]:
        console.print(line, style="dim", soft_wrap=True)


def table(found: list[Estimate]) -> Table:
    """One line per circle: latency with its interval first, what to doubt last."""
    unit = found[0].clock.unit if found else ""
    result = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for name, left in _COLUMNS:
        header = f"latency [{unit}]" if name == "latency" else name
        result.add_column(header, justify="left" if left else "right", no_wrap=True)
    for name, estimate in zip(names(found), found, strict=True):
        result.add_row(name, *_cells(estimate), style=None if estimate.valid else "red")
    return result


# name, left-aligned
_COLUMNS = (
    ("circle", True),
    ("latency", False),
    ("ns", False),
    ("overall", False),
    ("fixed c", False),
    ("first pass", False),
    ("spread", False),
    ("tests", False),
    ("excluded", True),
    ("steady", True),
)


def _cells(e: Estimate) -> list[str]:
    """What stands behind the name."""
    if e.latency is None or not e.valid:
        absent = "none" if e.method == "reported" else "not run"
        return ["invalid" if e.tests or e.set_aside else absent, *[""] * (len(_COLUMNS) - 2)]
    return [
        with_interval(e.latency),
        brief.nanoseconds(e),
        "" if e.overall is None else latency(e.overall),
        fixed_cost(e),
        "" if e.cold is None else f"{e.cold:.0f}",
        f"{100 * e.latency.spread:.2f} %" if e.latency.runs > 1 else "one run",
        str(e.tests),
        set_aside(e),
        e.steadiness,
    ]


def with_interval(level: LevelsEstimate | Regime) -> str:
    """A latency with its half-width and no more digits than that supports, but one at least; alone
    if nothing bounds it, or if that is so wide that only its upper bound is printed.
    """
    value, half_width = level.value, level.interval.half_width
    if not math.isfinite(half_width) or level.interval.unknown(value):
        return digits.figure(value, level.interval)
    if value and half_width > abs(value):
        shown = digits.figure(value, level.interval)
        return f"{shown} ± {digits.rounded(half_width, half_width)}"
    return digits.with_interval(value, half_width)


def latency(level: LevelsEstimate | Regime) -> str:
    """A latency without its half-width, and with no more digits than that supports."""
    return with_interval(level).partition(" ± ")[0]


def fixed_cost(e: Estimate) -> str:
    """c of A = c + b N, marked where the line does not hold."""
    if e.fixed_cost is None:
        return ""
    bent = " (bent)" if e.fixed_cost.line_holds() is False else ""
    return digits.rounded(e.fixed_cost.c, e.fixed_cost.c_interval.half_width) + bent


def quantiles(tails: DirectEstimate) -> str:
    """Least, largest, and what lies between with intervals; a quantile that the passes cannot bound
    is left out.
    """
    each = (
        f"p{100 * q.p:g} {digits.rounded(q.value, q.interval.half_width)} ({_ends(q.interval)})"
        for q in tails.supported
    )
    return ", ".join((f"min {tails.minimum:.0f}", *each, f"max {tails.maximum:.0f}"))


def _ends(interval: Interval) -> str:
    return " to ".join(
        digits.rounded(end, interval.half_width) for end in (interval.low, interval.high)
    )


def set_aside(e: Estimate) -> str:
    """Causes and counts of the tests that do not count."""
    return ", ".join(f"{count} {cause}" for cause, count in e.set_aside.items())


def _title(bundle: Bundle, found: list[Estimate]) -> Text:
    """What was measured where, by which clock and how often."""
    identity = bundle.identity
    clock = found[0].clock if found else None
    rate = (
        f" at {clock.hz / 1e6:.1f} MHz"
        if clock and clock.hz and clock.unit != "instructions"
        else ""
    )
    unit = f"clock {clock.name} ({clock.unit}{rate})" if clock else "no clock"
    policy = found[0].configuration.get("policy", "") if found else ""
    kernel = str(identity.environment.get("target_kernel", ""))
    name = identity.title or (
        identity.target if identity.target != "unknown" else "unknown machine"
    )
    title = Text(plain(name), style="bold")
    if kernel:
        title.append(plain(f" {kernel}"), style="not bold")
    title.append(plain(f", {unit}, {_runs(found)}"), style="not bold")
    if policy not in ("", "fifo"):
        title.append(f", {policy}", style="red")
    return title


def _runs(found: list[Estimate]) -> str:
    most = max((len(e.runs) for e in found), default=0)
    return f"{most} run{'s' if most != 1 else ''}"


_EXTREMES_MOST = 16  # lines; `show --circle` has each


def _printed_extremes(bundle: Bundle, found: list[Estimate]) -> list[str]:
    """The least and the most that a foreign tool printed of each row, which have no column."""
    rows = {bundle.identity.rows[s.row].contract.key for s in bundle.identity.summaries}
    lines = []
    for name, e in zip(names(found), found, strict=True):
        both = extremes.extremes(bundle, e.contract.key) if e.contract.key in rows else None
        if both is not None and both.passes is None:
            lines.append(f"{name}: min {both.least:g}, max {both.most:g} {e.clock.unit}")
    return lines[:_EXTREMES_MOST]


def footnotes(bundle: Bundle, found: list[Estimate], wide: bool = True) -> list[str]:
    """What the table's words mean here, and everything that went wrong; unless `wide`, less what
    the letters of the brief table say.
    """
    notes = [
        "intervals at 95 %, "
        + _scope(found)
        + "; overall: all tests that count; excluded: tests that something disturbed."
    ]
    core = frequency.seen(bundle)
    if core is not None:
        notes.append(frequency_line(core))
    shown = [e.latency for e in found if e.valid and e.latency]
    if not all(math.isfinite(latency.interval.half_width) for latency in shown):
        notes.append("a latency without an interval is one figure whose spread is not known.")
    if wide and any(latency.interval.unknown(latency.value) for latency in shown):
        notes.append(f"where a figure begins with <, {brief.UNKNOWN}.")
    notes += _printed_extremes(bundle, found)
    wrong = [e for e in found if not e.valid]
    if wrong:
        notes.append(
            f"{len(wrong)} of {len(found)} circles have no valid latency and enter no comparison:"
        )
        notes += [
            f"  {name}: {e.reason}"
            for name, e in zip(names(found), found, strict=True)
            if not e.valid
        ]
    gaps = [e.contract.key for e in found if _disagree(e)]
    if gaps and wide:
        circles = f"{len(gaps)} circle{'s' if len(gaps) > 1 else ''}"
        why = (
            "their latency depends on what ran before"
            if found[0].clock.exact
            else "the machine changed regime"
        )
        notes.append(f"base and overall differ by more than 5 % in {circles}: {why}.")
    unproven = sorted({name for e in found for name in e.unproven})
    if unproven:
        notes.append(f"not counted on this machine, so not proven: {', '.join(unproven)}.")
    assumption = next((e.assumption for e in found if e.assumption), "")
    if assumption:
        notes.append(f"intervals of printed figures assume: {assumption}.")
    listed = {f"circle {e.contract.key}" for e in wrong}
    problems = [p for p in bundle.identity.problems if p.where not in listed]
    notes += [": ".join(filter(None, (p.kind, p.where, p.what))) for p in problems]
    return notes


def frequency_line(core: frequency.Frequency) -> str:
    """What the frequency did, in a sentence."""
    mean, low, high = (f"{hz / 1e9:.2f}" for hz in (core.mean_hz, core.low_hz, core.high_hz))
    return (
        f"the core ran at {mean} GHz on average, in nine visits of ten at {low} to {high} GHz: "
        "taken off each test; ns are those of the average."
    )


def _scope(found: list[Estimate]) -> str:
    scopes = {e.latency.scope for e in found if e.latency}
    return " and ".join(sorted(scopes)) or "none"


def _disagree(e: Estimate) -> bool:
    return bool(e.base and e.overall and e.overall.value > 1.05 * e.base.value)


def as_json(bundle: Bundle) -> measured.Estimates:
    """Every circle of a bundle, as `show --json` prints them."""
    found = estimates(bundle)
    return measured.Estimates(
        bundle=bundle.digest,
        target=bundle.identity.target,
        clock=found[0].clock if found else None,
        rows=[row(e) for e in found],
        problems=members.problems(bundle.identity.problems),
    )


def row(e: Estimate) -> measured.Row:
    """One estimate; what does not exist is None."""
    latency, overall, fit = e.latency, e.overall, e.fixed_cost
    return measured.Row(
        key=e.contract.key,
        configuration=e.configuration,
        params=e.contract.params,
        method=e.method,
        unit=e.clock.unit,
        estimate=members.value(latency),
        interval=None if latency is None else members.ends(latency.interval),
        scope=None if latency is None else latency.scope,
        ns=e.ns,
        base=members.value(e.base),
        overall=members.value(overall),
        overall_interval=None if overall is None else members.ends(overall.interval),
        fixed_cost=None if fit is None else fit.c,
        line_holds=None if fit is None else fit.line_holds(),
        first_pass=e.cold,
        spread=latency.spread if latency and latency.runs > 1 else None,
        runs=len(e.runs),
        tests=e.tests,
        set_aside=e.set_aside,
        steadiness=e.steadiness,
        settled=e.settled,
        valid=e.valid,
        reason=e.reason,
        unproven=list(e.unproven),
        quantiles={str(q.p): q.value for q in e.tails.supported} if e.tails else None,
    )
