# SPDX-License-Identifier: BSD-2-Clause
"""What several commands share: naming and loading bundles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

if TYPE_CHECKING:
    from cyclometer.bundle.model import Bundle

STORE = Path("results")

bundle_argument = click.argument("bundle", required=False, type=click.Path(path_type=Path))


def load(path: Path | None) -> Bundle:
    """The bundle at `path`, or made of another tool's file there, or the newest of the store.

    Raises BadFile or NothingMeasured.
    """
    from cyclometer.bundle import store

    if path is not None and path.is_file():
        from cyclometer.ingest import ingest

        return ingest([path])[0]
    return store.read(path or store.latest(STORE))


def pairs(_: click.Context | None, parameter: click.Parameter | None, value: str | None) -> dict[str, str]:
    """`a=b,c=d` as a mapping."""
    try:
        return dict(pair.split("=", 1) for pair in value.split(",")) if value else {}
    except ValueError as error:
        raise click.BadParameter("write it as option=value,option=value", param=parameter) from error
