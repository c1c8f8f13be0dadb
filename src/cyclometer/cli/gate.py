# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer gate`: a comparison that ends with an exit code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import sides
from cyclometer.errors import UsageError

if TYPE_CHECKING:
    from cyclometer.compare.pairing import Across


@click.command(cls=sides.TwoSides)
@sides.options
@click.option(
    "--expect",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Hold one bundle's exact counts against a file; any other count fails.",
)
@click.option("--update", is_flag=True, help="With --expect: write the bundle's counts down.")
@click.option(
    "--allow-invalid",
    is_flag=True,
    help="Do not fail because of circles that are invalid on both sides.",
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
    expect: Path | None,
    update: bool,
    allow_invalid: bool,
) -> None:
    """Compare, and exit with a status for continuous integration.

    0 all equivalent or improved, 1 a row regressed, 3 a row is undecided, 4 a row is gone or cannot
    be compared, 5 a row is invalid or failed, on both sides, too (--allow-invalid), 6 nothing was
    measured. Where several hold, the order is 1, 5, 4, 3. Exact counts of instructions are printed
    with their sign and fail only if --margin is given and one grows by more (--margin 0%: at all).

    With --expect, for exact clocks: 1 a count is another one, smaller ones included, 5 a row is not
    valid, 4 a row is gone. With two bundles the traces of both name the functions responsible.

    Example: cyclometer gate results/before results/after --margin 2% || test $? = 3
    """
    if expect is not None:
        from cyclometer.cli import expect as expectation

        sys.exit(expectation.gate(expect, operands, update, as_json or form == "json"))
    if update:
        raise UsageError("--update writes the file of --expect; name one")
    from cyclometer.compare import verdicts
    from cyclometer.report import comparison as report

    found = sides.compare(
        operands,
        sides.options_of(margin, fdr, layout_floor),
        across,
    )
    sides.Form.of(as_json, as_markdown, form).print(report, found)
    sys.exit(verdicts.gate_code(found, allow_invalid))
