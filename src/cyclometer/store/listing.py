# SPDX-License-Identifier: BSD-2-Clause
"""What a store holds: its bundles by time, and the points of a circle's history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cyclometer.errors import BadFile, UsageError
from cyclometer.store import index
from cyclometer.store.location import Location

_LISTED = "bundle, created, target, title, task, row_count, problem_count, sample_count"


@dataclass(frozen=True)
class ListedBundle:
    """A bundle of a store, without its content."""

    bundle: str  # SHA-256
    created: datetime  # UTC
    target: str
    title: str
    task: str
    rows: int
    problems: int
    samples: int


def entries(location: Location, target: str = "*") -> list[ListedBundle]:
    """The bundles of targets that match a pattern, oldest first."""
    with index.tables(location) as database:
        return [
            ListedBundle(*row)
            for row in database.execute(
                f"SELECT {_LISTED} FROM bundles WHERE target GLOB $1 ORDER BY created, bundle",
                [target],
            ).fetchall()
        ]


def found(location: Location, prefixes: Sequence[str]) -> list[str]:
    """The digests that begin with these; `newest` is the newest one's.

    Raises BadFile if none begins so, UsageError if several do.
    """
    known = [entry.bundle for entry in entries(location)]
    return [_found(location, known, prefix) for prefix in prefixes]


def _found(location: Location, known: Sequence[str], prefix: str) -> str:
    if prefix == "newest" and known:
        return known[-1]
    matching = [digest for digest in known if digest.startswith(prefix)]
    if not matching:
        raise BadFile(f"{location.url} holds no bundle {prefix[:64]!r}; `store ls` lists them")
    if len(matching) > 1:
        raise UsageError(
            f"{len(matching)} bundles of {location.url} begin with {prefix!r}; write more digits"
        )
    return matching[0]
