# SPDX-License-Identifier: BSD-2-Clause
"""What is in the cells of a comparison, whatever prints it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from cyclometer.compare.finding import Finding
from cyclometer.compare.pairing import ComparedCircle
from cyclometer.estimate import digits
from cyclometer.report.table import latency

# half-widths that resolve a change to a tenth and to a hundredth of a percent
_WHOLE, _TENTH, _FINEST = (0.99, 0.0099, 0.0005)


def distinguishing_options(findings: Iterable[Finding]) -> frozenset[str]:
    """Options of the configuration that distinguish rows of one key."""
    values: dict[tuple[str, str], set[str]] = {}
    for f in findings:
        either = f.pair.before or f.pair.after
        for name, value in configuration(either).items():
            values.setdefault((f.key, name), set()).add(value)
    return frozenset(name for (_, name), seen in values.items() if len(seen) > 1)


def label(f: Finding, distinguishing: Iterable[str]) -> str:
    """The key, of the configuration what distinguishes it, and the statistic if it is another one
    than the latency.
    """
    options = configuration(f.pair.before or f.pair.after)
    named = ", ".join(
        f"{name}={options[name]}" for name in sorted(distinguishing) if name in options
    )
    on = "" if f.pair.on == "latency" else f" ({f.pair.on})"
    return f"{f.key} [{named}]{on}" if named else f"{f.key}{on}"


def latencies(f: Finding) -> tuple[str, str]:
    """Before and after as printed, in the unit of the finding."""
    before, after = ("" if side is None else latency(side) for side in (f.before, f.after))
    return before, after


def change(f: Finding) -> str:
    """The change in percent of before, with the digits its interval supports; empty where there is
    none.
    """
    return (
        "" if f.change is None else signed(f.change, f.interval.half_width if f.interval else 0.0)
    )


def interval(f: Finding) -> str:
    """The interval of the change; empty if there is none or it is a point."""
    if f.interval is None or not f.interval.half_width:
        return ""
    ends = [
        signed(end, f.interval.half_width).removesuffix(" %")
        for end in (f.interval.low, f.interval.high)
    ]
    return f"{ends[0]} to {ends[1]} %"


def overall(f: Finding) -> str:
    """The change of the overall latency, which the verdict does not rest on; empty where it is that
    of the latency.
    """
    if f.overall_change is None or f.overall_change == f.change:
        return ""
    return signed(f.overall_change, f.interval.half_width if f.interval else 0.0)


def signed(fraction: float, half_width: float = 0.0) -> str:
    """A change as people read it, e.g. "+3.2 %", with the digits its half-width supports, but to
    ten percent at least; 0 stands for no interval.
    """
    if not math.isfinite(fraction):
        return str(fraction)
    supported = min(half_width, _WHOLE) if half_width > 0.1 else min(half_width, _TENTH)
    text = digits.percent(fraction, supported or min(_FINEST, abs(fraction) / 10 or _FINEST))
    return text.lstrip("-") if not text.strip("-0. %") else "+" * (fraction > 0) + text


def why(f: Finding) -> str:
    """Why a finding has its verdict, and what disagrees with it."""
    reasons = f.reason if f.disagreement in f.reason else f"{f.reason}; {f.disagreement}"
    return reasons.strip("; ")


def configuration(circle: ComparedCircle | None) -> dict[str, str]:
    return {} if circle is None else circle.estimate.configuration
