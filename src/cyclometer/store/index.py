# SPDX-License-Identifier: BSD-2-Clause
"""What this machine keeps of a store's tables, so that a question opens a few files and not 10,000.

Files of a store never change. So those that were read stand here in segments, and an update reads
the new ones alone. The folder is a cache: it may be removed at any time.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from cyclometer.errors import BadFile, UsageError
from cyclometer.store.layout import SCHEMA, VIEWS, digest_of
from cyclometer.store.location import Location
from cyclometer.targets import build

_PART = re.compile(r"\w+/target=([^/]+)/month=(\d{4}-\d\d)/([0-9a-f]{64})\.parquet")
_AT_ONCE = 4_000  # files of a store fetched and read together
_MOST_SEGMENTS = 12
MEMORY = "700MB"


@contextmanager
def tables(location: Location, *wanted: str) -> Iterator[Any]:
    """A DuckDB connection with the view `bundles` of all that the store holds, and with those of
    `layout.VIEWS` that are wanted.

    Raises BadFile if a file of the store cannot be read.
    """
    with _locked(_folder(location)) as folder, duckdb.connect() as database:
        database.execute(f"SET memory_limit = '{MEMORY}'")
        database.execute(f"SET temp_directory = '{folder}/spill'")
        for view in ("bundles", *wanted):
            chosen = _selection(view, _updated(location, database, folder, view))
            # a writer that was killed may have left rows of a bundle that is not there
            entered = "" if view == "bundles" else " WHERE bundle IN (SELECT bundle FROM bundles)"
            database.execute(f"CREATE VIEW {view} AS SELECT * FROM ({chosen}){entered}")
        yield database


def query(location: Location, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """(names, rows) that a SELECT over the views `bundles` and `rows` gives.

    It reads nothing else and writes nothing. Raises UsageError for what is not such a statement.
    """
    with tables(location, "rows") as database:
        database.execute(f"SET allowed_directories = ['{_spelled(_folder(location))}/']")
        database.execute("SET enable_external_access = false")
        database.execute("SET lock_configuration = true")  # last: the statement cannot undo these
        try:
            statements = database.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise UsageError("query takes one SELECT; the tables are `bundles` and `rows`")
            done = database.execute(statements[0])
            return [column[0] for column in done.description], done.fetchall()
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise UsageError(f"the query failed ({reason}); docs/store.md lists columns") from error


def _updated(location: Location, database: Any, folder: Path, view: str) -> list[Path]:
    """The segments that hold exactly what the store holds of a view's table now."""
    present = {
        m[3]: m[0] for name in location.names(VIEWS[view][0]) if (m := _PART.fullmatch(name))
    }
    held = _held(folder, view)
    kept = {digest for segment in held.values() for digest in segment}
    if not kept <= present.keys():  # somebody removed bundles
        for segment in held:
            _discard(segment)
        held, kept = {}, set()
    missing = [name for digest, name in present.items() if digest not in kept]
    for at in range(0, len(missing), _AT_ONCE):
        some = missing[at : at + _AT_ONCE]
        segment = _write(location, database, folder, view, some)
        held[segment] = [digest_of(name) for name in some]
    return [_merged(database, folder, view, held)] if len(held) > _MOST_SEGMENTS else sorted(held)


def _held(folder: Path, view: str) -> dict[Path, list[str]]:
    """Segment -> digests in it. One without its list was not finished."""
    found = {}
    for listed in folder.glob(f"{view}-*.json"):
        segment = listed.with_suffix(".parquet")
        try:
            found[segment] = msgspec.json.decode(listed.read_bytes(), type=list[str])
        except (OSError, msgspec.DecodeError):
            _discard(segment)
    return {segment: digests for segment, digests in found.items() if segment.exists()}


def _write(
    location: Location, database: Any, folder: Path, view: str, names: Sequence[str]
) -> Path:
    """A new segment of some files, ordered by key so that one circle is found without the rest."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        files = _fetched(location, names, Path(scratch))
        columns = ", ".join(f"{name}::{kind} AS {name}" for name, kind in VIEWS[view][1].items())
        chosen = (
            f"SELECT {columns}, target, month FROM read_parquet($1, hive_partitioning = true, "
            "hive_types = {'target': VARCHAR, 'month': VARCHAR})"
        )
        try:
            return _stored(database, folder, view, chosen, files, [digest_of(n) for n in names])
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise BadFile(
                f"a file of {location.url} is damaged ({reason}); remove it there and push its "
                "bundle again"
            ) from error


def _merged(database: Any, folder: Path, view: str, held: Mapping[Path, Sequence[str]]) -> Path:
    """One segment in the place of many."""
    files = [str(segment) for segment in held]
    digests = sorted(digest for some in held.values() for digest in some)
    whole = _stored(database, folder, view, "SELECT * FROM read_parquet($1)", files, digests)
    for segment in held:
        _discard(segment)
    return whole


def _stored(
    database: Any,
    folder: Path,
    view: str,
    chosen: str,
    files: Sequence[str],
    digests: Sequence[str],
) -> Path:
    """A segment of what `chosen` selects of `files`; its list, written last, completes it."""
    stem = hashlib.sha256("\n".join(digests).encode()).hexdigest()[:24]
    segment = folder / f"{view}-{stem}.parquet"
    order = "created, bundle" if view == "bundles" else "key, bundle"
    database.execute(
        f"COPY ({chosen} ORDER BY {order}) TO '{_spelled(segment)}' "
        "(FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 20000)",
        [files],
    )
    segment.with_suffix(".json").write_bytes(msgspec.json.encode(digests))
    return segment


def _fetched(location: Location, names: Sequence[str], scratch: Path) -> list[str]:
    """Paths of the files on this machine, in their partitions."""
    if location.is_local:
        return [str(location.local(name)) for name in names]
    files = []
    for name, content in location.read_all(names).items():
        file = scratch / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        files.append(str(file))
    return files


def _selection(view: str, segments: Sequence[Path]) -> str:
    if not segments:
        typed = ", ".join(f"NULL::{kind} AS {name}" for name, kind in VIEWS[view][1].items())
        return f"SELECT {typed}, ''::VARCHAR AS target, ''::VARCHAR AS month WHERE false"
    files = ", ".join(f"'{_spelled(segment)}'" for segment in segments)
    return f"SELECT * FROM read_parquet([{files}])"


def _spelled(path: Path) -> str:
    """A path as SQL quotes it."""
    return str(path).replace("'", "''")


def _discard(segment: Path) -> None:
    segment.with_suffix(".json").unlink(missing_ok=True)
    segment.unlink(missing_ok=True)


def _folder(location: Location) -> Path:
    where = location.url if not location.is_local else str(location.local("").resolve())
    name = hashlib.sha256(f"{SCHEMA}\0{where}".encode()).hexdigest()[:24]
    return build.cache() / f"store-{name}"


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """The folder, while no other process on this machine updates it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(folder / "spill", ignore_errors=True)
        yield folder
