# SPDX-License-Identifier: BSD-2-Clause
"""The turn that differs beside the common one, on a terminal and as JSON."""

from __future__ import annotations

from collections import Counter

from cyclometer.explain.tail import Tail
from cyclometer.report import explanation
from cyclometer.report.comparison import paper
from cyclometer.report.explain_documents import ExplainedTail
from cyclometer.report.explanation import number, options, signed

_LENGTHS = 6  # that are listed


def show(found: Tail) -> None:
    """Prints how often turns differ, and what the farthest one does beyond the common one."""
    console = paper()
    for words in heading(found):
        console.print(words, soft_wrap=True)
    for title, changes in explanation.difference_views(found.difference):
        if title != "cause" or explanation.many_causes(found.difference.after):
            console.print(explanation.changes_table(title, changes, ("common", "differs", "more")))


def heading(found: Tail) -> list[str]:
    """What was seen, in words."""
    e, whole = found.difference.before, found.difference.whole
    unit = e.facts.clock.unit
    lines = [
        f"{e.facts.contract.key}: {e.facts.contract.title}",
        f"  on {e.facts.target}, {options(e.facts.configuration)}",
        f"  common turn {number(whole.before)} {unit}",
    ]
    if not found.at:
        return [*lines, f"  all {_turns(found)} turns that were traced are alike"]
    counts = Counter(found.lengths).most_common()
    listed = ", ".join(f"{length} ({times}x)" for length, times in counts[:_LENGTHS])
    more = f", {len(counts) - _LENGTHS} more" if len(counts) > _LENGTHS else ""
    of = f"{unit} of each turn" if found.each == 1 else f"{unit} of each {found.each} turns"
    return [
        *lines,
        f"  differs: {number(whole.after)} {unit}, {signed(whole.change)}: {often(found)}",
        f"  {of}: {listed}{more}",
    ]


def often(found: Tail) -> str:
    """How often a turn differs, in words."""
    seen = f"{len(found.at)} of {_turns(found)} turns"
    if found.period is not None:
        return f"every {found.period * found.each} turns ({seen})"
    if not found.gaps:
        return f"one of {_turns(found)} turns, number {found.at[0] * found.each + 1}"
    few, many = (bound * found.each for bound in (min(found.gaps), max(found.gaps)))
    return f"{seen}, {few} apart" if few == many else f"{seen}, {few} to {many} apart"


def _turns(found: Tail) -> int:
    return len(found.lengths) * found.each


def as_json(found: Tail) -> ExplainedTail:
    """All lengths, and the changes of `explain --diff` from the common turn to the other."""
    return ExplainedTail(
        **explanation.difference_members(found.difference),
        turns_each=found.each,
        lengths=list(found.lengths),
        common=found.common,
        differing=list(found.at),
        period=None if found.period is None else found.period * found.each,
    )
