# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer aa`: how often runs of one build are called different."""

from __future__ import annotations

import rich_click as click

from cyclometer.cli import sides


@click.command()
@click.argument("operands", nargs=-1, required=True, metavar="BUNDLE|STORE...")
@sides.layout_floor_option
@sides.judging
def command(
    operands: tuple[str, ...],
    margin: float,
    fdr: float,
    layout_floor: float | None,
    as_json: bool,
    as_markdown: bool,
    form: str | None,
) -> None:
    """Count false alarms: how often repeated runs of one build are called different (A/A).

    Every change that is found between equal measurements is a false one. A folder stands for the
    bundles in it; of one bundle, the first half of its session is compared with the second.

    Example: cyclometer aa results/repeated
    """
    from cyclometer.compare import aa
    from cyclometer.report import aa as report

    printed = sides.Form.of(as_json, as_markdown, form)
    options = sides.options_of(margin, fdr, layout_floor)
    printed.print(report, aa.measure(sides.load(sides.together(operands)), options))
