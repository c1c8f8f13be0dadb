# SPDX-License-Identifier: BSD-2-Clause
"""The newest point of each history against its past: as lines, as JSON, and as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from cyclometer.compare.newest import Newest
from cyclometer.report.cells import signed
from cyclometer.report.documents.over_time import NewestPoint, NewestPoints
from cyclometer.report.markdown import code, line, words
from cyclometer.text import plain

_ORDER = ("regressed", "undecided", "improved", "expected")


def show(found: Sequence[Newest]) -> None:
    """Prints the circles whose newest point is not as expected, and how many are."""
    document = as_json(found)
    for one in _listed(document):
        click.echo(plain(f"{one.verdict:9}  {one.key}: {_said(one)}"))
    click.echo(document.summary)


def sentence(found: Sequence[Newest]) -> str:
    """All verdicts in one sentence."""
    counts = Counter(one.verdict for one in found)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _ORDER if counts[verdict])
    return f"newest points against those before: {told or 'none'}."


def as_json(found: Sequence[Newest]) -> NewestPoints:
    """Every circle's newest point with its verdict."""
    rows = [
        NewestPoint(
            key=one.key,
            unit=one.point.unit,
            configuration=dict(one.point.configuration),
            when=one.point.when,
            value=one.point.value,
            points=len(one.past),
            change=one.change,
            p=one.p,
            verdict=one.verdict,
        )
        for one in found
    ]
    return NewestPoints(rows, sentence(found))


def markdown(found: Sequence[Newest]) -> str:
    """The sentence, and a table of what is not as expected."""
    document = as_json(found)
    lines = [f"**{words(document.summary)}**", ""]
    if listed := _listed(document):
        lines += ["| circle | verdict | newest |", "|---|---|---|"]
    lines += [line((code(one.key), one.verdict, words(_said(one)))) for one in listed]
    return "\n".join(lines).rstrip() + "\n"


def _listed(found: NewestPoints) -> list[NewestPoint]:
    odd = [one for one in found.rows if one.verdict != "expected"]
    return sorted(odd, key=lambda one: (_ORDER.index(one.verdict), -abs(one.change or 0.0)))


def _said(one: NewestPoint) -> str:
    value = f"{one.value:.5g} {one.unit}"
    if one.change is None:
        return f"{value}, with {one.points} points before it since its last change, too few"
    chance = "exact clock" if one.p is None else f"p {one.p:.2g}"
    return f"{signed(one.change)} to {value}, against {one.points} points before; {chance}"
