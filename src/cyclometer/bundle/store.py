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

from cyclometer.bundle.model import COLUMNS, MISSING, Bundle, Identity, Samples, no_samples, samples
from cyclometer.errors import BadFile, NothingMeasured

IDENTITY, SAMPLES, CONSOLE = "bundle.json", "samples.parquet", "console.log"
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,120}")


def write(bundle: Bundle, path: Path, files: Mapping[str, bytes | Path]) -> Bundle:
    """Stores `bundle` as the new directory `path`, with `files` (kept name -> content or a file to copy) beside it.

    Raises BadFile where `path` exists or a kept name would leave the bundle.
    """
    refuse_existing(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        for name, content in files.items():
            _keep(temporary, name, content)
        (temporary / IDENTITY).write_bytes(msgspec.json.format(msgspec.json.encode(bundle.identity), indent=1))
        if len(bundle.samples):
            _write_samples(bundle, temporary / SAMPLES)
        digest = _digest(temporary)
        temporary.chmod(0o755)
        temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return Bundle(bundle.identity, bundle.samples, digest, str(path))


def refuse_existing(path: Path) -> None:
    """Raises BadFile where no new bundle can be called `path`; to be asked before long work, too."""
    if path.exists():
        raise BadFile(f"{path} exists already and bundles never change; choose another -o")


def read(path: Path) -> Bundle:
    """The bundle in directory `path`. Raises BadFile where it is none, or is damaged."""
    try:
        identity = msgspec.json.decode((path / IDENTITY).read_bytes(), type=Identity)
    except OSError as error:
        if not path.exists():
            raise BadFile(f"{path} does not exist; name a bundle that `run` or `ingest` wrote") from error
        raise BadFile(
            f"{path} is not a bundle ({error.strerror}: {IDENTITY}); name a folder that `run` or `ingest` wrote"
        ) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadFile(f"{path / IDENTITY} is damaged ({error}); restore it or measure again") from error
    file = path / SAMPLES
    held = _read_samples(file) if file.exists() else no_samples()
    if len(held) and not 0 <= held.row.min() <= held.row.max() < len(identity.rows):
        raise BadFile(f"{file} belongs to other rows than {IDENTITY} has; restore both or measure again")
    return Bundle(identity, held, _digest(path), str(path))


def bundles(store: Path) -> list[Path]:
    """The bundles of a store, oldest first."""
    if not store.is_dir():
        return []
    found = [p for p in store.iterdir() if (p / IDENTITY).is_file() and not p.name.startswith(".")]
    return sorted(found, key=lambda p: ((p / IDENTITY).stat().st_mtime_ns, p.name))


def latest(store: Path) -> Path:
    """The newest bundle of a store. Raises NothingMeasured where it holds none."""
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
    import duckdb

    s = bundle.samples
    columns: dict[str, Any] = {name: getattr(s, name) for name in COLUMNS}
    columns |= {f"count_{name}": np.ma.masked_equal(values, MISSING) for name, values in s.counters.items()}
    with duckdb.connect() as database:
        database.register("columns", columns)
        # Keys as a list that the row's number looks up: an array of a million texts takes longer than all numbers.
        keys = [row.contract.key for row in bundle.identity.rows]
        chosen = "SELECT ($1)[row + 1] AS circle, * FROM columns"
        database.execute(f"COPY ({chosen}) TO '{_quoted(path)}' (FORMAT parquet, COMPRESSION zstd)", [keys])


def _read_samples(path: Path) -> Samples:
    import duckdb

    try:
        with duckdb.connect() as database:
            columns = database.sql(f"SELECT * EXCLUDE (circle) FROM read_parquet('{_quoted(path)}')").fetchnumpy()
    except duckdb.Error as error:
        raise BadFile(f"{path} is damaged ({str(error).splitlines()[0]}); restore it or measure again") from error
    counters = {
        name.removeprefix("count_"): np.ma.filled(values, MISSING).astype(np.int64)
        for name, values in columns.items()
        if name.startswith("count_")
    }
    try:
        return samples(columns, counters)
    except KeyError as error:
        raise BadFile(f"{path} has no column {error}; it is not a bundle's samples") from error


def _quoted(path: Path) -> str:
    return os.fspath(path).replace("'", "''")
