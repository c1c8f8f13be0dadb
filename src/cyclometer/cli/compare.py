# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer compare`: what changed between two sides, and how sure that is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import sides
from cyclometer.cli.judging import Form, Judging
from cyclometer.errors import UsageError

if TYPE_CHECKING:
    from cyclometer.compare.pairing import Across


# options of earlier versions that are commands now
_MOVED = ("--matrix", "--aa", "--history")


class _Compare(sides.TwoSides):
    """Names the command that an option of an earlier version has become."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for moved in _MOVED:
            if moved in args:
                raise UsageError(f"{moved} is a command: write `cyclometer {moved[2:]} BUNDLE...`")
        return super().parse_args(ctx, args)


@click.command(cls=_Compare)
@sides.options
@click.option(
    "--why",
    is_flag=True,
    help="Print what the processor counted per turn on both sides, and how much code a turn "
    "touches if both have traces (two bundles).",
)
def command(
    operands: tuple[str, ...],
    how: Judging,
    across: Across,
    why: bool,
) -> None:
    """Compare BEFORE with AFTER: bundles, or other tools' files.

    `--` separates the two sides if one has several files. A change is (after - before) / before.
    One file may contain both sides (rows of state=before and state=after).

    Exit codes: 0 if at least one row was compared, whatever changed; 4 if no row can be compared;
    6 if nothing was measured. `cyclometer gate` exits by the verdicts.

    Example: cyclometer compare results/before results/after

    Example: cyclometer compare before/*.json -- after/*.json --margin 2%
    """
    from cyclometer.compare import verdicts

    if why and how.options.on != ("latency",):
        raise UsageError("--on judges two sides; leave it out with --why")
    if why:
        _why(sides.together(operands), how.form)
        return
    from cyclometer.report import comparison

    found = sides.compare(operands, how.options, across)
    how.form.print(comparison, found)
    sys.exit(verdicts.compare_code(found))


def _why(paths: list[Path], form: Form) -> None:
    from cyclometer.compare import why
    from cyclometer.explain import layout
    from cyclometer.report import why as report

    if len(paths) != 2:
        raise UsageError("--why takes two bundles: `cyclometer compare --why BEFORE AFTER`")
    before, after = (sides.load([path])[0] for path in paths)
    footprints = layout.kept(paths[0], paths[1], why.shared(before, after))
    for reason in footprints.unread:
        click.echo(f"no footprint of {reason}", err=True)
    form.print(report, report.Reasons(why.why(before, after), footprints))
