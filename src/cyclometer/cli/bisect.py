# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer bisect`: the commit at which a latency changed, several builds at a time."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import common
from cyclometer.errors import PASS, UNDECIDED, UsageError

if TYPE_CHECKING:
    from cyclometer.report.documents import swept
    from cyclometer.sweep.bisect import Found, Measured
    from cyclometer.sweep.trees import Recipe

_HASH = 12  # digits of a commit that are printed


@click.command()
@click.argument("key")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF run]")
@click.option("--good", required=True, metavar="COMMIT", help="The older end.")
@click.option("--bad", default="HEAD", show_default=True, metavar="COMMIT", help="The newer end.")
@click.option(
    "--build",
    required=True,
    metavar="COMMAND",
    help="Shell command that builds a commit, run in its checkout.",
)
@click.option(
    "--by",
    type=click.Choice(["exact", "interval"]),
    default="exact",
    show_default=True,
    help="Judge by the counts of an exact clock, or by intervals of latencies.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    help="Commits to build and measure at once.  [default: one per CPU; 1 with --by interval]",
)
@common.repository_option
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="New folder in which to keep bundles and build logs.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(
    key: str,
    words: tuple[str, ...],
    good: str,
    bad: str,
    build: str,
    by: str,
    workers: int | None,
    repository: Path,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find the first commit after --good at which the latency of circle KEY is that of --bad.

    Each worker builds a commit in its own checkout, and measures it by `cyclometer run` with the
    options after `--`, in that checkout.

    Exit codes: 0 if one commit was found, 3 if several are left because some cannot be measured.

    Example: cyclometer bisect syscall.null --good v6.12 --build ./build.sh -- --target qemu-linux
    --kernel arch/x86/boot/bzImage
    """
    from cyclometer import git
    from cyclometer.sweep import trees
    from cyclometer.targets import build as builds

    if by == "interval" and (workers or 1) > 1:
        raise UsageError("measurements of real time disturb each other; leave --workers out")
    if output is not None and output.exists():
        raise UsageError(f"{output} exists already; choose another folder")
    root = git.root(repository)
    chain = trees.chain(root, good, bad)
    lanes = 1 if by == "interval" else min(workers or builds.cores(), max(2, len(chain) - 2))
    recipe = trees.Recipe(build, words, key, by == "exact")
    with tempfile.TemporaryDirectory(prefix="cyclometer-bisect-") as scratch:
        kept = Path(scratch, "measured") if output is None else output.resolve()
        kept.mkdir(parents=True)
        found = _found(root, chain, recipe, lanes, Path(scratch), kept)
    bisected = _document(key, chain, found)
    if as_json:
        common.print_json(bisected)
    else:
        _print(root, bisected)
    sys.exit(UNDECIDED if bisected.undecided else PASS)


def _found(
    root: Path, chain: Sequence[str], recipe: Recipe, lanes: int, scratch: Path, kept: Path
) -> Found:
    from cyclometer.cli.progress import Display
    from cyclometer.sweep import bisect, trees

    with trees.worktrees(root, chain[0], scratch, lanes) as folders, Display() as display:
        workers = trees.Trees(recipe, folders, kept)
        total = 0

        def measure(commits: Sequence[str]) -> list[Measured]:
            nonlocal total
            display.show(total, len(chain), f"building {len(commits)} of {len(chain)} commits")
            total += len(commits)
            return workers.measure(commits)

        return bisect.search(chain, measure, lanes)


def _document(key: str, chain: Sequence[str], found: Found) -> swept.Bisected:
    from cyclometer.report.documents import swept

    before, after = found.measured[found.last], found.measured[found.first]
    return swept.Bisected(
        key=key,
        first=found.first,
        last=found.last,
        undecided=list(found.undecided),
        before=before.value,
        after=after.value,
        unit=after.unit,
        commits=len(chain),
        rounds=found.rounds,
        measured=[
            swept.BisectedCommit(commit, None if one.error else one.value, one.error)
            for commit, one in found.measured.items()
        ],
    )


def _print(root: Path, found: swept.Bisected) -> None:
    from cyclometer import git

    errors = {one.commit: one.error for one in found.measured}
    for commit in found.undecided:
        why = errors[commit] or "its interval holds the middle"
        click.echo(f"{commit[:_HASH]} cannot be judged: {why}", err=True)
    heading = "first bad commit" if not found.undecided else "first bad commit, or one of those"
    click.echo(f"{heading}: {found.first[:_HASH]} {git.subject(root, found.first)}")
    click.echo(f"{found.key}: {found.before:g} {found.unit} before it, {found.after:g} there")
    click.echo(
        f"measured {len(found.measured)} of {found.commits} commits in {found.rounds} rounds"
    )
