# SPDX-License-Identifier: BSD-2-Clause
"""Rows against the counts that a file expects, as lines of text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import click

from cyclometer.compare.expected import Verdict
from cyclometer.errors import FAILED, NOT_COMPARABLE, PASS, REGRESSED
from cyclometer.explain.difference import Difference
from cyclometer.report.cells import signed
from cyclometer.report.documents.compared import Expected, ExpectedRow
from cyclometer.text import plain

_MOST_FUNCTIONS = 3
_ORDER = ("changed", "invalid", "gone", "new")


def code(found: Sequence[Verdict]) -> int:
    """1 for a count that is another one in either direction, 5 for a row that is not valid, 4 for
    one that is gone, in that order.
    """
    counts = Counter(one.verdict for one in found)
    if counts["changed"]:
        return REGRESSED
    if counts["invalid"]:
        return FAILED
    return NOT_COMPARABLE if counts["gone"] else PASS


def show(found: Sequence[Verdict], functions: Mapping[str, Difference]) -> None:
    """Prints what is not as expected, with the functions that carry it where they are known."""
    document = as_json(found, functions)
    for verdict in _ORDER:
        for one in (one for one in document.rows if one.verdict == verdict):
            click.echo(plain(f"{one.key}: {_sentence(one)}"))
            if one.key in functions:
                click.echo(plain(f"    {'; '.join(one.functions)}"))
    click.echo(document.summary)


def sentence(found: Sequence[Verdict]) -> str:
    """The whole in one sentence."""
    counts = Counter(one.verdict for one in found)
    different = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _ORDER if counts[verdict])
    same = f"{counts['same']} of {len(found)} counts are as expected"
    if not different:
        return f"{same}."
    return f"{same}, {different}; write an intended change down with --update."


def as_json(found: Sequence[Verdict], functions: Mapping[str, Difference]) -> Expected:
    """Every row, with the functions that carry its change where they are known."""
    rows = [
        ExpectedRow(
            table=one.table,
            key=one.key,
            verdict=one.verdict,
            expected=one.expected,
            measured=one.measured,
            unit=one.unit,
            change=one.change,
            reason=one.reason,
            functions=_functions(functions[one.key]) if one.key in functions else [],
        )
        for one in found
    ]
    return Expected(rows, sentence(found))


def _sentence(one: ExpectedRow) -> str:
    if one.verdict == "gone":
        return f"gone; {one.table} expects {one.expected:g}"
    if one.verdict == "new":
        return f"new, {one.measured:g}; --update adds it to {one.table}"
    if one.verdict == "invalid":
        return f"invalid: {one.reason}"
    change = "" if one.change is None else f" ({signed(one.change)})"
    more = (one.measured or 0.0) - (one.expected or 0.0)
    return f"{more:+g} {one.unit}{change}, {one.expected:g} expected and {one.measured:g} measured"


def _functions(difference: Difference) -> list[str]:
    changed = [one for one in difference.functions if one.change][:_MOST_FUNCTIONS]
    return [f"{one.name} {float(one.change):+g}" for one in changed]
