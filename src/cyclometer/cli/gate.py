# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer gate`: a comparison that ends with an exit code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from cyclometer.cli import history as histories
from cyclometer.cli import images, sides
from cyclometer.cli.judging import Form, Judging
from cyclometer.errors import UsageError

if TYPE_CHECKING:
    from cyclometer.compare.pairing import Across


@click.command(cls=sides.TwoSides)
@sides.options
@click.option(
    "--expect",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Compare the exact counts of one bundle with this file; any difference fails.",
)
@click.option(
    "--update", is_flag=True, help="With --expect: write the bundle's counts to the file."
)
@click.option(
    "--allow-invalid",
    is_flag=True,
    help="Do not fail because of circles that failed or are invalid on both sides.",
)
@click.option(
    "--history",
    is_flag=True,
    help="Compare the newest of these bundles, or of a store, with the earlier ones.",
)
@images.options
def command(
    operands: tuple[str, ...],
    how: Judging,
    across: Across,
    expect: Path | None,
    update: bool,
    allow_invalid: bool,
    history: bool,
    **of_images: Any,
) -> None:
    """Compare BEFORE with AFTER, and exit with a code for continuous integration.

    Exit codes: 0 all rows are equivalent or improved, 1 a row regressed, 3 a row is undecided, 4 a
    row is missing or cannot be compared, 5 a row is invalid or failed, even on both sides (see
    --allow-invalid), 6 nothing was measured. If several apply, the first of 1, 5, 4, 3 counts.
    Changes of instruction counts are printed with their sign. They fail the gate only if --margin
    is given and a count grows by more; --margin 0% fails for any growth.

    With --expect, for exact clocks: 1 a count differs, even if it is smaller, 5 a row is invalid, 4
    a row is missing. If the bundle from before the change is given, too, and both contain traces,
    the functions responsible are named.

    With --history the operands are bundles or a store: 1 the newest point of a circle is worse than
    the points since its last change predict, 3 there are fewer than three of these (one on an exact
    clock), 6 there is no circle.

    If BEFORE and AFTER are ELF images, they are measured first, under QEMU or on --target rocket,
    and the functions responsible for a change are named. 5 then also means that a boot did not end
    as it should.

    Example: cyclometer gate results/before results/after --margin 2% || test $? = 3

    Example: cyclometer gate --expect latency.toml results/now

    Example: cyclometer gate --history results/* || test $? = 3

    Example: cyclometer gate base.elf pr.elf --margin 0%
    """
    if expect is not None:
        from cyclometer.cli import expect as expectation

        sys.exit(expectation.gate(expect, operands, update, how.form is Form.JSON))
    if update:
        raise UsageError("--update writes the file of --expect; name one")
    if history:
        images.refuse(of_images)
        sys.exit(_newest(operands, how, across))
    from cyclometer.compare import verdicts
    from cyclometer.report import comparison as report

    why: list[str] = []
    broken = False
    if images.are_images(operands):
        found, why, broken = images.gate(operands, of_images, how.options, across)
    else:
        images.refuse(of_images)
        found = sides.compare(operands, how.options, across)
    how.form.print(report, found)
    for line in why:
        click.echo(line, err=how.form is not Form.TERMINAL)
    sys.exit(images.code(verdicts.gate_code(found, allow_invalid), broken))


def _newest(operands: tuple[str, ...], how: Judging, across: Across) -> int:
    """Prints the verdict on each circle's newest point; the exit code."""
    from cyclometer.compare import newest
    from cyclometer.report import newest as report

    found = newest.newest(histories.compared(operands, how.options, across, ("*",)), how.options)
    how.form.print(report, found)
    return newest.code(found)
