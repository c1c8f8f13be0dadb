# SPDX-License-Identifier: BSD-2-Clause
"""Rows of bundles as git notes of the commits that they measured: a history without a server.

A note is a set of lines of JSON in sorted order, one for each row and one for each bundle, so that
git's own strategy `cat_sort_uniq` merges what two people noted, without a conflict.
"""

from __future__ import annotations

import fnmatch
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from cyclometer import git
from cyclometer.bundle.model import Bundle
from cyclometer.compare.finding import Options
from cyclometer.compare.history import Point, Series, series
from cyclometer.errors import BadFile, NothingMeasured
from cyclometer.store import rows
from cyclometer.text import printable

REF = "cyclometer"
_LARGEST = 1 << 24  # bytes of one note; a row takes some 300


class Noted(msgspec.Struct, frozen=True, tag="bundle"):
    """A bundle: SHA-256, time of its making, and what it states about its machine and build."""

    bundle: str
    created: str
    environment: str


class NotedRow(msgspec.Struct, frozen=True, tag="row"):
    """A row of a bundle, with the names and meanings of the store's table (docs/store.md)."""

    bundle: str
    key: str
    configuration: str
    unit: str
    exact: bool
    value: float | None = msgspec.field(name="latency")  # in `unit`
    layout_floor: float
    likeness: str


_Line = Noted | NotedRow


def add(root: Path, commit: str, bundles: Iterable[Bundle]) -> None:
    """Notes the rows of bundles at a commit, beside what is noted there. Adding twice is adding
    once.
    """
    lines = {line for _, _, text in _notes(root, [commit]) for line in text.splitlines()}
    for bundle in bundles:
        records = rows.records(bundle)
        entry = msgspec.convert(_of(Noted, records["bundles"][0]), Noted)
        noted = [msgspec.convert(_of(NotedRow, row), NotedRow) for row in records["rows"]]
        lines |= {msgspec.json.encode(one) for one in (entry, *noted)}
    text = b"\n".join(sorted(lines)).decode()
    git.git(root, "notes", f"--ref={REF}", "add", "--force", "--file=-", commit, stdin=text)


def _of(kind: type[msgspec.Struct], record: dict[str, object]) -> dict[str, object]:
    """The members of a kind of line in a record, with its tag."""
    named = {name: record[name] for name in kind.__struct_encode_fields__}
    return named | {"type": kind.__struct_config__.tag}


def history(root: Path, options: Options, only: Sequence[str]) -> list[Series]:
    """As `compare.history.history`, of the notes of all commits that HEAD descends from, in their
    order. Raises NothingMeasured if no note has a row that a pattern of `only` matches.
    """
    commits = git.git(root, "rev-list", "--reverse", "--topo-order", "HEAD").split()
    points: dict[str, list[Point]] = defaultdict(list)
    missing: dict[str, int] = defaultdict(int)
    for commit, _, text in _notes(root, commits):
        for entry, row in _rows(commit, text):
            if not any(fnmatch.fnmatchcase(row.key, pattern) for pattern in only):
                continue
            if row.value is None or row.value <= 0:
                missing[row.likeness] += 1
                continue
            points[row.likeness].append(_point(commit, entry, row, options))
    if not points:
        raise NothingMeasured(
            f"no note of {root} has a valid row of {', '.join(only)}; name bundles to note"
        )
    return [series(found, options, missing[name]) for name, found in points.items()]


def _point(commit: str, entry: Noted, row: NotedRow, options: Options) -> Point:
    floor = row.layout_floor if options.layout_floor is None else options.layout_floor
    return Point(
        row.key,
        row.value or 0.0,
        row.unit,
        _facts(commit, row.configuration),
        floor if row.exact else None,
        commit[:12],
        row.bundle[:12],
        _facts(commit, entry.environment) | {"commit": commit[:12]},
    )


def _rows(commit: str, text: bytes) -> list[tuple[Noted, NotedRow]]:
    """The rows of a note, each with its bundle, in the order in which the bundles were made."""
    lines = [_line(commit, line) for line in text.splitlines() if line.strip()]
    entries = {line.bundle: line for line in lines if isinstance(line, Noted)}
    found = [
        (entries[line.bundle], line)
        for line in lines
        if isinstance(line, NotedRow) and line.bundle in entries
    ]
    return sorted(found, key=lambda pair: (pair[0].created, pair[0].bundle))


def _line(commit: str, line: bytes) -> _Line:
    try:
        decoded: _Line = msgspec.json.decode(line, type=_Line)
        return printable(decoded)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _damaged(commit, error) from None


def _facts(commit: str, text: str) -> dict[str, str]:
    try:
        return printable(msgspec.json.decode(text, type=dict[str, str]))
    except (msgspec.DecodeError, RecursionError) as error:
        raise _damaged(commit, error) from None


def _damaged(commit: str, error: Exception) -> BadFile:
    return BadFile(
        f"the note of commit {commit[:12]} is damaged ({error}); `git notes --ref={REF} edit "
        f"{commit[:12]}` mends it"
    )


def _notes(root: Path, commits: Sequence[str]) -> list[tuple[str, str, bytes]]:
    """(commit, blob, text) of those commits that have a note, in their order."""
    listed = git.git(root, "notes", f"--ref={REF}", "list").splitlines()
    blobs = {commit: blob for blob, commit in (line.split() for line in listed)}
    wanted = [(commit, blobs[commit]) for commit in commits if commit in blobs]
    sizes = git.git(
        root,
        "cat-file",
        "--batch-check=%(objectsize)",
        stdin="".join(f"{blob}\n" for _, blob in wanted),
    ).split()
    for (commit, _), size in zip(wanted, sizes, strict=True):
        if int(size) > _LARGEST:
            raise _damaged(commit, ValueError(f"it has {size} bytes"))
    return [
        (commit, blob, git.git(root, "cat-file", "blob", blob).encode()) for commit, blob in wanted
    ]
