# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer gate`: a comparison that ends with an exit code."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import sides

if TYPE_CHECKING:
    from cyclometer.compare.pairing import Across


@click.command(cls=sides.TwoSides)
@sides.options
def command(
    operands: tuple[str, ...], margin: float, fdr: float, layout_floor: float, across: Across,
    as_json: bool, as_markdown: bool,
) -> None:  # fmt: skip
    """Compare, and end with a code for continuous integration.

    0 all equivalent or improved, 1 a row regressed, 3 a row is undecided, 4 a row is gone or cannot be compared,
    5 a row failed that did not before, 6 nothing was measured. Where several hold, the order is 1, 5, 4, 3.

    Example: cyclometer gate results/before results/after --margin 2% || test $? = 3
    """
    from cyclometer.compare import verdicts
    from cyclometer.report import comparison as report

    found = sides.compare(operands, margin, fdr, layout_floor, across)
    if as_json:
        click.echo(json.dumps(report.as_json(found), indent=1))
    elif as_markdown:
        click.echo(report.markdown(found), nl=False)
    else:
        report.show(found, [verdict for verdict in verdicts.VERDICTS if verdict not in ("equivalent", "improved")])
    sys.exit(verdicts.gate_code(found))
