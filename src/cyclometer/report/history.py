# SPDX-License-Identifier: BSD-2-Clause
"""The change points of a store as lines of text, as JSON, and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import click

from cyclometer.compare.history import Series
from cyclometer.report.cells import signed
from cyclometer.report.documents import members, over_time
from cyclometer.report.markdown import code, line, words
from cyclometer.text import plain

_MOST_NAMED = 8
_MARKDOWN_ROWS = 25

_Change = tuple[over_time.Series, over_time.ChangePoint]


def show(found: Sequence[Series]) -> None:
    """Prints what changed in the identity at each moment, and the circles that changed there; the
    largest first.
    """
    history = as_json(found)
    at: dict[tuple[str, str], list[_Change]] = {}
    for series, change in _by_size(history):
        last, first = series.points[change.at - 1 : change.at + 1]
        at.setdefault((_where(last), _where(first)), []).append((series, change))
    for (before, after), moved in at.items():
        click.echo(plain(f"between {before} and {after}"))
        for name in dict.fromkeys(name for _, change in moved for name in _named(change)):
            click.echo(plain(f"    {name}"))
        for series, change in moved:
            click.echo(plain(f"  {series.key}: {_moved(change)} {series.unit}, {_chance(change)}"))
    click.echo(history.summary)


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


def as_json(found: Sequence[Series]) -> over_time.History:
    """The document that `show` and `markdown` print."""
    return over_time.History([_series(series) for series in found], sentence(found))


def _series(series: Series) -> over_time.Series:
    points = [over_time.Point(p.when, p.bundle, p.value) for p in series.points]
    changes = [
        over_time.ChangePoint(
            series.points.index(c.first),
            c.first.when,
            c.before,
            c.after,
            c.change,
            c.p,
            [members.Difference(*named) for named in c.changed],
        )
        for c in series.changes
    ]
    configuration = series.points[-1].configuration
    return over_time.Series(series.key, series.unit, configuration, points, changes, series.missing)


def markdown(found: Sequence[Series]) -> str:
    """The sentence and a table of the largest change points, at most _MARKDOWN_ROWS of them."""
    history = as_json(found)
    lines = [f"**{words(history.summary)}**", ""]
    listed = _by_size(history)
    if listed:
        lines += ["| circle | change | since | what changed there |", "|---|--:|---|---|"]
    for series, change in listed[:_MARKDOWN_ROWS]:
        where = (change.when, "; ".join(_named(change)))
        cells = (code(series.key), signed(change.change), *map(words, where))
        lines.append(line(cells))
    if len(listed) > _MARKDOWN_ROWS:
        lines.append(f"\nand {len(listed) - _MARKDOWN_ROWS} more change points.")
    return "\n".join(lines).rstrip() + "\n"


def _by_size(history: over_time.History) -> list[_Change]:
    listed = [(series, change) for series in history.series for change in series.changes]
    return sorted(listed, key=lambda item: -abs(item[1].change))


def _moved(change: over_time.ChangePoint) -> str:
    return f"{signed(change.change)}, from {_level(change.before)} to {_level(change.after)}"


def _level(value: float) -> str:
    """Five digits of a mean over points, without an exponent."""
    return f"{Decimal(f'{value:.5g}'):f}"


def _chance(change: over_time.ChangePoint) -> str:
    return "exact clock" if change.p is None else f"p {change.p:.2g}"


def _where(point: over_time.Point) -> str:
    return f"{point.when} {point.bundle}".strip()


def _named(change: over_time.ChangePoint) -> list[str]:
    """What changed in the identity, a line each."""
    lines = [f"{d.name}: {d.before or 'unknown'} -> {d.after or 'unknown'}" for d in change.changed]
    left = len(lines) - _MOST_NAMED
    return [*lines[:_MOST_NAMED], *([f"and {left} more"] if left > 0 else [])] or [
        "nothing in the identity changed"
    ]
