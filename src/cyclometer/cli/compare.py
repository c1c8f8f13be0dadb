# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer compare`: what changed between two sides, and how sure that is."""

from __future__ import annotations

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
@click.option("--matrix", is_flag=True, help="Lay all configurations of the operands side by side.")
@click.option(
    "--aa", is_flag=True, help="The operand is a store of repeated runs: count false alarms."
)
@click.option("--history", is_flag=True, help="The operand is a store: find when circles changed.")
def command(
    operands: tuple[str, ...],
    margin: float,
    fdr: float,
    layout_floor: float | None,
    across: Across,
    as_json: bool,
    as_markdown: bool,
    **modes: bool,
) -> None:
    """Compare BEFORE with AFTER: bundles, or files of other tools; several a side with -- between.

    A change is (after - before) / before. One file that holds both (rows of state=before and
    state=after) stands alone.

    Example: cyclometer compare before/*.json -- after/*.json --margin 2%
    """
    from cyclometer.compare import finding, verdicts

    options = finding.Options(margin, fdr, layout_floor)
    chosen = [name for name, wanted in modes.items() if wanted]
    if len(chosen) > 1:
        raise UsageError(
            f"--{' and --'.join(chosen)} are answers to different questions; choose one"
        )
    if chosen:
        _MODES[chosen[0]](
            sides.together(operands), options, across, sides.Form.of(as_json, as_markdown)
        )
        return
    from cyclometer.report import comparison

    found = sides.compare(operands, options, across)
    sides.Form.of(as_json, as_markdown).print(comparison, found)
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


def _history(paths: list[Path], options: Options, across: Across, form: sides.Form) -> None:
    from cyclometer.compare import history
    from cyclometer.report import history as report

    form.print(report, history.history(sides.load(paths), options, across))


_MODES = {"matrix": _matrix, "aa": _aa, "history": _history}
