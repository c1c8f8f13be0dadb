# SPDX-License-Identifier: BSD-2-Clause
"""Parsed files become one bundle: equal rows are joined, files of one tool are runs, raw files are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import SCHEMA, Bundle, Identity, Problem, Row, Samples, Summary, no_samples
from cyclometer.errors import NothingMeasured, UsageError
from cyclometer.ingest.parsed import Figure, Parsed, Settings
from cyclometer.ingest.reading import Foreign


def assemble(files: Iterable[tuple[Foreign, Parsed]], settings: Settings) -> tuple[Bundle, dict[str, bytes]]:
    """One bundle of all files, and the raw files to keep in it: name in the bundle -> bytes.

    Files of one tool are runs of the same rows, in the order given. Rows are the same when contract, clock, method,
    configuration and flow are. Raises NothingMeasured without files, UsageError for files of different machines.
    """
    joined = _Joined()
    for foreign, parsed in files:
        joined.add(foreign, parsed)
    if not joined.rows:
        raise NothingMeasured("no file holds a result; give at least one")
    if len(joined.targets) > 1:
        (one, file), (other, other_file) = list(joined.targets.items())[:2]
        raise UsageError(f"{file} is of {one} and {other_file} of {other}; make a bundle of each, or --set board=NAME")
    return Bundle(joined.identity(settings), _samples(joined.parts)), joined.raw


@dataclass
class _Joined:
    """What the files read so far amount to."""

    rows: dict[bytes, Row] = field(default_factory=dict)  # by what makes them the same, in order
    summaries: list[Summary] = field(default_factory=list)
    parts: list[tuple[int, int, Figure]] = field(default_factory=list)  # row, run and what has the values
    problems: list[Problem] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    raw: dict[str, bytes] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)  # tool -> runs so far
    targets: dict[str, str] = field(default_factory=dict)  # target -> first file of it
    titles: dict[str, None] = field(default_factory=dict)
    indices: dict[bytes, int] = field(default_factory=dict)

    def add(self, foreign: Foreign, parsed: Parsed) -> None:
        name = _fresh_name(foreign.name, self.raw)
        self.raw[f"raw/{name}"] = foreign.data
        first = self.runs.get(parsed.tool, 0)
        self.runs[parsed.tool] = first + len(parsed.runs)
        note = {"file": name, "tool": parsed.tool, "first_run": first, "runs": list(parsed.runs)}
        self.notes.append(note | parsed.environment)
        self.problems += parsed.problems
        self.titles[parsed.title] = None
        if parsed.target:
            self.targets.setdefault(parsed.target, name)
        known: dict[int, tuple[int, Row]] = {}  # by id: the rows live as long as `parsed`
        for figure in parsed.figures:
            if id(figure.row) not in known:
                known[id(figure.row)] = self._row(_keep_source(figure.row, name))
            self._figure(figure, *known[id(figure.row)], first)

    def _row(self, row: Row) -> tuple[int, Row]:
        """The index of the row in the bundle, and the row as its own file has it."""
        same = _what_makes_it(row)
        self.rows.setdefault(same, row)
        return self.indices.setdefault(same, len(self.indices)), row

    def _figure(self, figure: Figure, index: int, row: Row, first: int) -> None:
        run = first + figure.run if figure.run >= 0 else -1
        if figure.summary is not None:
            whole = msgspec.structs.replace(figure.summary, row=index, run=run, visit=figure.visit, source=row.source)
            self.summaries.append(whole)
        if len(figure.values):
            self.parts.append((index, run, figure))

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
        (row.contract, row.clock, row.method, sorted(row.configuration.items()), row.flow, row.better)
    )


def _keep_source(row: Row, kept: str) -> Row:
    if row.source is None or row.source.file == kept:
        return row
    return msgspec.structs.replace(row, source=msgspec.structs.replace(row.source, file=kept))


def _fresh_name(name: str, taken: Mapping[str, bytes]) -> str:
    """`name` as a plain file name that no kept file has: no separators, no leading dot, printable ASCII."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-+") else "_" for c in name)[-100:].lstrip("._-+")
    safe = safe or "file"
    stem, dot, suffix = safe.rpartition(".")
    stem, ending = (stem, dot + suffix) if stem else (safe, "")
    fresh, count = safe, 1
    while f"raw/{fresh}" in taken:
        count += 1
        fresh = f"{stem}-{count}{ending}"
    return fresh


def _samples(parts: list[tuple[int, int, Figure]]) -> Samples:
    """Figures' values behind each other, in order."""
    if not parts:
        return no_samples()
    lengths = np.array([len(figure.values) for _, _, figure in parts])
    total = int(lengths.sum())
    starts = np.cumsum(lengths) - lengths

    def spread(values: Iterable[int]) -> NDArray[np.int32]:
        return np.repeat(np.fromiter(values, np.int32, len(parts)), lengths)

    def joined(values: Iterable[int | NDArray[Any]], dtype: type) -> NDArray[Any]:
        listed = list(values)
        if all(isinstance(value, int) for value in listed):
            return np.repeat(np.array(listed, dtype), lengths)
        pairs = zip(listed, lengths, strict=True)
        return np.concatenate([np.broadcast_to(np.asarray(value, dtype), (int(n),)) for value, n in pairs])

    return Samples(
        row=spread(row for row, _, _ in parts),
        run=spread(run for _, run, _ in parts),
        visit=spread(figure.visit for _, _, figure in parts),
        group=joined((figure.groups for _, _, figure in parts), np.int32),
        test=(np.arange(total) - np.repeat(starts, lengths)).astype(np.int32),
        turns=joined((figure.turns for _, _, figure in parts), np.int64),
        value=np.concatenate([figure.values for _, _, figure in parts]),
        at=np.full(total, -1, np.int64),
        tags=np.zeros(total, np.int32),
        kind=np.zeros(total, np.int8),
    )
