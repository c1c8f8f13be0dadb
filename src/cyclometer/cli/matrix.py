# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer matrix`: several configurations side by side, each against the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import judging, sides
from cyclometer.cli.judging import Judging

if TYPE_CHECKING:
    from cyclometer.compare.pairing import Across


@click.command()
@click.argument("operands", nargs=-1, required=True, metavar="BUNDLE|STORE...")
@judging.layout_floor_option
@sides.across_option
@judging.options
def command(
    operands: tuple[str, ...],
    how: Judging,
    across: Across,
) -> None:
    """Print configurations side by side, each compared with the first.

    Each bundle is a column; a folder stands for the bundles in it, oldest first. Below the rows are
    geometric means: of all rows, of those with a thread switch, and of each object.

    Example: cyclometer matrix results/debian/*
    """
    from cyclometer.compare import matrix, pairing
    from cyclometer.report import matrix as report

    paths = sides.together(operands)
    alone = len({path.name for path in paths}) == len(paths)
    named = {
        path.name if alone else str(path): pairing.side(sides.load([path]), how.options.level)
        for path in paths
    }
    how.form.print(report, matrix.matrix(named, how.options, across))
