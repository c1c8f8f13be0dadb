# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer list`: circles with their contracts, and targets."""

from __future__ import annotations

import fnmatch
import json

import rich_click as click

from cyclometer.cli.common import note_broken
from cyclometer.errors import UsageError


@click.command()
@click.argument("pattern", default="*")
@click.option("--target", help="Only this target's circles.")
@click.option("--json", "as_json", is_flag=True, help="Print contracts in full as JSON.")
def command(pattern: str, target: str | None, as_json: bool) -> None:
    """List circles whose key matches PATTERN, and the targets they run on.

    Example: cyclometer list 'semaphore.*' --json
    """
    from cyclometer.targets.registry import TARGETS

    targets, broken = TARGETS.load_all() if target is None else ({target: TARGETS.load(target)}, [])
    note_broken(broken)
    circles = [
        (name, contract)
        for name, one in targets.items()
        if target is not None or not one.missing()
        for contract in one.circles()[1]
        if fnmatch.fnmatchcase(contract.key, pattern)
    ]
    if as_json:
        import msgspec

        rows = [
            {"key": c.key, "target": name, "contract": msgspec.to_builtins(c)}
            for name, c in circles
        ]
        listed = [
            {"name": name, "description": one.description, "missing": one.missing()}
            for name, one in targets.items()
        ]
        click.echo(json.dumps({"circles": rows, "targets": listed}, indent=1))
        return
    for name, contract in circles:
        source = f" ({contract.source})" if contract.source else ""
        click.echo(f"{contract.key:48} {name:12} {contract.title}{source}")
    for one in targets.values():
        if one.missing():
            click.echo(f"not listed: {one.missing()}", err=True)
    if not circles:
        raise UsageError(f"no circle matches {pattern!r}; `cyclometer list` shows them all")
