# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer matrix`: several configurations side by side, each against the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import sides

if TYPE_CHECKING:
    from cyclometer.compare.pairing import Across


@click.command()
@click.argument("operands", nargs=-1, required=True, metavar="BUNDLE|STORE...")
@sides.layout_floor_option
@sides.across_option
@sides.judging
def command(
    operands: tuple[str, ...],
    margin: float,
    fdr: float,
    layout_floor: float | None,
    across: Across,
    as_json: bool,
    as_markdown: bool,
    form: str | None,
) -> None:
    """Lay configurations side by side, each compared with the first.

    A bundle is a column; a folder stands for the bundles in it, oldest first. Below the rows stands
    the geometric mean of each class.

    Example: cyclometer matrix results/debian/*
    """
    from cyclometer.compare import matrix, pairing
    from cyclometer.report import matrix as report

    options = sides.options_of(margin, fdr, layout_floor)
    printed = sides.Form.of(as_json, as_markdown, form)
    paths = sides.together(operands)
    alone = len({path.name for path in paths}) == len(paths)
    named = {
        path.name if alone else str(path): pairing.side(sides.load([path]), options.level)
        for path in paths
    }
    printed.print(report, matrix.matrix(named, options, across))
