# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer report`: bundles as one HTML file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.errors import UsageError

if TYPE_CHECKING:
    from cyclometer.bundle.model import Bundle

_MOST = 6  # sides that colours can distinguish


@click.command()
@click.argument("bundle", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="HTML file to write.",
)
@click.option("--title", help="Heading of the report.  [default: made from the bundles]")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(bundle: tuple[Path, ...], output: Path, title: str | None, as_json: bool) -> None:
    """Write bundles, or other tools' files, as one HTML file that needs no network.

    One BUNDLE is shown as latencies, two as changes from the first to the second, and up to six as
    changes from the first. Without BUNDLE the newest one in results/ is used.

    Example: cyclometer report results/before results/after -o report.html
    """
    from cyclometer.cli.common import load, print_json, write_output
    from cyclometer.report.documents.written import Report
    from cyclometer.report.html.document import document
    from cyclometer.report.html.subject import subject

    if len(bundle) > _MOST:
        raise UsageError(
            f"a report holds at most {_MOST} bundles side by side, not {len(bundle)}; name fewer"
        )
    loaded = [load(path) for path in bundle] or [load(None)]
    about = subject(loaded, _labels(bundle))
    text = document(about, title or _title(loaded))
    size_bytes = write_output(output, text)
    if as_json:
        counts = Counter(entry.verdict for entry in about.entries)
        print_json(Report(str(output), size_bytes, counts))
    else:
        click.echo(f"{output}: {len(about.entries)} circles, {size_bytes / 1e6:.1f} MB", err=True)


def _title(bundles: list[Bundle]) -> str:
    """From what was measured, and whether it is compared."""
    identity = bundles[0].identity
    cpu = identity.environment.get("cpu_model")
    target = identity.tool if identity.target == "unknown" else identity.target
    what = identity.title or f"{target}{f' on {cpu}' if cpu else ''}"
    return f"What changed: {what}" if len(bundles) > 1 else f"Latencies: {what}"


def _labels(paths: tuple[Path, ...]) -> list[str]:
    """What the sides are called: before and after, or where there are more what their paths end
    in.
    """
    if len(paths) < 3:
        return ["before", "after"] if len(paths) == 2 else ["measured"]
    names = [path.name for path in paths]
    return [
        name if names.count(name) == 1 else f"{name} ({place})"
        for place, name in enumerate(names, 1)
    ]
