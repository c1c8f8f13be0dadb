# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer site`: a store as static pages."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from cyclometer.cli import common


@click.command()
@click.argument("url", metavar="STORE")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("public"),
    show_default=True,
    help="Folder for the pages.",
)
@click.option(
    "--acknowledge",
    multiple=True,
    nargs=2,
    metavar="ALERT WHY",
    help="First record in the store that ALERT was reviewed, and WHY; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(
    url: str, output: Path, acknowledge: tuple[tuple[str, str], ...], as_json: bool
) -> None:
    """Write a store as static pages: what changed, each circle's history, any two bundles.

    If the folder contains the site already, it is updated. An ALERT is the id that the first page
    shows beside a change.

    Example: cyclometer site s3://bucket/latency -o public

    Example: cyclometer site results/store -o public --acknowledge 0123456789 'new compiler'
    """
    from cyclometer.report.documents.written import Site, SiteWritten
    from cyclometer.site import build, triage
    from cyclometer.store import layout

    location = layout.opened(url)
    for alert, why in acknowledge:
        triage.acknowledge(location, alert, why)
    built = build.build(location, output)
    if as_json:
        written = SiteWritten(built.circles, built.bundles)
        common.print_json(Site(str(output), built.verdict, written))
        return
    click.echo(built.verdict)
    click.echo(
        f"{output}: wrote {built.circles} of {built.all_circles} circles and "
        f"{built.bundles} of {built.all_bundles} bundles",
        err=True,
    )
