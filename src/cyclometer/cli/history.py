# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer history`: when circles changed, in bundles, in a store, or in git notes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import sides
from cyclometer.errors import UsageError

if TYPE_CHECKING:
    from cyclometer.compare.finding import Options


@click.command()
@click.argument("operands", nargs=-1, metavar="[BUNDLES|STORE]...")
@click.option("--git-notes", is_flag=True, help="Note these bundles in git; read all notes.")
@click.option(
    "--commit",
    default="HEAD",
    show_default=True,
    help="With --git-notes: the commit that the bundles measured.",
)
@click.option(
    "--repository",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="A folder in the git repository.  [default: where you are]",
)
@click.option("--only", multiple=True, metavar="GLOB", help="Only circles whose key matches.")
@sides.judging
def command(
    operands: tuple[str, ...],
    git_notes: bool,
    commit: str,
    repository: Path,
    only: tuple[str, ...],
    margin: float,
    fdr: float,
    as_json: bool,
    as_markdown: bool,
    form: str | None,
) -> None:
    """Find when circles changed, by how much, and what else changed at that point.

    With --git-notes the history lies in the repository that is measured, in notes of its commits
    that merge without a conflict (`cat_sort_uniq`). Without bundles the notes are only read.

    Example: cyclometer history --git-notes results/today --only 'thread.*'
    """
    from cyclometer.cli import compare
    from cyclometer.compare.finding import Options

    options = Options(margin, fdr, exact_margin=sides.given_margin(margin))
    printed = sides.Form.of(as_json, as_markdown, form)
    if git_notes:
        _noted(operands, commit, repository, options, only or ("*",), printed)
    elif operands:
        compare.print_history(operands, options, {}, printed, only)
    else:
        raise UsageError("name bundles or a store, or read git's notes with --git-notes")


def _noted(
    operands: tuple[str, ...],
    commit: str,
    repository: Path,
    options: Options,
    only: tuple[str, ...],
    form: sides.Form,
) -> None:
    from cyclometer import git
    from cyclometer.report import history as report
    from cyclometer.store import notes

    root = git.root(repository)
    if operands:
        bundles = sides.load([Path(one) for one in operands])
        notes.add(root, git.commit(root, commit), bundles)
    form.print(report, notes.history(root, options, only))
