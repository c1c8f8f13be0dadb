# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer compare`: what changed between two sides, and how sure that is."""

from __future__ import annotations

import fnmatch
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import sides
from cyclometer.errors import UsageError

if TYPE_CHECKING:
    from cyclometer.compare.finding import Options
    from cyclometer.compare.pairing import Across


@click.command(cls=sides.TwoSides)
@sides.options
@click.option(
    "--matrix", is_flag=True, help="Show all configurations of the operands side by side."
)
@click.option("--aa", is_flag=True, help="Count false alarms in a store of repeated runs.")
@click.option("--history", is_flag=True, help="Find when circles changed in a store.")
@click.option(
    "--why", is_flag=True, help="What the processor counted on both sides, per turn (two bundles)."
)
@click.option(
    "--only", multiple=True, metavar="GLOB", help="With --history: only circles whose key matches."
)
def command(
    operands: tuple[str, ...],
    margin: float,
    fdr: float,
    layout_floor: float | None,
    across: Across,
    as_json: bool,
    as_markdown: bool,
    form: str | None,
    only: tuple[str, ...],
    **modes: bool,
) -> None:
    """Compare BEFORE with AFTER: bundles, or other tools' files; `--` separates several per side.

    A change is (after - before) / before. One file may hold both sides (rows of state=before
    and state=after).

    Example: cyclometer compare before/*.json -- after/*.json --margin 2%
    """
    from cyclometer.compare import finding, verdicts

    options = finding.Options(margin, fdr, layout_floor, exact_margin=sides.given_margin(margin))
    chosen = [name for name, wanted in modes.items() if wanted]
    if len(chosen) > 1:
        raise UsageError(f"--{' and --'.join(chosen)} are mutually exclusive; choose one")
    if only and not modes["history"]:
        raise UsageError("--only chooses circles of a history; add --history, or leave it out")
    printed = sides.Form.of(as_json, as_markdown, form)
    if modes["history"]:
        print_history(operands, options, across, printed, only)
        return
    if chosen:
        _MODES[chosen[0]](sides.together(operands), options, across, printed)
        return
    from cyclometer.report import comparison

    found = sides.compare(operands, options, across)
    printed.print(comparison, found)
    sys.exit(verdicts.compare_code(found))


def _matrix(paths: list[Path], options: Options, across: Across, form: sides.Form) -> None:
    from cyclometer.compare import matrix, pairing
    from cyclometer.report import matrix as report

    alone = len({path.name for path in paths}) == len(paths)
    named = {
        path.name if alone else str(path): pairing.side(sides.load([path]), options.level)
        for path in paths
    }
    form.print(report, matrix.matrix(named, options, across))


def _aa(paths: list[Path], options: Options, across: Across, form: sides.Form) -> None:
    from cyclometer.compare import aa
    from cyclometer.report import aa as report

    del across  # repeated runs differ in nothing
    form.print(report, aa.measure(sides.load(paths), options))


def print_history(
    operands: tuple[str, ...],
    options: Options,
    across: Across,
    form: sides.Form,
    only: tuple[str, ...],
) -> None:
    """Prints the change points of bundles, or of a store."""
    from cyclometer.compare import history
    from cyclometer.report import history as report

    if _is_store(operands):
        from cyclometer.store import history as stored

        found = stored.history(operands[0], options, only or ("*",))
    else:
        wanted = only or ("*",)
        found = [
            series
            for series in history.history(sides.load(sides.together(operands)), options, across)
            if any(fnmatch.fnmatchcase(series.key, pattern) for pattern in wanted)
        ]
    form.print(report, found)


def _is_store(operands: tuple[str, ...]) -> bool:
    """Whether the one operand is what `cyclometer store` keeps, and not a folder of bundles."""
    one = operands[0]
    return len(operands) == 1 and ("://" in one or (Path(one) / "store.json").is_file())


def _why(paths: list[Path], options: Options, across: Across, form: sides.Form) -> None:
    from cyclometer.compare import why
    from cyclometer.report import why as report

    del options, across  # counts need no margin, and rows pair by their key
    if len(paths) != 2:
        raise UsageError("--why takes two bundles: `cyclometer compare --why BEFORE AFTER`")
    form.print(report, why.why(*sides.load(paths)))


_MODES = {"matrix": _matrix, "aa": _aa, "why": _why}
