# SPDX-License-Identifier: BSD-2-Clause
"""Bundles on disk: directories that appear whole or not at all, and never change (FORMAT.md)."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from cyclometer.bundle.core_cycles import in_core_cycles
from cyclometer.bundle.database import connection
from cyclometer.bundle.model import COLUMNS, MISSING, Bundle, Identity, Samples, no_samples, samples
from cyclometer.bundle.validate import validated
from cyclometer.errors import BadFile, NothingMeasured

IDENTITY, SAMPLES, CONSOLE = "bundle.json", "samples.parquet", "console.log"
MAX_IDENTITY_BYTES = 512 << 20
MAX_SAMPLES = 100_000_000  # some 60 bytes of memory each
_TYPES = {  # of the columns, as DuckDB calls them
    name: {np.int8: "TINYINT", np.int32: "INTEGER", np.int64: "BIGINT", np.float64: "DOUBLE"}[kind]
    for name, kind in COLUMNS.items()
}
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,120}")


def write(bundle: Bundle, path: Path, files: Mapping[str, bytes | Path]) -> Bundle:
    """Stores `bundle` as the new directory `path`, with `files` (kept name -> content or a file to
    copy) beside it.

    The result is what `read` gives. Raises BadFile if `path` exists or a kept name would leave the
    bundle. Whatever goes wrong, nothing is left of it then.
    """
    refuse_existing(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # in the same folder, so that the last step is a rename and the bundle appears whole or not
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        for name, content in files.items():
            _keep(temporary, name, content)
        (temporary / IDENTITY).write_bytes(
            msgspec.json.format(msgspec.json.encode(bundle.identity), indent=1)
        )
        if len(bundle.samples):
            _write_samples(bundle, temporary / SAMPLES)
        digest = _digest(temporary)
        temporary.chmod(0o755)  # mkdtemp() lets nobody else in
        temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return in_core_cycles(Bundle(bundle.identity, bundle.samples, digest, str(path)))


def refuse_existing(path: Path) -> None:
    """Raises BadFile if no new bundle can be called `path`; to be asked before long work,
    too.
    """
    if path.exists():
        raise BadFile(f"{path} exists already and bundles never change; choose another -o")


def read(path: Path) -> Bundle:
    """The bundle in directory `path`, in core cycles if it has readings of the core's speed. Raises
    BadFile if there is none, or it is damaged.
    """
    try:
        identity = _read_identity(path / IDENTITY)
        held = _read_samples(path / SAMPLES) if (path / SAMPLES).exists() else no_samples()
        digest = _digest(path)
    except OSError as error:
        if not path.exists():
            raise BadFile(
                f"{path} does not exist; name a bundle that `run` or `ingest` wrote"
            ) from error
        raise BadFile(
            f"{path} is not a bundle ({error.strerror}: {IDENTITY}); name a folder that `run` or "
            "`ingest` wrote"
        ) from error
    try:
        whole = validated(Bundle(identity, held, digest, str(path)))
        seen = in_core_cycles(whole)
        return seen if seen is whole else validated(seen)
    except ValueError as error:
        raise BadFile(f"{path} is damaged ({error}); restore it or measure again") from error


def bundles(store: Path) -> list[Path]:
    """The bundles of a store, oldest first; none if there is no such folder."""
    if not store.is_dir():
        return []
    found = [p for p in store.iterdir() if (p / IDENTITY).is_file() and not p.name.startswith(".")]
    return sorted(found, key=lambda p: ((p / IDENTITY).stat().st_mtime_ns, p.name))


def latest(store: Path) -> Path:
    """The newest bundle of a store. Raises NothingMeasured if it holds none."""
    found = bundles(store)
    if not found:
        raise NothingMeasured(f"there is no bundle in {store}/ yet; make one with `cyclometer run`")
    return found[-1]


def _keep(folder: Path, name: str, content: bytes | Path) -> None:
    parts = name.split("/")
    if len(parts) > 2 or not all(_SAFE.fullmatch(part) for part in parts):
        raise BadFile(f"a kept file cannot be named {name!r}; use letters, digits, dots and dashes")
    target = folder / name
    target.parent.mkdir(exist_ok=True)
    if isinstance(content, Path):
        shutil.copyfile(content, target)
    else:
        target.write_bytes(content)


def _digest(folder: Path) -> str:
    """SHA-256 over the sorted relative names and the bytes of the bundle's files."""
    total = hashlib.sha256()
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        with file.open("rb") as stream:
            inner = hashlib.file_digest(stream, "sha256").hexdigest()
        total.update(f"{file.relative_to(folder).as_posix()}\0{inner}\n".encode())
    return total.hexdigest()


def _write_samples(bundle: Bundle, path: Path) -> None:
    s = bundle.samples
    columns: dict[str, Any] = {name: getattr(s, name) for name in COLUMNS}
    columns |= {
        f"count_{name}": np.ma.masked_equal(values, MISSING) for name, values in s.counters.items()
    }
    with connection() as database:
        database.register("columns", columns)
        # Keys as a list that the row's number looks up: an array of a million texts takes longer
        # than all numbers.
        keys = [row.contract.key for row in bundle.identity.rows]
        chosen = "SELECT ($1)[row + 1] AS circle, * FROM columns"
        database.execute(
            f"COPY ({chosen}) TO '{_quoted(path)}' (FORMAT parquet, COMPRESSION zstd)", [keys]
        )


def _read_identity(path: Path) -> Identity:
    data = path.read_bytes() if path.stat().st_size <= MAX_IDENTITY_BYTES else b""
    if not data:
        raise BadFile(f"{path} is empty or larger than {MAX_IDENTITY_BYTES >> 20} MiB; restore it")
    try:
        return msgspec.json.decode(data, type=Identity)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise BadFile(f"{path} is damaged ({error}); restore it or measure again") from error


def _read_samples(path: Path) -> Samples:
    """The samples as DuckDB casts them to the types of COLUMNS; BadFile if a value does not fit."""
    import duckdb

    source = f"read_parquet('{_quoted(path)}')"
    try:
        with connection() as database:
            ((count,),) = database.execute(f"SELECT count(*) FROM {source}").fetchall()
            if count > MAX_SAMPLES:
                raise BadFile(f"{path} holds {count} samples, more than the {MAX_SAMPLES} read")
            names = [row[0] for row in database.execute(f"DESCRIBE FROM {source}").fetchall()]
            counters = [name for name in names if name.startswith("count_")]
            types = _TYPES | dict.fromkeys(counters, "BIGINT")
            chosen = (
                f"{_as_name(name)}::{kind} AS {_as_name(name)}" for name, kind in types.items()
            )
            columns = database.execute(f"SELECT {', '.join(chosen)} FROM {source}").fetchnumpy()
    except duckdb.Error as error:
        raise BadFile(
            f"{path} is damaged ({str(error).splitlines()[0]}); restore it or measure again"
        ) from error
    absent = [name for name in COLUMNS if np.ma.is_masked(columns[name])]
    if absent:
        raise BadFile(f"{path} is damaged (samples without {absent[0]}); restore it")
    counts = {
        name.removeprefix("count_"): np.ma.filled(columns[name], MISSING) for name in counters
    }
    return samples(columns, counts)


def _quoted(path: Path) -> str:
    return os.fspath(path).replace("'", "''")


def _as_name(name: str) -> str:
    """`name` as SQL quotes the name of a column."""
    return '"' + name.replace('"', '""') + '"'
