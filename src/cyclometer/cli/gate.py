# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer gate`: a comparison that ends with an exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import sides

if TYPE_CHECKING:
    from cyclometer.compare.pairing import Across


@click.command(cls=sides.TwoSides)
@sides.options
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
    """Compare, and exit with a status for continuous integration.

    0 all equivalent or improved, 1 a row regressed, 3 a row is undecided, 4 a row is gone or cannot
    be compared, 5 a row failed that did not before, 6 nothing was measured. Where several hold, the
    order is 1, 5, 4, 3.

    Example: cyclometer gate results/before results/after --margin 2% || test $? = 3
    """
    from cyclometer.compare import finding, verdicts
    from cyclometer.report import comparison as report

    found = sides.compare(operands, finding.Options(margin, fdr, layout_floor), across)
    sides.Form.of(as_json, as_markdown, form).print(report, found)
    sys.exit(verdicts.gate_code(found))
