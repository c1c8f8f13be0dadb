# SPDX-License-Identifier: BSD-2-Clause
"""The turn that differs beside the common one, on a terminal."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from cyclometer.report import explanation
from cyclometer.report.comparison import paper
from cyclometer.report.documents.explained import ExplainedTail
from cyclometer.report.explanation import number, options, signed

_LENGTHS = 6  # that are listed


def show(found: ExplainedTail) -> None:
    """Prints how often turns differ, and what the farthest one does beyond the common one."""
    console = paper()
    for words in heading(found):
        console.print(words, soft_wrap=True)
    for title, changes in explanation.difference_views(found):
        console.print(explanation.changes_table(title, changes, ("common", "differs", "more")))


def heading(found: ExplainedTail) -> list[str]:
    """What was seen, in words."""
    common, other, unit = found.before, found.after, found.unit
    lines = [
        f"{found.circle}: {found.title}",
        f"  on {common.target}, {options(common.configuration)}",
        f"  common turn {number(common.total)} {unit}",
    ]
    if not found.differing:
        return [*lines, f"  all {_turns(found)} turns that were traced are alike"]
    counts = Counter(found.lengths).most_common()
    listed = ", ".join(f"{length} ({times}x)" for length, times in counts[:_LENGTHS])
    more = f", {len(counts) - _LENGTHS} more" if len(counts) > _LENGTHS else ""
    each = "each turn" if found.turns_each == 1 else f"each {found.turns_each} turns"
    return [
        *lines,
        f"  differs: {number(other.total)} {unit}, {signed(found.change)}: {often(found)}",
        f"  {unit} of {each}: {listed}{more}",
    ]


def often(found: ExplainedTail) -> str:
    """How often a turn differs, in words."""
    seen = f"{len(found.differing)} of {_turns(found)} turns"
    if found.period is not None:
        return f"every {found.period} turns ({seen})"
    gaps = [found.turns_each * (b - a) for a, b in pairwise(found.differing)]
    if not gaps:
        number = found.differing[0] * found.turns_each + 1
        return f"one of {_turns(found)} turns, number {number}"
    few, many = min(gaps), max(gaps)
    return f"{seen}, {few} apart" if few == many else f"{seen}, {few} to {many} apart"


def _turns(found: ExplainedTail) -> int:
    return len(found.lengths) * found.turns_each
