# SPDX-License-Identifier: BSD-2-Clause
"""Foreign files into bundles: recognise the format, read it, keep the original beside what was
read.

Our formats are listed in `ingest.formats`; packages add theirs by the entry-point group
`cyclometer.ingest`. See `parsed` for what a module must have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from cyclometer.bundle.model import Bundle
from cyclometer.errors import BadFile, BrokenPlugin
from cyclometer.ingest import workers
from cyclometer.ingest.assemble import FilePart, assemble, part
from cyclometer.ingest.formats import IN_TREE
from cyclometer.ingest.parsed import Parsed, Settings
from cyclometer.ingest.reading import HEAD_BYTES, MAX_FILE_BYTES, Foreign, read
from cyclometer.plugins import Plugins

__all__ = ["Format", "Settings", "detect", "formats", "ingest"]

CERTAIN = 90  # a score from which no other format is asked


@runtime_checkable
class Format(Protocol):
    """A module, or anything with these four members. NAME is the name that it is registered by."""

    NAME: str
    DESCRIPTION: str

    def detect(self, head: bytes, filename: str, /) -> int: ...

    def parse(self, foreign: Foreign, settings: Settings, /) -> Parsed: ...


def _accept(name: str, found: Any) -> Format:
    if not isinstance(found, Format) or name != found.NAME:
        raise TypeError("it lacks NAME, DESCRIPTION, detect() or parse(), or its NAME differs")
    return found


FORMATS = Plugins(
    "format",
    "cyclometer.ingest",
    {name: f"cyclometer.ingest.formats.{module}" for name, module in IN_TREE.items()},
    _accept,
)


@cache
def _loaded() -> tuple[dict[str, Format], list[BrokenPlugin]]:
    return FORMATS.load_all()


def formats() -> dict[str, Format]:
    """Every format that can be loaded by name, in alphabetical order."""
    return _loaded()[0]


def broken() -> list[BrokenPlugin]:
    """Why the others cannot."""
    return _loaded()[1]


def detect(foreign: Foreign, likely: Format | None = None) -> Format:
    """The format that claims the file most strongly; `likely` is asked first. BadFile if none
    does.
    """
    head = foreign.data[:HEAD_BYTES]
    if likely is not None and likely.detect(head, foreign.name) >= CERTAIN:
        return likely
    best, score = None, 0
    for item in formats().values():
        claim = item.detect(head, foreign.name)
        if claim > score:
            best, score = item, claim
    if best is None:
        raise BadFile(
            f"{foreign.name} is in no known format; name one with --format: {', '.join(formats())}"
        )
    return best


def ingest(
    paths: Sequence[str | Path],
    settings: Settings | None = None,
    *,
    format_name: str = "",
    mapped: Format | None = None,
    max_bytes: int = MAX_FILE_BYTES,
) -> tuple[Bundle, dict[str, bytes]]:
    """One bundle of all files, several of one tool being runs of the same rows, and the raw files
    to keep. `mapped` is a format of the user's own, which reads all of them.

    Raises BadFile for a file that cannot be read or is in no known format, UsageError for a setting
    that cannot mean anything, NothingMeasured without files.
    """
    settings = settings or Settings()
    if format_name:
        FORMATS.load(format_name)  # an unknown name is an error before any file is read
    read_one = partial(
        _part, settings=settings, format_name=format_name, mapped=mapped, max_bytes=max_bytes
    )
    return assemble(_parts(paths, read_one), settings)


def _parts(
    paths: Sequence[str | Path], read_one: Callable[..., tuple[FilePart, str]]
) -> Iterator[FilePart]:
    """Parts in the order of `paths`. What the first file is, the others most likely are."""
    if paths:
        first, likely = read_one(paths[0])
        yield first
        yield from (
            part for part, _ in workers.in_order(partial(read_one, likely=likely), paths[1:])
        )


def _part(
    path: str | Path,
    *,
    settings: Settings,
    format_name: str,
    mapped: Format | None,
    max_bytes: int,
    likely: str = "",
) -> tuple[FilePart, str]:
    """What the file adds to a bundle, and its format."""
    foreign = read(path, max_bytes=max_bytes, encoding=settings.text("encoding", "utf-8"))
    named = FORMATS.load(format_name) if format_name else mapped
    chosen = named or detect(foreign, formats().get(likely))
    return part(foreign, chosen.parse(foreign, settings)), chosen.NAME
