# SPDX-License-Identifier: BSD-2-Clause
"""The change points of a store as lines of text, as JSON, and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import click

from cyclometer.compare.history import ChangePoint, Point, Series
from cyclometer.report.cells import signed
from cyclometer.report.markdown import code, line, words
from cyclometer.text import plain

KIND = "history"

_MOST_NAMED = 8
_MARKDOWN_ROWS = 25


def show(found: Sequence[Series]) -> None:
    """Prints what changed in the identity at each moment, and the circles that changed there; the
    largest first.
    """
    at: dict[tuple[str, str], list[tuple[Series, ChangePoint]]] = {}
    for series, change in _by_size(found):
        at.setdefault((_where(change.last), _where(change.first)), []).append((series, change))
    for (last, first), moved in at.items():
        click.echo(plain(f"between {last} and {first}"))
        for name in dict.fromkeys(name for _, change in moved for name in _named(change)):
            click.echo(plain(f"    {name}"))
        for series, change in moved:
            click.echo(plain(f"  {series.key}: {_moved(change)} {series.unit}, {_chance(change)}"))
    click.echo(sentence(found))


def sentence(found: Sequence[Series]) -> str:
    """The whole history in one sentence."""
    changes = sum(len(series.changes) for series in found)
    changed = sum(bool(series.changes) for series in found)
    points = max((len(series.points) for series in found), default=0)
    missing = sum(series.missing for series in found)
    lost = f"; {missing} estimates were not valid and are left out" if missing else ""
    return (
        f"{changes} change points in {changed} of {len(found)} circles, over up to {points} "
        f"points{lost}."
    )


def as_json(found: Sequence[Series]) -> dict[str, Any]:
    """{"series": [{"key", "unit", "points", "changes", "missing"}], "summary"}."""
    return {"series": [_series_json(series) for series in found], "summary": sentence(found)}


def _series_json(series: Series) -> dict[str, Any]:
    return {
        "key": series.key,
        "unit": series.unit,
        "configuration": series.points[-1].configuration,
        "points": [{"when": p.when, "bundle": p.bundle, "value": p.value} for p in series.points],
        "changes": [
            {
                "at": series.points.index(c.first),
                "when": c.first.when,
                "before": c.before,
                "after": c.after,
                "change": c.change,
                "p": c.p,
                "changed": [{"name": n, "before": b, "after": a} for n, b, a in c.changed],
            }
            for c in series.changes
        ],
        "missing": series.missing,
    }


def markdown(found: Sequence[Series]) -> str:
    """The sentence and a table of the largest change points, at most _MARKDOWN_ROWS of them."""
    lines = [f"**{words(sentence(found))}**", ""]
    listed = _by_size(found)
    if listed:
        lines += ["| circle | change | since | what changed there |", "|---|--:|---|---|"]
    for series, change in listed[:_MARKDOWN_ROWS]:
        where = (change.first.when, "; ".join(_named(change)))
        cells = (code(series.key), signed(change.change), *map(words, where))
        lines.append(line(cells))
    if len(listed) > _MARKDOWN_ROWS:
        lines.append(f"\nand {len(listed) - _MARKDOWN_ROWS} more change points.")
    return "\n".join(lines).rstrip() + "\n"


def _by_size(found: Sequence[Series]) -> list[tuple[Series, ChangePoint]]:
    listed = [(series, change) for series in found for change in series.changes]
    return sorted(listed, key=lambda item: -abs(item[1].change))


def _moved(change: ChangePoint) -> str:
    return f"{signed(change.change)}, from {_level(change.before)} to {_level(change.after)}"


def _level(value: float) -> str:
    """Five digits of a mean over points, without an exponent."""
    return f"{Decimal(f'{value:.5g}'):f}"


def _chance(change: ChangePoint) -> str:
    return "exact clock" if change.p is None else f"p {change.p:.2g}"


def _where(point: Point) -> str:
    return f"{point.when} {point.bundle}".strip()


def _named(change: ChangePoint) -> list[str]:
    """What changed in the identity, a line each."""
    lines = [f"{name}: {b or 'unknown'} -> {a or 'unknown'}" for name, b, a in change.changed]
    left = len(lines) - _MOST_NAMED
    return [*lines[:_MOST_NAMED], *([f"and {left} more"] if left > 0 else [])] or [
        "nothing in the identity changed"
    ]
