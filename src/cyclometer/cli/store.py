# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer store`: many bundles under one URL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from cyclometer.cli import common

if TYPE_CHECKING:
    from msgspec import Struct

    from cyclometer.report.documents.stored import Entry
    from cyclometer.store.listing import ListedBundle

_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
_url = click.argument("url")


@click.group()
def command() -> None:
    """Keep many bundles in a directory or under s3://, gs:// or az://, and query them.

    Example: cyclometer store init results/store && cyclometer store push results/store
    """


@command.command()
@_url
@_json
def init(url: str, as_json: bool) -> None:
    """Create an empty store.

    Example: cyclometer store init s3://bucket/latency
    """
    from cyclometer.report.documents.stored import Store
    from cyclometer.store import layout
    from cyclometer.store.location import Location

    layout.init(Location(url))
    _say(Store(url, layout.SCHEMA, []), f"made the store {url}", as_json)


@command.command()
@_url
@click.argument("bundles", nargs=-1, type=click.Path(path_type=Path))
@_json
def push(url: str, bundles: tuple[Path, ...], as_json: bool) -> None:
    """Copy BUNDLES into a store; without any, the newest one in results/.

    What is there already is not copied again. Any number of writers may push at once.

    Example: cyclometer store push results/store results/before results/after
    """
    from cyclometer.bundle import store as folders
    from cyclometer.report.documents.stored import StoredBundle, Transferred
    from cyclometer.store import layout, transfer

    location = layout.opened(url)
    copied = []
    for path in bundles or (folders.latest(common.STORE),):
        digest, new = transfer.push(location, path)
        copied.append(StoredBundle(digest, str(path), new))
        if not as_json:
            click.echo(f"{digest[:12]} {path}{'' if new else ' (was there)'}")
    if as_json:
        common.print_json(Transferred(url, copied))


@command.command()
@_url
@click.argument("digests", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for the bundles.  [default: results]",
)
@_json
def pull(url: str, digests: tuple[str, ...], output: Path | None, as_json: bool) -> None:
    """Copy bundles out of a store, by the first digits of their digests, or `newest`.

    Example: cyclometer store pull results/store newest -o results
    """
    from cyclometer.report.documents.stored import StoredBundle, Transferred
    from cyclometer.store import layout, listing, transfer

    location = layout.opened(url)
    copied = []
    for digest in listing.found(location, digests):
        path = (output or common.STORE) / digest[:12]
        transfer.pull(location, digest, path)
        copied.append(StoredBundle(digest, str(path), new=False))
        if not as_json:
            click.echo(f"{digest[:12]} {path}")
    if as_json:
        common.print_json(Transferred(url, copied))


@command.command()
@_url
@click.option("--target", default="*", metavar="GLOB", help="Only bundles whose target matches.")
@_json
def ls(url: str, target: str, as_json: bool) -> None:
    """List the bundles of a store, oldest first.

    Example: cyclometer store ls results/store --target 'qemu-*'
    """
    from cyclometer.report.documents.stored import Store
    from cyclometer.store import layout, listing
    from cyclometer.text import plain

    found = [_entry(one) for one in listing.entries(layout.opened(url), target)]
    if as_json:
        common.print_json(Store(url, layout.SCHEMA, found))
        return
    for e in found:
        problems = f", {e.problems} problems" if e.problems else ""
        created = e.created[: len("2026-01-31T23:59")].replace("T", " ")
        line = f"{e.bundle[:12]} {created} {e.target}: {e.rows} rows{problems}"
        click.echo(plain(f"{line} {e.title}".rstrip()))


def _entry(one: ListedBundle) -> Entry:
    from cyclometer.report.documents.stored import Entry

    return Entry(
        bundle=one.bundle,
        created=f"{one.created.isoformat()}+00:00",
        target=one.target,
        title=one.title,
        task=one.task,
        rows=one.rows,
        problems=one.problems,
        samples=one.samples,
    )


@command.command()
@_url
@click.argument("sql")
@_json
def query(url: str, sql: str, as_json: bool) -> None:
    """Run an SQL query, by DuckDB, on the tables `bundles` and `rows` of a store.

    Example: cyclometer store query results/store "select key, min(latency) from rows group by key"
    """
    from cyclometer.store import index, layout

    names, found = index.query(layout.opened(url), sql)
    if as_json:
        from cyclometer.report.documents.stored import Answer

        records = [dict(zip(names, row, strict=True)) for row in found]
        common.print_json(Answer([_plain(record) for record in records]))
        return
    from rich import box
    from rich.table import Table

    from cyclometer.report.terminal import Terminal

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for name in names:
        table.add_column(name)
    for row in found:
        table.add_row(*("" if value is None else str(value) for value in row))
    Terminal().print(table)


@command.command()
@_url
@click.option(
    "--older",
    default=24.0,
    show_default=True,
    metavar="HOURS",
    help="Leave files alone that are younger than this.",
)
@click.option("--dry-run", is_flag=True, help="Only list what would be removed.")
@_json
def gc(url: str, older: float, dry_run: bool, as_json: bool) -> None:
    """Remove files that interrupted writers left behind.

    Example: cyclometer store gc results/store --dry-run
    """
    from cyclometer.report.documents.stored import Leftovers
    from cyclometer.store import layout, leftovers

    location = layout.opened(url)
    found = leftovers.find(location, older * 3600)
    for name in found:
        if not dry_run:
            location.remove(name)
        if not as_json:
            click.echo(name)
    done = "to remove" if dry_run else "removed"
    _say(Leftovers(found, not dry_run), f"{len(found)} files {done}", as_json)


def _say(answer: Struct, sentence: str, as_json: bool) -> None:
    if as_json:
        common.print_json(answer)
    else:
        click.echo(sentence)


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    """A row of an answer as JSON has it: times and the like as text."""
    return {
        name: value if isinstance(value, str | int | float | None) else str(value)
        for name, value in record.items()
    }
