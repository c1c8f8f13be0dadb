# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer compare`: what changed between two sides, and how sure that is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import rich_click as click

from cyclometer.cli import sides
from cyclometer.errors import NOT_COMPARABLE, NOTHING


@click.command(cls=sides.TwoSides)
@sides.operands
@sides.options
def command(operands: tuple[str, ...], as_json: bool, as_markdown: bool, **settings: object) -> None:
    """Compare BEFORE with AFTER: bundles, or files of other tools; several a side with -- between.

    A change is (after - before) / before. One file that holds both (rows of state=before and state=after) stands alone.

    Example: cyclometer compare before/*.json -- after/*.json --margin 2%
    """
    from cyclometer.report import comparison as report

    found = sides.compare(operands, settings)
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
