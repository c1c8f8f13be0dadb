# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer ingest`: other tools' files into a bundle."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import assignments
from cyclometer.cli.common import STORE, note_broken, print_json
from cyclometer.errors import UsageError

if TYPE_CHECKING:
    from cyclometer.bundle.model import Bundle
    from cyclometer.report.documents import written

_MOST = 20  # problems that are printed


@click.command()
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="New folder for the bundle.  [default: results/NAME of the first file]",
)
@click.option(
    "--format",
    "format_name",
    default="",
    metavar="NAME",
    help="Format of the files, if it is not recognised; see --formats.",
)
@click.option(
    "--map",
    "mapping",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.toml",
    help="Read any CSV, TSV, JSON or JSONL; FILE.toml names its key, value, unit and run.",
)
@assignments.option(
    "--set",
    "settings",
    help="A fact that the files do not state, such as board=hifive; may be repeated.",
)
@click.option(
    "--formats",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda c, _, v: _list(c, v),
    help="List the formats and the settings, and exit.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was read as JSON.")
def command(
    files: tuple[Path, ...],
    output: Path | None,
    format_name: str,
    mapping: Path | None,
    settings: dict[str, str],
    as_json: bool,
) -> None:
    """Make a bundle from the results of another tool.

    Several files of one tool are runs of the same rows. A line that looks like data and is not
    understood is reported, never dropped. The bundle keeps the raw files.

    Example: cyclometer ingest boot-*.log --set board=hifive -o results/before
    """
    from cyclometer.bundle import store
    from cyclometer.ingest import Settings, broken, ingest
    from cyclometer.ingest import mapping as mappings

    if mapping is not None and format_name:
        raise UsageError("--map and --format both say how to read; give one of them")
    mapped = None if mapping is None else mappings.read(mapping)
    target = output or _unused(STORE / files[0].stem)
    store.refuse_existing(target)
    bundle, raw = ingest(files, Settings(settings), format_name=format_name, mapped=mapped)
    stored = store.write(bundle, target, raw)
    note_broken(broken())
    report = _report(stored)
    if as_json:
        print_json(report)
    else:
        click.echo(_text(report))


def _unused(path: Path) -> Path:
    """`path`, or with a number behind it where it exists already."""
    fresh, count = path, 1
    while fresh.exists():
        count += 1
        fresh = path.with_name(f"{path.name}-{count}")
    return fresh


def _report(bundle: Bundle) -> written.Ingested:
    """What was read, for people and for programs."""
    from cyclometer.report.documents import members, written

    identity = bundle.identity
    return written.Ingested(
        bundle=bundle.path,
        digest=bundle.digest,
        tool=identity.tool,
        target=identity.target,
        files=len(identity.files),
        runs=identity.plan["runs"],
        rows=len(identity.rows),
        summaries=len(identity.summaries),
        samples=len(bundle.samples),
        problems=members.problems(identity.problems),
    )


def _text(read: written.Ingested) -> str:
    lines = [
        f"{read.files} file(s) of {read.tool}: {read.rows} rows, {read.runs} run(s), "
        f"{read.summaries} printed statistics, {read.samples} raw values",
        *(f"{p.kind}: {p.where}: {p.what}" for p in read.problems[:_MOST]),
    ]
    if len(read.problems) > _MOST:
        kinds = Counter(p.kind for p in read.problems)
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        lines.append(f"in all {counts}; `--json` lists them")
    return "\n".join([*lines, f"wrote {read.bundle}"])


def _list(context: click.Context, wanted: bool) -> None:
    if not wanted:
        return
    from cyclometer.ingest import broken, formats
    from cyclometer.ingest.parsed import SETTINGS

    lines = [
        "Formats:",
        *(f"  {name:18} {item.DESCRIPTION}" for name, item in formats().items()),
        "",
        "Settings:",
    ]
    click.echo(
        "\n".join([*lines, *(f"  {name:18} {meaning}" for name, meaning in SETTINGS.items())])
    )
    note_broken(broken())
    context.exit()
