# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer target`: build what a target needs, ahead of its first use."""

from __future__ import annotations

import rich_click as click

from cyclometer.cli.common import print_json


@click.group()
def command() -> None:
    """Build what a target needs, ahead of its first use.

    Example: cyclometer target build linux
    """


@command.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the paths as JSON.")
def build(name: str, as_json: bool) -> None:
    """Compile what target NAME needs, and print the paths of what was built.

    Example: cyclometer target build linux
    """
    from cyclometer.cli.progress import Display
    from cyclometer.report.documents.written import Built
    from cyclometer.targets.api import Progress
    from cyclometer.targets.registry import TARGETS

    with Display() as display:
        paths = TARGETS.load(name).build(progress=Progress(display.show))
    made = Built(name, [str(path) for path in paths])
    if as_json:
        print_json(made)
    else:
        click.echo("\n".join(made.built))
