# SPDX-License-Identifier: BSD-2-Clause
"""Bundles on disk: whole or not there, unchanged for ever, readable by any engine that reads
Parquet.
"""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import msgspec
import numpy as np
import pytest

from cyclometer.bundle import database, store
from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import COLUMNS, MISSING, Bundle
from cyclometer.errors import BadFile, NothingMeasured
from cyclometer.record.decode import Decoder
from tests.streams import circle, end, group, hello, line


@pytest.fixture
def bundle() -> Bundle:
    proof = group(3, [9], counters={"switches": [20], "entries": [40]})
    data = [line(hello()), line(circle(1)), line(group(2, [5, 6])), line(proof), line(end(4, 3))]
    assembler = Assembler("linux", {"kernel": "6.1"})
    assembler.add(1, Decoder().feed(b"".join(data)))
    return assembler.bundle()


def test_what_was_written_is_read(bundle: Bundle, tmp_path: Path) -> None:
    written = store.write(bundle, tmp_path / "one", {store.CONSOLE: b"boot\n"})
    read = store.read(tmp_path / "one")
    assert read.identity == bundle.identity
    assert read.digest == written.digest
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(read.samples, name), getattr(bundle.samples, name))
    assert read.samples.counters["entries"].tolist() == [MISSING, MISSING, 40]


def test_a_bundle_from_before_contracts_had_a_source_is_read(
    bundle: Bundle, tmp_path: Path
) -> None:
    store.write(bundle, tmp_path / "one", {})
    identity = tmp_path / "one" / store.IDENTITY
    older = json.loads(identity.read_text())
    for row in older["rows"]:
        assert row["contract"].pop("source") == ""
    identity.write_text(json.dumps(older))
    assert store.read(tmp_path / "one").identity.rows == bundle.identity.rows


def test_duckdb_starts_once_a_process_and_anew_after_an_error(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start takes longer than a small bundle; an error inside of DuckDB ends an instance."""
    starts: list[object] = []
    start = duckdb.connect

    def counted() -> object:
        starts.append(started := start())
        return started

    monkeypatch.setattr(duckdb, "connect", counted)
    database._started.cache_clear()
    for name in ("one", "two"):
        store.write(bundle, tmp_path / name, {})
        store.read(tmp_path / name)
    assert len(starts) == 1
    (tmp_path / "one" / store.SAMPLES).write_bytes(b"no Parquet")
    with pytest.raises(BadFile):
        store.read(tmp_path / "one")
    assert len(store.read(tmp_path / "two").samples) == len(bundle.samples)
    assert len(starts) == 2


def test_any_engine_can_query_a_store(bundle: Bundle, tmp_path: Path) -> None:
    store.write(bundle, tmp_path / "a", {})
    store.write(bundle, tmp_path / "b", {})
    query = (
        f"SELECT circle, count(*), sum(value) FROM '{tmp_path}/*/samples.parquet' GROUP BY circle"
    )
    assert duckdb.sql(query).fetchall() == [("pipe.round_trip.cross.equal", 6, 40.0)]


def test_a_bundle_is_never_overwritten(bundle: Bundle, tmp_path: Path) -> None:
    store.write(bundle, tmp_path / "one", {})
    with pytest.raises(BadFile, match="never change"):
        store.write(bundle, tmp_path / "one", {})


@pytest.mark.parametrize(
    "name", ["../escape", "/etc/passwd", "a/b/c", "", ".", "..", "raw/../x", "raw/.hidden"]
)
def test_a_kept_file_cannot_leave_the_bundle(bundle: Bundle, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadFile, match="cannot be named"):
        store.write(bundle, tmp_path / "one", {name: b"x"})
    assert list(tmp_path.iterdir()) == []  # nothing half-written stays either


def test_the_digest_names_the_content(bundle: Bundle, tmp_path: Path) -> None:
    one = store.write(bundle, tmp_path / "one", {store.CONSOLE: b"1"})
    two = store.write(bundle, tmp_path / "two", {store.CONSOLE: b"1"})
    other = store.write(bundle, tmp_path / "other", {store.CONSOLE: b"2"})
    assert one.digest == two.digest != other.digest


def test_samples_of_another_bundle_are_refused(bundle: Bundle, tmp_path: Path) -> None:
    store.write(bundle, tmp_path / "one", {})
    fewer = msgspec.structs.replace(bundle.identity, rows=())
    (tmp_path / "one" / store.IDENTITY).write_bytes(msgspec.json.encode(fewer))
    with pytest.raises(BadFile, match="row is not between"):
        store.read(tmp_path / "one")


@pytest.mark.parametrize(
    ("file", "content"),
    [("bundle.json", b"{"), ("bundle.json", b"[" * 9999), ("samples.parquet", b"x")],
)
def test_a_damaged_bundle_is_named(
    bundle: Bundle, tmp_path: Path, file: str, content: bytes
) -> None:
    store.write(bundle, tmp_path / "one", {})
    (tmp_path / "one" / file).write_bytes(content)
    with pytest.raises(BadFile, match=f"{file} is damaged"):
        store.read(tmp_path / "one")


def test_the_newest_bundle_of_a_store(bundle: Bundle, tmp_path: Path) -> None:
    with pytest.raises(NothingMeasured, match="cyclometer run"):
        store.latest(tmp_path)
    for name in ("b", "a"):
        store.write(bundle, tmp_path / name, {})
    assert store.latest(tmp_path).name == "a"
