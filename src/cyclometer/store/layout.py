# SPDX-License-Identifier: BSD-2-Clause
"""What lies where in a store, and the columns of its two tables (docs/store.md).

Schema history: 1 (2026-11) first version.
"""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from cyclometer.errors import BadFile
from cyclometer.store.location import Location

SCHEMA = 1
MARK = "store.json"
ACKNOWLEDGED = "acknowledged.toml"

BUNDLES = {
    "bundle": "VARCHAR",  # SHA-256 of the bundle's files
    "created": "TIMESTAMP",  # UTC
    "title": "VARCHAR",
    "tool": "VARCHAR",
    "result": "VARCHAR",  # SHA-256 of what was measured, without when and where
    "task": "VARCHAR",  # of a sweep; empty without
    "row_count": "INTEGER",
    "problem_count": "INTEGER",
    "sample_count": "BIGINT",
    "environment": "VARCHAR",  # JSON, flat: names to texts
}
ROWS = {
    "bundle": "VARCHAR",
    "number": "INTEGER",  # of the row in its bundle's table, from 0
    "key": "VARCHAR",
    "configuration": "VARCHAR",  # JSON: option to value
    "clock": "VARCHAR",
    "unit": "VARCHAR",
    "exact": "BOOLEAN",
    "method": "VARCHAR",
    "better": "VARCHAR",
    "valid": "BOOLEAN",
    "reason": "VARCHAR",  # why it is not
    "latency": "DOUBLE",  # of a turn, in the clock's unit; null if there is none
    "low": "DOUBLE",  # 95 % interval; null where nothing bounds it
    "high": "DOUBLE",
    "runs": "DOUBLE[]",  # each run's own latency
    "tests": "INTEGER",
    "layout_floor": "DOUBLE",  # the change that moving code alone causes on an exact clock
    "likeness": "VARCHAR",  # equal for rows that are points of one history
}
TABLES = {"bundles": BUNDLES, "rows": ROWS}
# What histories and the site ask of rows: of 10,000 small files, each column more costs time.
_OF_POINTS = (
    "bundle",
    "key",
    "configuration",
    "unit",
    "exact",
    "better",
    "latency",
    "layout_floor",
    "likeness",
)
POINTS = {name: ROWS[name] for name in _OF_POINTS}
VIEWS = {"bundles": ("bundles", BUNDLES), "rows": ("rows", ROWS), "points": ("rows", POINTS)}
"""View -> the table whose files it is made of, and the columns it has."""


class _Mark(msgspec.Struct):
    store: str
    schema: int


def init(location: Location) -> None:
    """Makes an empty store. Raises BadFile if there is one already, or other files."""
    if location.exists(MARK):
        raise BadFile(f"{location.url} is a store already; push to it")
    if location.is_local and location.names(""):
        raise BadFile(f"{location.url} holds other files; name a folder that is empty or new")
    location.write(MARK, msgspec.json.encode(_Mark("cyclometer", SCHEMA)) + b"\n")


def opened(url: str) -> Location:
    """The store at `url`. Raises BadFile if there is none, or one of a later schema."""
    location = Location(url)
    try:
        mark = msgspec.json.decode(location.read(MARK), type=_Mark)
    except FileNotFoundError:
        raise BadFile(
            f"{url} is not a store; make one with `cyclometer store init {url}`"
        ) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadFile(f"{url}/{MARK} is damaged ({error}); restore it") from error
    if mark.store != "cyclometer" or not 1 <= mark.schema <= SCHEMA:
        raise BadFile(
            f"{url} is a store of schema {mark.schema}, and this version reads up to {SCHEMA}; "
            "update cyclometer"
        )
    return location


def folder(digest: str) -> str:
    """Where a bundle's own files lie."""
    return f"data/{digest[:2]}/{digest}"


def table_file(table: str, target: str, month: str, digest: str) -> str:
    """A bundle's part of a table, in Hive partitions. `month` is YYYY-MM of its making, in UTC."""
    return f"{table}/target={quote(target, safe='')}/month={month}/{digest}.parquet"


def digest_of(name: str) -> str:
    """The bundle whose part of a table a file is, by the name that `table_file` gave it."""
    return name.rpartition("/")[2].removesuffix(".parquet")
