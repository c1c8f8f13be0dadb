# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer list`: circles with their contracts, and targets."""

from __future__ import annotations

import fnmatch

import rich_click as click

from cyclometer.cli.common import did_you_mean, note_broken, print_json
from cyclometer.errors import NotComparable, UsageError


@click.command()
@click.argument("pattern", default="*")
@click.option("--target", help="Only the circles of this target.")
@click.option("--json", "as_json", is_flag=True, help="Print full contracts, and targets, as JSON.")
def command(pattern: str, target: str | None, as_json: bool) -> None:
    """List circles whose key matches PATTERN, and the targets they run on.

    Example: cyclometer list --target linux

    Example: cyclometer list 'semaphore.*' --json
    """
    from cyclometer.targets.registry import TARGETS

    targets, broken = TARGETS.load_all() if target is None else ({target: TARGETS.load(target)}, [])
    note_broken(broken)
    everything = [
        (name, contract)
        for name, one in targets.items()
        if target is not None or not one.missing()
        for contract in one.circles()[1]
    ]
    known = [contract.key for _, contract in everything]
    circles = [one for one in everything if fnmatch.fnmatchcase(one[1].key, pattern)]
    if as_json:
        from cyclometer.report.documents.listed import Circle, Circles, Target

        rows = [Circle(contract.key, name, contract) for name, contract in circles]
        listed = [Target(name, one.description, one.missing()) for name, one in targets.items()]
        print_json(Circles(rows, listed))
        return
    for name, contract in circles:
        source = f" ({contract.source})" if contract.source else ""
        click.echo(f"{contract.key:48} {name:12} {contract.title}{source}")
    for one in targets.values():
        if one.missing():
            click.echo(f"not listed: {one.missing()}", err=True)
    if target is not None and not known:
        raise NotComparable(f"only a measurement shows which circles target {target} has")
    if not circles:
        raise UsageError(_no_match(pattern, known))


def _no_match(pattern: str, keys: list[str]) -> str:
    """A sentence with a pattern that does match, if a small change of `pattern` makes one."""
    wider = f"*{pattern}*"
    if any(fnmatch.fnmatchcase(key, wider) for key in keys):
        hint = f"; try '{wider}', because PATTERN matches the whole key"
    else:
        hint = did_you_mean(pattern, keys)
    return f"no circle matches {pattern!r}{hint}; `cyclometer list` shows them all"
