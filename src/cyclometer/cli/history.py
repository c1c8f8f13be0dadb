# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer history`: when circles changed, in bundles, in a store, or in git notes."""

from __future__ import annotations

import fnmatch
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import common, judging, sides
from cyclometer.cli.judging import Judging
from cyclometer.errors import UsageError

if TYPE_CHECKING:
    from cyclometer.compare.finding import Options
    from cyclometer.compare.history import Series
    from cyclometer.compare.pairing import Across

_DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@click.argument("operands", nargs=-1, metavar="[BUNDLES|STORE]...")
@click.option(
    "--git-notes",
    is_flag=True,
    help="Add the figures of these bundles to git notes, and read the history from all notes.",
)
@click.option(
    "--commit",
    default="HEAD",
    show_default=True,
    help="With --git-notes: the commit that the bundles measured.",
)
@common.repository_option
@click.option(
    "--only", multiple=True, metavar="GLOB", help="Only circles whose key matches; may be repeated."
)
@click.option("--since", type=_DAY, metavar="DAY", help="From this day on, such as 2026-11-30.")
@click.option("--until", type=_DAY, metavar="DAY", help="Up to and including this day.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="New folder for an index page, and a page per circle with its whole history.",
)
@judging.layout_floor_option
@sides.across_option
@judging.options
def command(
    operands: tuple[str, ...],
    git_notes: bool,
    commit: str,
    repository: Path,
    only: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    output: Path | None,
    how: Judging,
    across: Across,
) -> None:
    """Find when circles changed, by how much, and what else changed at that point.

    A folder stands for the bundles in it. With --git-notes the history is kept in the measured
    repository, as notes on its commits, which merge without a conflict (`cat_sort_uniq`). Without
    bundles the notes are only read. `cyclometer gate --history` judges the newest point.

    Example: cyclometer history results/nightly --only 'pipe.*' --since 2026-11-01

    Example: cyclometer history --git-notes results/today --only 'thread.*'
    """
    from cyclometer.compare import history
    from cyclometer.report import history as report

    if how.options.amounts:
        raise UsageError("a history is judged by a share only; write --margin 1%")
    if git_notes:
        found = _noted(operands, commit, repository, how.options, only or ("*",))
    elif operands:
        found = compared(operands, how.options, across, only or ("*",))
    else:
        raise UsageError("name bundles or a store, or read git's notes with --git-notes")
    if since or until:
        days = since and since.date(), until and until.date()
        found = history.within(found, how.options, days)
    if output is not None:
        from cyclometer.site import of_history

        pages = of_history.write(output, found)
        click.echo(f"{output / 'index.html'}: {pages} circles", err=True)
    how.form.print(report, found)


def compared(
    operands: tuple[str, ...],
    options: Options,
    across: Across,
    only: tuple[str, ...],
) -> list[Series]:
    """The change points of bundles, or of a store."""
    from cyclometer.compare import history

    if _is_store(operands):
        from cyclometer.store import history as stored

        return stored.history(operands[0], options, only)
    return [
        series
        for series in history.history(sides.load(sides.together(operands)), options, across)
        if any(fnmatch.fnmatchcase(series.key, pattern) for pattern in only)
    ]


def _is_store(operands: tuple[str, ...]) -> bool:
    """Whether the one operand is what `cyclometer store` keeps, and not a folder of bundles."""
    one = operands[0]
    return len(operands) == 1 and ("://" in one or (Path(one) / "store.json").is_file())


def _noted(
    operands: tuple[str, ...],
    commit: str,
    repository: Path,
    options: Options,
    only: tuple[str, ...],
) -> list[Series]:
    from cyclometer import git
    from cyclometer.store import notes

    root = git.root(repository)
    if operands:
        bundles = sides.load([Path(one) for one in operands])
        notes.add(root, git.commit(root, commit), bundles)
    return notes.history(root, options, only)
