# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer aa`: how often runs of one build are called different."""

from __future__ import annotations

import rich_click as click

from cyclometer.cli import judging, sides
from cyclometer.cli.judging import Judging


@click.command()
@click.argument("operands", nargs=-1, required=True, metavar="BUNDLE|STORE...")
@judging.layout_floor_option
@judging.options
def command(
    operands: tuple[str, ...],
    how: Judging,
) -> None:
    """Count false alarms: how often repeated runs of one build are called different (A/A).

    Nothing changed between these measurements, so every change that is found is a false alarm. A
    folder stands for the bundles in it. If there is only one bundle, the first half of its session
    is compared with the second.

    Example: cyclometer aa results/repeated
    """
    from cyclometer.compare import aa
    from cyclometer.report import aa as report

    how.form.print(report, aa.measure(sides.load(sides.together(operands)), how.options))
