# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer schema`: what the JSON of the commands looks like."""

from __future__ import annotations

import json

import rich_click as click

from cyclometer.cli.common import did_you_mean, print_json
from cyclometer.errors import UsageError


@click.command()
@click.argument("kind", required=False)
@click.option("--json", "as_json", is_flag=True, help="List the kinds as JSON.")
def command(kind: str | None, as_json: bool) -> None:
    """Print the JSON Schema of one KIND of output; without KIND, list the kinds.

    Every document that a command prints with --json states its kind and version in `schema`.

    Example: cyclometer schema comparison
    """
    from cyclometer.report.documents import kinds
    from cyclometer.report.documents.listed import Kinds

    if kind is None:
        listed = {name: kinds.describe(name) for name in kinds.KINDS}
        if as_json:
            print_json(Kinds({kinds.name(k): text for k, text in listed.items()}))
        else:
            click.echo("\n".join(f"{name:22} {text}" for name, text in listed.items()))
    elif kind in kinds.KINDS:
        click.echo(json.dumps(kinds.schema(kind), indent=1))
    else:
        hint = did_you_mean(kind, kinds.KINDS)
        raise UsageError(f"there is no kind {kind!r}{hint}; `cyclometer schema` lists them")
