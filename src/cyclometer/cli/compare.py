# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer compare`: what changed between two sides, and how sure that is."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import sides
from cyclometer.errors import NOT_COMPARABLE, NOTHING

if TYPE_CHECKING:
    from cyclometer.compare.pairing import Across


@click.command(cls=sides.TwoSides)
@sides.options
def command(
    operands: tuple[str, ...], margin: float, fdr: float, layout_floor: float, across: Across,
    as_json: bool, as_markdown: bool,
) -> None:  # fmt: skip
    """Compare BEFORE with AFTER: bundles, or files of other tools; several a side with -- between.

    A change is (after - before) / before. One file that holds both (rows of state=before and state=after) stands alone.

    Example: cyclometer compare before/*.json -- after/*.json --margin 2%
    """
    from cyclometer.report import comparison as report

    found = sides.compare(operands, margin, fdr, layout_floor, across)
    if as_json:
        click.echo(json.dumps(report.as_json(found), indent=1))
    elif as_markdown:
        click.echo(report.markdown(found), nl=False)
    else:
        report.show(found)
    counts = found.counts()
    if not counts:
        sys.exit(NOTHING)
    if set(counts) <= {"not comparable", "added", "removed"}:
        sys.exit(NOT_COMPARABLE)
