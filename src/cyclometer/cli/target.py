# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer target`: build what a target needs, ahead of its first use."""

from __future__ import annotations

import rich_click as click


@click.group()
def command() -> None:
    """Build what a target needs, ahead of its first use.

    Example: cyclometer target build linux
    """


@command.command()
@click.argument("name", type=click.Choice(["linux"]))
def build(name: str) -> None:
    """Compile the harness of target NAME and print where it is.

    Example: cyclometer target build linux
    """
    from cyclometer.targets import build as builder

    del name  # one buildable target so far, already checked
    click.echo(builder.harness())
