# SPDX-License-Identifier: BSD-2-Clause
"""Bundles into a store and out of it."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from cyclometer.bundle import store as folders
from cyclometer.bundle.model import Bundle
from cyclometer.errors import BadFile
from cyclometer.store import layout, rows
from cyclometer.store.location import Location

_INNER = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._+-]{0,120}/)?[A-Za-z0-9][A-Za-z0-9._+-]{0,120}")


def push(
    location: Location, path: Path, announce: Callable[[Bundle, str], None] = lambda *_: None
) -> tuple[str, bool]:
    """(digest, whether it was new) of the bundle at `path`, which is in the store afterwards.

    `announce` is called with the bundle and the name of its entry when all but that is written.

    Its files come first and its entry in the table of bundles last, so that a reader sees all of a
    bundle or nothing. Whoever pushes the same bundle meanwhile writes the same bytes.
    """
    bundle = folders.read(path)
    entry = layout.table_file("bundles", bundle.identity.target, rows.month(bundle), bundle.digest)
    if location.exists(entry):
        return bundle.digest, False
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        name = f"{layout.folder(bundle.digest)}/{file.relative_to(path).as_posix()}"
        location.write(name, file.read_bytes())
    made = rows.tables(bundle)
    month = rows.month(bundle)
    of_rows = layout.table_file("rows", bundle.identity.target, month, bundle.digest)
    location.write(of_rows, made["rows"])
    announce(bundle, entry)
    location.write(entry, made["bundles"])
    return bundle.digest, True


def pull(location: Location, digest: str, path: Path) -> Bundle:
    """Copies a bundle to the new folder `path`, and checks that it is the one that was pushed.

    Raises BadFile if the store has no such bundle, or a damaged one.
    """
    folders.refuse_existing(path)
    inside = layout.folder(digest)
    contents = location.read_all(location.names(inside))
    if not contents:
        raise BadFile(f"{location.url} holds no bundle {digest[:12]}; `store ls` lists them")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name[:80]}.", dir=path.parent))
    try:
        for name, content in contents.items():
            _place(temporary, name.removeprefix(f"{inside}/"), content)
        bundle = folders.read(temporary)
        if bundle.digest != digest:
            raise BadFile(
                f"bundle {digest[:12]} of {location.url} is damaged: its files do not have its "
                "digest; remove it there and push it again"
            )
        temporary.chmod(0o755)
        temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return Bundle(bundle.identity, bundle.samples, digest, str(path))


def _place(folder: Path, name: str, content: bytes) -> None:
    """Writes one file of a bundle; no name in a store becomes a path outside of the bundle."""
    if not _INNER.fullmatch(name):
        raise BadFile(f"a bundle's file cannot be named {name[:80]!r}; remove it from the store")
    target = folder / name
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(content)
