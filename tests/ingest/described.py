# SPDX-License-Identifier: BSD-2-Clause
"""A bundle of foreign figures as lines that a reviewer can hold against the file they came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cyclometer.bundle.model import Bundle, Row, Summary

_FEW = 6  # raw values that a line shows


def described(bundle: Bundle) -> str:
    """A line per row with key, params, clock and direction, one per figure, one per problem."""
    return "\n".join(_lines(bundle)) + "\n"


def _lines(bundle: Bundle) -> Iterator[str]:
    yield f"target: {bundle.identity.target}"
    for index, row in enumerate(bundle.identity.rows):
        yield _row(row)
        for summary in bundle.identity.summaries:
            if summary.row == index:
                yield f"    run {summary.run}: {_figures(summary)}"
        yield from _values(bundle, index)
    for problem in bundle.identity.problems:
        yield f"{problem.kind}: {problem.where}: {problem.what}"


def _row(row: Row) -> str:
    parts = [
        row.contract.key,
        f"{row.clock.name} [{row.clock.unit}]{' exact' if row.clock.exact else ''}",
        f"{row.better} is better",
        row.method,
        _pairs(row.contract.params),
        _pairs(row.configuration),
    ]
    return " | ".join(part for part in parts if part)


def _pairs(options: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())


def _figures(summary: Summary) -> str:
    names = ("n", "mean", "sd", "minimum", "maximum", "median", "step")
    found = {name: getattr(summary, name) for name in names}
    found["step"] = summary.step or None
    found |= {f"p{p}": value for p, value in summary.quantiles.items()} | summary.extra
    shown = [f"{name} {value:.10g}" for name, value in found.items() if value is not None]
    shown += [f"visit {summary.visit}"] if summary.visit >= 0 else []
    shown += [summary.status, summary.note] if summary.status != "ok" else []
    return ", ".join(shown)


def _values(bundle: Bundle, index: int) -> Iterator[str]:
    s = bundle.samples
    for run in dict.fromkeys(s.run[s.row == index].tolist()):
        mine = (s.row == index) & (s.run == run)
        shown = ", ".join(f"{value:.10g}" for value in s.value[mine][:_FEW])
        more = f", ... {int(mine.sum())} values" if mine.sum() > _FEW else ""
        turns = int(s.turns[mine][0])
        yield f"    run {run}: {shown}{more}" + (f" of {turns} turns" if turns > 1 else "")
