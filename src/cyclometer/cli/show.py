# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer show`: print what a bundle says."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from cyclometer.cli.common import bundle_argument, load, print_json


@click.command()
@bundle_argument
@click.option(
    "--circle",
    metavar="KEY",
    help="Print everything about this circle, with a plot of its samples.",
)
@click.option("--wide", is_flag=True, help="Print every column, however wide the table gets.")
@click.option("--json", "as_json", is_flag=True, help="Print the estimates as JSON.")
def command(bundle: Path | None, circle: str | None, wide: bool, as_json: bool) -> None:
    """Print a bundle: one line for each circle, or everything about one circle.

    BUNDLE may also be another tool's file. Without it, the newest bundle in results/ is shown.

    Example: cyclometer show

    Example: cyclometer show results/before --circle pipe.round_trip.cross.equal
    """
    from cyclometer.report import table

    loaded = load(bundle)
    if circle is not None:
        from cyclometer.report import detail

        detail.show(loaded, circle, as_json)
    elif as_json:
        print_json(table.as_json(loaded))
    else:
        table.show(loaded, wide)
