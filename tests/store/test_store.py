# SPDX-License-Identifier: BSD-2-Clause
"""Stores: what is pushed is found and comes back, whoever else writes or dies meanwhile."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest
from click.testing import CliRunner

from cyclometer.bundle import store as folders
from cyclometer.cli import cli
from cyclometer.compare.finding import Options
from cyclometer.errors import BadFile, CyclometerError, NotComparable, UsageError
from cyclometer.report.documents import kinds
from cyclometer.store import history, index, layout, leftovers, listing, rows, transfer
from cyclometer.store.location import Location
from tests.store.made import folder_of, new_store

TOOL = Path(__file__).parents[2] / "tools/store_scale.py"


@pytest.fixture(params=["folder", "s3"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    if request.param == "s3":
        return new_store(request.getfixturevalue("s3"))
    return new_store(str(tmp_path / "store"))


def test_what_is_pushed_comes_back_with_its_digest(location: Location, tmp_path: Path) -> None:
    path = folder_of(tmp_path / "one", 100)
    digest, new = transfer.push(location, path)
    assert (digest, new) == (folders.read(path).digest, True)
    assert transfer.push(location, path) == (digest, False)
    (entry,) = listing.entries(location)
    assert (entry.bundle, entry.target, entry.rows) == (digest, "linux", 1)
    back = transfer.pull(location, digest, tmp_path / "back")
    assert back.digest == digest
    assert (tmp_path / "back/console.log").read_bytes() == b"one 100\n"


def test_a_query_sees_rows_and_nothing_else(location: Location, tmp_path: Path) -> None:
    for day in (1, 2, 3):
        transfer.push(location, folder_of(tmp_path / str(day), 100 + day, day))
    names, found = index.query(location, "SELECT key, max(latency) AS most FROM rows GROUP BY key")
    assert (names, found) == (["key", "most"], [("a.b", 103.0)])
    secret = tmp_path / "secret"
    secret.write_text("x")
    for refused in (
        f"SELECT * FROM read_text('{secret}')",
        "CREATE TABLE t (i INTEGER)",
        "SELECT 1; SELECT 2",
        f"COPY (SELECT 1) TO '{tmp_path / 'written'}'",
        "SELECT * FROM nowhere",
        "not SQL",
    ):
        with pytest.raises(UsageError):
            index.query(location, refused)
    assert not (tmp_path / "written").exists()


def test_a_damaged_upload_is_told_and_not_pulled(location: Location, tmp_path: Path) -> None:
    digest, _ = transfer.push(location, folder_of(tmp_path / "one", 100))
    location.write(f"{layout.folder(digest)}/console.log", b"other")
    with pytest.raises(BadFile, match="is damaged"):
        transfer.pull(location, digest, tmp_path / "back")
    assert not (tmp_path / "back").exists()
    assert not list(tmp_path.glob(".back*"))


def test_the_index_follows_additions_and_removals(location: Location, tmp_path: Path) -> None:
    digests = [
        transfer.push(location, folder_of(tmp_path / str(day), day, day))[0] for day in (1, 2, 3)
    ]
    assert [e.bundle for e in listing.entries(location)] == digests
    for table in layout.TABLES:
        location.remove(next(n for n in location.names(table) if digests[1] in n))
    assert [e.bundle for e in listing.entries(location)] == [digests[0], digests[2]]
    assert transfer.push(location, tmp_path / "2") == (digests[1], True)
    assert [e.bundle for e in listing.entries(location)] == digests


def test_many_segments_become_one(tmp_path: Path) -> None:
    location = new_store(str(tmp_path / "store"))
    for day in range(1, 17):
        transfer.push(location, folder_of(tmp_path / str(day), day, day))
        assert len(listing.entries(location)) == day
    segments = list((tmp_path / "cache/cyclometer").glob("store-*/bundles-*.parquet"))
    assert len(segments) < 16


_WRITER = """
import sys
from pathlib import Path
from cyclometer.store import layout, transfer
location = layout.opened(sys.argv[1])
for path in sys.argv[2:]:
    transfer.push(location, Path(path))
"""


def _in_processes(location: Location, work: list[list[Path]]) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, location.url, *map(str, paths)])
        for paths in work
    ]
    assert [writer.wait() for writer in writers] == [0] * len(work)


def _in_threads(location: Location, work: list[list[Path]]) -> None:
    """Starting eight interpreters takes longer than all they would write over the network."""
    with ThreadPoolExecutor(len(work)) as pool:
        list(pool.map(lambda paths: [transfer.push(location, path) for path in paths], work))


def test_eight_writers_push_at_once_without_a_lock(location: Location, tmp_path: Path) -> None:
    """Every writer pushes four bundles of its own and four that all push."""
    shared = [folder_of(tmp_path / f"shared-{n}", 1000 + n) for n in range(4)]
    own = [[folder_of(tmp_path / f"{w}-{n}", 10 * w + n + 1) for n in range(4)] for w in range(8)]
    push_all = _in_processes if location.is_local else _in_threads
    push_all(location, [[*mine, *shared] for mine in own])
    pushed = {folders.read(path).digest for path in (*shared, *(p for mine in own for p in mine))}
    assert len(pushed) == 36
    found = listing.entries(location)
    assert sorted(entry.bundle for entry in found) == sorted(pushed)
    _, ((count,),) = index.query(location, "SELECT count(*) FROM rows")
    assert count == 36
    for entry in found[:4]:
        transfer.pull(location, entry.bundle, tmp_path / "back" / entry.bundle)


def test_a_writer_that_is_killed_leaves_nothing_that_counts(tmp_path: Path) -> None:
    """However far it came: what is listed is whole, and the next push completes the rest."""
    location = new_store(str(tmp_path / "store"))
    paths = [folder_of(tmp_path / f"b{n}", n + 1) for n in range(20)]
    for delay_s in (0.0, 0.05, 0.2):
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, location.url, *map(str, paths)])
        deadline = time.monotonic() + 30
        while not location.names("data") and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(delay_s)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        for entry in listing.entries(location):
            back = tmp_path / f"{delay_s}" / entry.bundle
            assert transfer.pull(location, entry.bundle, back).digest == entry.bundle
    for path in paths:
        transfer.push(location, path)
    assert len(listing.entries(location)) == 20
    assert leftovers.find(location, 0) == [
        name for name, _ in location.everything("") if "/.part-" in name
    ]


def test_gc_removes_what_belongs_to_no_bundle(tmp_path: Path) -> None:
    location = new_store(str(tmp_path / "store"))
    digest, _ = transfer.push(location, folder_of(tmp_path / "one", 100))
    lost = "0" * 64
    names = [
        f"{layout.folder(lost)}/bundle.json",
        f"rows/target=x/month=2026-01/{lost}.parquet",
        "data/00/.part-0123",
    ]
    for name in names:
        location.write(name, b"x")
    assert leftovers.find(location) == []  # a writer may be at work
    url = location.url
    printed = CliRunner().invoke(cli, ["store", "gc", url, "--older", "0", "--dry-run"])
    assert printed.output.splitlines()[-1] == "3 files to remove"
    CliRunner().invoke(cli, ["store", "gc", url, "--older", "0"], catch_exceptions=False)
    assert not [name for name in names if location.exists(name)]
    assert transfer.pull(location, digest, tmp_path / "back").digest == digest


def test_tables_read_without_us(tmp_path: Path) -> None:
    """Any DuckDB or Spark finds the partitions; the digest joins rows to their bundle."""
    location = new_store(str(tmp_path / "store"))
    odd = {"configuration": {"mcs": "on"}}
    digest, _ = transfer.push(location, folder_of(tmp_path / "one", 100, spec=odd, kernel="6.1"))
    with duckdb.connect() as database:
        read = "read_parquet('{}/{}/*/*/*.parquet', hive_partitioning = true)"
        found = database.execute(
            "SELECT bundle, target, month::VARCHAR, configuration->>'mcs', runs, "
            "environment->>'kernel' "
            f"FROM {read.format(location.url, 'rows')} AS r "
            f"JOIN {read.format(location.url, 'bundles')} AS b USING (bundle, target, month)"
        ).fetchall()
    assert found == [(digest, "linux", "2026-01", "on", [100.0], "6.1")]


def test_a_later_schema_is_refused(tmp_path: Path) -> None:
    location = new_store(str(tmp_path / "store"))
    location.write(layout.MARK, b'{"store": "cyclometer", "schema": 2}')
    with pytest.raises(BadFile, match="schema 2"):
        layout.opened(location.url)
    location.write(layout.MARK, b"[")
    with pytest.raises(BadFile, match="damaged"):
        layout.opened(location.url)


@pytest.mark.parametrize("name", ["../x", "a/../../x", "a/b/c", ".hidden", "a\\b"])
def test_no_name_in_a_store_leaves_the_bundle(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadFile, match="cannot be named"):
        transfer._place(tmp_path, name, b"x")


def test_what_cannot_be_a_store_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for url, error in {
        str(tmp_path / "nothing"): BadFile,
        "nosuch://x/y": CyclometerError,
        "gs://bucket/x": NotComparable,
    }.items():
        with pytest.raises(error) as caught:
            layout.opened(url)
        assert str(caught.value).count("\n") == 0
    with pytest.raises(BadFile, match="other files"):
        layout.init(Location(str(tmp_path)))


def test_a_result_is_what_was_measured_and_not_when(tmp_path: Path) -> None:
    one = folders.read(folder_of(tmp_path / "one", 100, day=1, load=[1]))
    again = folders.read(folder_of(tmp_path / "again", 100, day=2, load=[2]))
    other = folders.read(folder_of(tmp_path / "other", 101, day=2))
    assert rows.result(one) == rows.result(again) != rows.result(other)


def test_commands_print_json(tmp_path: Path) -> None:
    def run(kind: str, *words: str) -> dict[str, Any]:
        done = CliRunner().invoke(cli, ["store", *words, "--json"], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        found: dict[str, Any] = json.loads(done.output)
        assert found.pop("schema") == kinds.name(kind)
        msgspec.convert(found, kinds.KINDS[kind][1])
        return found

    url = str(tmp_path / "store")
    run("store", "init", url)
    (pushed,) = run("transferred", "push", url, str(folder_of(tmp_path / "one", 100)))["bundles"]
    (listed,) = run("store", "ls", url)["bundles"]
    assert listed["bundle"] == pushed["bundle"]
    asked = run(
        "answer", "query", url, "SELECT latency, created FROM rows JOIN bundles USING (bundle)"
    )
    assert asked["rows"] == [{"latency": 100.0, "created": "2026-01-01 02:00:00"}]
    (pulled,) = run("transferred", "pull", url, "newest", "-o", str(tmp_path / "out"))["bundles"]
    assert pulled["path"] == str(tmp_path / "out" / pushed["bundle"][:12])
    assert run("leftovers", "gc", url) == {"files": [], "removed": True}


def test_a_history_comes_out_of_the_tables(tmp_path: Path) -> None:
    location = new_store(str(tmp_path / "store"))
    for day, latency in enumerate([100, 100, 101, 101], 1):
        built = {"compiler": f"gcc {12 + day // 3}"}
        transfer.push(location, folder_of(tmp_path / f"a{day}", latency, day, build=built))
        transfer.push(location, folder_of(tmp_path / f"b{day}", latency, day, key="c.d"))
    words = ["history", location.url, "--only", "a.*", "--json"]
    (series,) = json.loads(CliRunner().invoke(cli, words, catch_exceptions=False).output)["series"]
    (change,) = series["changes"]
    assert (series["key"], change["at"], change["before"], change["after"]) == ("a.b", 2, 100, 101)
    assert change["changed"] == [{"name": "build.compiler", "before": "gcc 12", "after": "gcc 13"}]
    folder = CliRunner().invoke(cli, ["history", str(tmp_path), "--only", "a.*"])
    assert "1 change points in 1 of 1 circles, over up to 4 points." in folder.output


def test_the_scale_tool_makes_a_store_with_the_steps_it_plants(tmp_path: Path) -> None:
    """Its figures mean something only if what it asks is answered rightly."""
    done = subprocess.run(
        [sys.executable, TOOL, "30"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    *answers, loads = [line.rpartition("-> ")[2] for line in done.stdout.splitlines()]
    assert answers[:4] == ["30", "0", "30", "0"]
    for sizes in answers[4:]:
        assert re.fullmatch(r"\d+KiB\+\d+KiB", sizes)
    assert re.fullmatch(r"index.html \d+ ms, compare.html \d+ ms|.* not installed", loads)


def test_a_first_history_grows_with_the_bundles_and_not_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In CPU time, the least of three: four times the bundles, so four times the files to read."""
    monkeypatch.syspath_prepend(str(TOOL.parent))
    import store_scale

    def cpu_s(store: Path, cache: Path) -> float:
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
        began = time.process_time()
        history.history(str(store), Options(), ("circle.k7",))
        return time.process_time() - began

    least = {}
    for bundles in (100, 400):
        store = tmp_path / f"store-{bundles}"
        store_scale.make(store, bundles)
        caches = [tmp_path / f"cache-{bundles}-{n}" for n in range(3)]
        least[bundles] = min(cpu_s(store, cache) for cache in caches)
    assert least[400] < 6 * least[100]
