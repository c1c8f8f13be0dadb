# SPDX-License-Identifier: BSD-2-Clause
"""Measurements of a machine on which nothing changed (tests/data/aa-2026-11) as bundles."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import duckdb
import numpy as np

from cyclometer.bundle.model import (
    COLUMNS,
    SCHEMA,
    Bundle,
    Clock,
    Contract,
    Identity,
    Row,
    samples,
)

DATA = Path(__file__).parents[1] / "data" / "aa-2026-11"
TSC = Clock("tsc", "ticks", 2.6e9)
CREATED = {
    "aa1": "2026-11-22T06:51:42+00:00",
    "aa2": "2026-11-22T06:52:28+00:00",
    "s1": "2026-11-22T07:53:20+00:00",
}
_AT_TICKS = 1 << 16


@cache
def recorded(name: str, ordered: bool = True) -> Bundle:
    """Measurement `name`; without `ordered` it does not state the order of its visits."""
    table = duckdb.sql(f"SELECT * FROM '{DATA / name}.parquet'").fetchnumpy()
    rows = _rows()
    columns = dict.fromkeys(COLUMNS, np.zeros(len(table["circle"]))) | {
        "row": table["circle"],
        "run": table["run"],
        "visit": table["visit"],
        "turns": table["turns"],
        "value": table["value"],
        "at": table["at"].astype(np.int64) * _AT_TICKS,
    }
    visit = np.stack([table["run"], table["visit"]])
    first = np.flatnonzero(np.any(np.diff(visit, prepend=-1), axis=0))
    order = [
        {
            "run": int(table["run"][i]),
            "circle": rows[table["circle"][i]].contract.key,
            "method": rows[table["circle"][i]].method,
        }
        for i in first
    ]
    identity = Identity(
        SCHEMA, CREATED[name], "linux", rows, plan={"order": order} if ordered else {}
    )
    return Bundle(identity, samples(columns))


def _rows() -> tuple[Row, ...]:
    with (DATA / "circles.tsv").open() as file:
        return tuple(
            Row(Contract(line["key"], expect=_expect(line)), TSC, line["method"])
            for line in csv.DictReader(file, delimiter="\t")
        )


def _expect(line: dict[str, str]) -> dict[str, int]:
    return {name: int(line[name]) for name in ("entries", "switches", "faults") if line[name]}
