# SPDX-License-Identifier: BSD-2-Clause
"""A bundle's part of the two tables, as Parquet."""

from __future__ import annotations

import hashlib
import math
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from cyclometer.bundle.database import connection
from cyclometer.bundle.model import COLUMNS, Bundle
from cyclometer.compare import exact
from cyclometer.compare.finding import Options
from cyclometer.compare.pairing import VERSIONS, ComparedCircle, environment, likeness, made, side
from cyclometer.store.layout import TABLES

TASK = "task"
"""The name in a bundle's plan under which a sweep notes its task."""


def tables(bundle: Bundle) -> dict[str, bytes]:
    """The bundle's rows and its entry, as Parquet files by table."""
    return {table: parquet(table, held) for table, held in records(bundle).items()}


def records(bundle: Bundle) -> dict[str, list[dict[str, Any]]]:
    """The bundle's rows and its entry, by table: column -> value."""
    circles = side([bundle]).circles
    return {
        "rows": [_row(bundle, *each) for each in enumerate(circles)],
        "bundles": [_entry(bundle, len(circles))],
    }


def parquet(table: str, records: Sequence[Mapping[str, Any]]) -> bytes:
    """A file of a table's columns; `records` have a value for each."""
    columns = TABLES[table]
    with tempfile.TemporaryDirectory() as scratch, connection() as database:
        lines, file = Path(scratch, "lines.json"), Path(scratch, "table.parquet")
        lines.write_bytes(b"\n".join(map(msgspec.json.encode, records)))
        spelled = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
        database.execute(
            f"COPY (FROM read_json('{lines}', format='newline_delimited', columns={{{spelled}}}, "
            f"maximum_object_size={1 << 28})) TO '{file}' (FORMAT parquet, COMPRESSION zstd)"
        )
        return file.read_bytes()


def result(bundle: Bundle) -> str:
    """SHA-256 of what was measured: rows, figures and samples, whenever and wherever that was.

    On an exact clock, two measurements of one thing have one result.
    """
    total = hashlib.sha256(msgspec.json.encode([bundle.identity.rows, bundle.identity.summaries]))
    held = bundle.samples
    for name in COLUMNS:
        total.update(np.ascontiguousarray(getattr(held, name)).tobytes())
    for name in sorted(held.counters):
        total.update(name.encode() + np.ascontiguousarray(held.counters[name]).tobytes())
    return total.hexdigest()


def month(bundle: Bundle) -> str:
    """YYYY-MM of the bundle's making, in UTC."""
    return f"{made(bundle).astimezone(UTC):%Y-%m}"


def _entry(bundle: Bundle, rows: int) -> dict[str, Any]:
    identity = bundle.identity
    return {
        "bundle": bundle.digest,
        "created": f"{made(bundle).astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}",
        "title": identity.title,
        "tool": identity.tool,
        "result": result(bundle),
        "task": str(identity.plan.get(TASK, "")),
        "row_count": rows,
        "problem_count": len(identity.problems),
        "sample_count": len(bundle.samples),
        "environment": _json(environment(bundle)),
    }


def _row(bundle: Bundle, number: int, circle: ComparedCircle) -> dict[str, Any]:
    e = circle.estimate
    value = e.latency if e.valid else None
    return {
        "bundle": bundle.digest,
        "number": number,
        "key": e.contract.key,
        "configuration": _json(e.configuration),
        "clock": e.clock.name,
        "unit": e.clock.unit,
        "exact": e.clock.exact,
        "method": e.method,
        "better": e.better,
        "valid": e.valid,
        "reason": e.reason,
        "latency": value and value.value,
        "low": value and _finite(value.interval.low),
        "high": value and _finite(value.interval.high),
        "runs": [run.latency.value for run in e.runs],
        "tests": e.tests,
        "layout_floor": exact.layout_floor(Options(), e) if e.clock.exact and e.runs else 0.0,
        "likeness": name(circle),
    }


def name(circle: ComparedCircle) -> str:
    """What rows of one circle and configuration share in all bundles, as sixteen digits."""
    same = likeness(circle, frozenset(VERSIONS))
    return hashlib.sha256(msgspec.json.encode(same)).hexdigest()[:16]


def _json(facts: Mapping[str, str]) -> str:
    return msgspec.json.encode(facts, order="sorted").decode()


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
