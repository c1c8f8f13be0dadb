# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer export`: a bundle in another tool's format."""

from __future__ import annotations

import sys
from pathlib import Path

import rich_click as click

from cyclometer.cli import assignments
from cyclometer.cli.common import bundle_argument, load, note_broken, write_output
from cyclometer.errors import UsageError


@click.command()
@bundle_argument
@click.option(
    "--format",
    "name",
    default="json",
    show_default=True,
    metavar="FORMAT",
    help="Format to write; --list prints all.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--circle", "keys", multiple=True, metavar="KEY", help="Only this circle; may be repeated."
)
@assignments.option("--where", help="Only rows of this configuration; may be repeated.")
@click.option("--run", type=int, help="kbench: the number of the run.  [default: the first]")
@click.option(
    "--samples", is_flag=True, help="csv: every raw sample instead of one line per circle."
)
@click.option(
    "--chart",
    default="samples",
    show_default=True,
    metavar="NAME",
    help="svg, png: samples, ecdf, difference, line, cold or sequence.",
)
@click.option(
    "--beside",
    type=click.Path(path_type=Path),
    metavar="BUNDLE",
    help="svg, png: overlay the same circle of BUNDLE, drawn as 'after'.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file.  [default: standard output]",
)
@click.option("--list", "listing", is_flag=True, help="List the formats and exit.")
def command(
    bundle: Path | None,
    name: str,
    keys: tuple[str, ...],
    where: dict[str, str],
    run: int | None,
    samples: bool,
    chart: str,
    beside: Path | None,
    output: Path | None,
    listing: bool,
    as_json: bool,
) -> None:
    """Write a bundle in another tool's format.

    Without BUNDLE the newest one in results/ is exported.

    Example: cyclometer export results/before --format benchstat -o before.txt

    Example: cyclometer export results/before --format kbench --circle pipe.round_trip.cross.equal
    """
    from dataclasses import replace

    from cyclometer.report.export import EXPORTERS, request

    if listing:
        known, broken = EXPORTERS.load_all()
        for each, exporter in known.items():
            click.echo(f"{each:20} {_description(exporter)}")
        note_broken(broken)
        return
    write = EXPORTERS.load("json" if as_json else name)
    asked = request.make(load(bundle), keys, where)
    other = None if beside is None else request.make(load(beside), keys, where)
    _deliver(write(replace(asked, run=run, samples=samples, chart=chart, beside=other)), output)
    _say_left_out([n for n, e in zip(asked.names, asked.estimates, strict=True) if not e.valid])


def _description(exporter: object) -> str:
    return (exporter.__doc__ or "").strip().split("\n")[0]


def _say_left_out(names: list[str]) -> None:
    if names:
        some = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
        click.echo(
            f"note: no valid latency for {some}; formats that hold results alone leave them out",
            err=True,
        )


def _deliver(content: str | bytes, output: Path | None) -> None:
    if output is not None:
        write_output(output, content)
        return
    if isinstance(content, bytes) and sys.stdout.isatty():
        raise UsageError("this format is not text; name a file with -o")
    sys.stdout.buffer.write(content.encode() if isinstance(content, str) else content)
