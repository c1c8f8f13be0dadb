# SPDX-License-Identifier: BSD-2-Clause
"""Parsed files become one bundle: equal rows are joined, files of one tool are runs, raw files are
kept.

`part` takes from a file all it adds, as columns that pass cheaply from one process to another;
`assemble` joins parts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import (
    SCHEMA,
    Bundle,
    Identity,
    Problem,
    Row,
    Samples,
    Summary,
    no_samples,
)
from cyclometer.errors import NothingMeasured, UsageError
from cyclometer.ingest.parsed import Figure, Parsed, Settings
from cyclometer.ingest.reading import Foreign

_Turns = int | NDArray[np.int64]
_Groups = int | NDArray[np.int32]


@dataclass(frozen=True)
class FilePart:
    """What one file adds to a bundle, its rows and runs counted from 0.

    Of the figures that have raw values: `row`, `run`, `visit` and `length`, shape (figures,),
    `turns` and `groups` as in Figure, and `values` behind each other, shape (sum of `length`,).
    """

    name: str
    data: bytes
    tool: str
    target: str
    title: str
    environment: dict[str, Any]
    runs: tuple[dict[str, str], ...]
    problems: tuple[Problem, ...]
    rows: tuple[Row, ...]
    # MessagePack of a list of Summary, several times as fast to pass on as the objects
    summaries: bytes
    row: NDArray[np.int32]
    run: NDArray[np.int32]
    visit: NDArray[np.int32]
    length: NDArray[np.int64]
    turns: tuple[_Turns, ...]
    groups: tuple[_Groups, ...]
    values: NDArray[np.float64]


def part(foreign: Foreign, parsed: Parsed) -> FilePart:
    """All that `parsed`, which was read from `foreign`, adds to a bundle."""
    numbers: dict[int, int] = {}  # by id: the rows live as long as `parsed`
    rows: list[Row] = []
    summaries: list[Summary] = []
    valued: list[tuple[int, Figure]] = []
    for figure in parsed.figures:
        number = numbers.setdefault(id(figure.row), len(rows))
        if number == len(rows):
            rows.append(figure.row)
        if figure.summary is not None:
            summaries.append(_placed(figure.summary, number, figure))
        if len(figure.values):
            valued.append((number, figure))
    figures = [figure for _, figure in valued]
    return FilePart(
        foreign.name,
        foreign.data,
        parsed.tool,
        parsed.target,
        parsed.title,
        parsed.environment,
        parsed.runs,
        parsed.problems,
        tuple(rows),
        msgspec.msgpack.encode(summaries),
        row=np.array([number for number, _ in valued], np.int32),
        run=np.array([figure.run for figure in figures], np.int32),
        visit=np.array([figure.visit for figure in figures], np.int32),
        length=np.array([len(figure.values) for figure in figures], np.int64),
        turns=tuple(figure.turns for figure in figures),
        groups=tuple(figure.groups for figure in figures),
        values=np.concatenate([figure.values for figure in figures] or [np.empty(0)]),
    )


def _placed(summary: Summary, row: int, figure: Figure) -> Summary:
    return msgspec.structs.replace(
        summary, row=row, run=figure.run, visit=figure.visit, source=figure.row.source
    )


def assemble(parts: Iterable[FilePart], settings: Settings) -> tuple[Bundle, dict[str, bytes]]:
    """One bundle of all files, and the raw files to keep in it: name in the bundle -> bytes.

    Files of one tool are runs of the same rows, in the order given. Rows are the same when
    contract, clock, method, configuration and flow are. Raises NothingMeasured without files,
    UsageError for files of different machines.
    """
    joined = _Joined()
    for one in parts:
        joined.add(one)
    if not joined.rows:
        raise NothingMeasured("no file holds a result; give at least one")
    if len(joined.targets) > 1:
        (one_target, file), (other, other_file) = list(joined.targets.items())[:2]
        raise UsageError(
            f"{file} is of {one_target} and {other_file} of {other}; make a bundle of each, or "
            "--set board=NAME"
        )
    return Bundle(joined.identity(settings), _samples(joined.samples)), joined.raw


@dataclass
class _Joined:
    """What the files read so far amount to."""

    rows: dict[bytes, Row] = field(default_factory=dict)  # by what makes them the same, in order
    numbers: dict[bytes, int] = field(default_factory=dict)
    summaries: list[Summary] = field(default_factory=list)
    # rows and runs counted through the bundle
    samples: list[FilePart] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    raw: dict[str, bytes] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)  # tool -> runs so far
    targets: dict[str, str] = field(default_factory=dict)  # target -> first file of it
    titles: dict[str, None] = field(default_factory=dict)

    def add(self, part: FilePart) -> None:
        name = _fresh_name(part.name, self.raw)
        self.raw[f"raw/{name}"] = part.data
        first = self.runs.get(part.tool, 0)
        self.runs[part.tool] = first + len(part.runs)
        note = {"file": name, "tool": part.tool, "first_run": first, "runs": list(part.runs)}
        self.notes.append(note | part.environment)
        self.problems += part.problems
        self.titles[part.title] = None
        if part.target:
            self.targets.setdefault(part.target, name)
        rows = [_keep_source(row, name) for row in part.rows]
        numbers = np.array([self._number(row) for row in rows], np.int32)
        self._add_summaries(part, rows, numbers, first)
        runs = np.where(part.run >= 0, part.run + first, -1).astype(np.int32)
        # without the file and its summaries, which are held above
        self.samples.append(replace(part, row=numbers[part.row], run=runs, data=b"", summaries=b""))

    def _number(self, row: Row) -> int:
        same = _what_makes_it(row)
        self.rows.setdefault(same, row)
        return self.numbers.setdefault(same, len(self.numbers))

    def _add_summaries(
        self, part: FilePart, rows: list[Row], numbers: NDArray[np.int32], first: int
    ) -> None:
        known = numbers.tolist()
        for summary in msgspec.msgpack.decode(part.summaries, type=list[Summary]):
            # Fresh from the decoder and nobody else's yet, so that it may still be changed.
            place, change = summary.row, msgspec.structs.force_setattr
            change(summary, "row", known[place])
            change(summary, "source", rows[place].source)
            if summary.run >= 0:
                change(summary, "run", summary.run + first)
            self.summaries.append(summary)

    def identity(self, settings: Settings) -> Identity:
        return Identity(
            schema=SCHEMA,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            target=next(iter(self.targets), "unknown"),
            rows=tuple(self.rows.values()),
            summaries=tuple(self.summaries),
            problems=tuple(self.problems),
            environment={"ingested": self.notes, "settings": dict(settings.values)},
            plan={"runs": max(self.runs.values())},
            title=settings.text("title", next(iter(self.titles)) if len(self.titles) == 1 else ""),
            tool=" + ".join(self.runs),
            files={name: hashlib.sha256(data).hexdigest() for name, data in self.raw.items()},
        )


def _what_makes_it(row: Row) -> bytes:
    return msgspec.json.encode(
        (
            row.contract,
            row.clock,
            row.method,
            sorted(row.configuration.items()),
            row.flow,
            row.better,
        )
    )


def _keep_source(row: Row, kept: str) -> Row:
    if row.source is None or row.source.file == kept:
        return row
    return msgspec.structs.replace(row, source=msgspec.structs.replace(row.source, file=kept))


def _fresh_name(name: str, taken: Mapping[str, bytes]) -> str:
    """`name` as a plain file name that no kept file has: no separators, no leading dot, printable
    ASCII.
    """
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-+") else "_" for c in name)[
        -100:
    ].lstrip("._-+")
    safe = safe or "file"
    stem, dot, suffix = safe.rpartition(".")
    stem, ending = (stem, dot + suffix) if stem else (safe, "")
    fresh, count = safe, 1
    while f"raw/{fresh}" in taken:
        count += 1
        fresh = f"{stem}-{count}{ending}"
    return fresh


def _samples(parts: list[FilePart]) -> Samples:
    """All parts' values behind each other, in order."""
    length = _joined(part.length for part in parts)
    total = int(length.sum())
    if not total:
        return no_samples()
    starts = np.cumsum(length) - length
    return Samples(
        row=np.repeat(_joined(part.row for part in parts), length),
        run=np.repeat(_joined(part.run for part in parts), length),
        visit=np.repeat(_joined(part.visit for part in parts), length),
        group=_spread((groups for part in parts for groups in part.groups), length, np.int32),
        test=np.arange(total, dtype=np.int32) - np.repeat(starts.astype(np.int32), length),
        turns=_spread((turns for part in parts for turns in part.turns), length, np.int64),
        value=_joined(part.values for part in parts),
        at=np.broadcast_to(np.int64(-1), total),
        tags=np.broadcast_to(np.int32(0), total),
        kind=np.broadcast_to(np.int8(0), total),
    )


def _joined(arrays: Iterable[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(list(arrays))


def _spread(
    values: Iterable[int | NDArray[Any]], length: NDArray[np.int64], dtype: type
) -> NDArray[Any]:
    """One number a sample, from one number or one array a figure."""
    listed = list(values)
    if all(isinstance(value, int) for value in listed):
        numbers: NDArray[Any] = np.array(listed, dtype)
        alike = (numbers == numbers[0]).all()
        return (
            np.broadcast_to(numbers[0], int(length.sum())) if alike else np.repeat(numbers, length)
        )
    pairs = zip(listed, length.tolist(), strict=True)
    return np.concatenate([np.broadcast_to(np.asarray(value, dtype), (n,)) for value, n in pairs])
