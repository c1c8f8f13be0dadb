# SPDX-License-Identifier: BSD-2-Clause
"""Comma-separated values (RFC 4180): one line per circle, or per raw sample."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from cyclometer.bundle.model import MISSING, TAGS
from cyclometer.report import table
from cyclometer.report.documents.kinds import plain
from cyclometer.report.export.request import ExportRequest

_COLUMNS = (
    "key",
    "configuration",
    "method",
    "unit",
    "estimate",
    "low",
    "high",
    "scope",
    "ns",
    "overall",
    "overall_low",
    "overall_high",
    "fixed_cost",
    "line_holds",
    "first_pass",
    "spread",
    "runs",
    "tests",
    "set_aside",
    "steadiness",
    "valid",
    "reason",
)
_SAMPLE = ("run", "visit", "group", "test", "turns", "value", "at")


def export(request: ExportRequest) -> str:
    """A line per circle; with --samples a line per raw sample, tags and counters included."""
    if request.samples:
        return _text(_samples(request))
    return _text([_COLUMNS, *(_circle(plain(table.row(e))) for e in request.estimates)])


def _text(lines: Iterable[Sequence[Any]]) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows(lines)
    return stream.getvalue()


def _circle(row: dict[str, Any]) -> list[Any]:
    """One line: intervals as two columns, dictionaries as `name=value` pairs, what does not exist
    empty.
    """
    row["low"], row["high"] = row["interval"] or (None, None)
    row["overall_low"], row["overall_high"] = row["overall_interval"] or (None, None)
    for name in ("configuration", "set_aside"):
        row[name] = _pairs(row[name])
    return [row[column] for column in _COLUMNS]


def _pairs(options: dict[str, Any]) -> str:
    return ";".join(f"{name}={value}" for name, value in sorted(options.items()))


def _samples(request: ExportRequest) -> Iterator[Sequence[Any]]:
    """Raw samples in arrival order. `value` is the whole test's; `kind` overhead marks an empty
    reading.
    """
    samples = request.bundle.samples
    counters = sorted(samples.counters)
    yield (
        "key",
        "configuration",
        "method",
        "unit",
        "kind",
        *_SAMPLE,
        "tags",
        *(f"count_{c}" for c in counters),
    )
    spelled = {bits: _tags(bits) for bits in np.unique(samples.tags).tolist()}
    for e in request.estimates:
        rows = np.flatnonzero(samples.row == e.row)
        start = (e.contract.key, _pairs(e.configuration), e.method, e.clock.unit)
        columns = [getattr(samples, name)[rows].tolist() for name in _SAMPLE]
        kinds = ("overhead" if kind else "measurement" for kind in samples.kind[rows].tolist())
        tags = (spelled[bits] for bits in samples.tags[rows].tolist())
        counts = (
            [None if c == MISSING else c for c in samples.counters[n][rows].tolist()]
            for n in counters
        )
        for kind, *values in zip(kinds, *columns, tags, *counts, strict=True):
            yield (*start, kind, *values)


def _tags(bits: int) -> str:
    return ";".join(tag for place, tag in enumerate(TAGS) if bits & 1 << place)
