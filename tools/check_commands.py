# SPDX-License-Identifier: BSD-2-Clause
"""Every command has a help text with an example and --json, and a page that names it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from findings import run


def check(root: Path) -> Iterator[str]:
    from cyclometer.cli import COMMANDS, cli

    pages = "\n".join(
        path.read_text() for path in (root / "README.md", *sorted((root / "docs").rglob("*.md")))
    )
    context = click.Context(cli)
    for name in COMMANDS:
        try:
            command = cli.get_command(context, name)
        except ImportError as error:
            yield f"src/cyclometer/cli/__init__.py: {name} cannot be loaded: {error}"
            continue
        if command is not None:
            yield from check_command(name, command, pages)


def check_command(name: str, command: click.Command, pages: str) -> Iterator[str]:
    where = f"src/cyclometer/cli/{name}.py"
    if f"Example: cyclometer {name}" not in (command.help or ""):
        yield f"{where}: the help of {name} shows no `Example: cyclometer {name} ...`"
    leaves = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    for leaf in leaves:
        if not any("--json" in parameter.opts for parameter in leaf.params):
            yield f"{where}: {leaf.name} has no --json"
    if f"cyclometer {name}" not in pages:
        yield f"README.md: neither it nor a page in docs/ names `cyclometer {name}`"


if __name__ == "__main__":
    run(check)
