# SPDX-License-Identifier: BSD-2-Clause
"""Files read by several processes: the same outcome in the same order, and a reported death."""

import os
import signal
from pathlib import Path

import msgspec
import numpy as np
import pytest

from cyclometer.errors import FAILED, BadFile, MeasurementFailed
from cyclometer.ingest import ingest, workers

from .conftest import DATA

MIXED = [
    "sel4bench_console.log",
    "hackbench.txt",
    "cyclictest.json",
    "kbench_program.txt",
    "zephyr_latency.txt",
]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes whatever the size, on one processor too."""
    monkeypatch.setattr(workers, "WORTH_BYTES", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def _name_and_process(path: str | Path) -> tuple[str, int]:
    return Path(path).name, os.getpid()


def _dies_at_b(path: str | Path) -> str:
    if Path(path).name == "b":
        os.kill(os.getpid(), signal.SIGKILL)
    return str(path)


@pytest.mark.usefixtures("at_once")
def test_order_is_that_of_the_paths_and_other_processes_read() -> None:
    names = [str(number) for number in range(50)]
    found = list(workers.in_order(_name_and_process, names))
    assert [name for name, _ in found] == names
    assert os.getpid() not in {process for _, process in found}


def test_few_bytes_are_read_here() -> None:
    assert {process for _, process in workers.in_order(_name_and_process, ["a", "b"])} == {
        os.getpid()
    }


@pytest.mark.usefixtures("at_once")
def test_a_killed_reader_is_told() -> None:
    with pytest.raises(MeasurementFailed, match="was killed") as caught:
        list(workers.in_order(_dies_at_b, ["a", "b", "c"]))
    assert caught.value.exit_code == FAILED


@pytest.mark.usefixtures("at_once")
def test_the_first_bad_file_is_named(tmp_path: Path) -> None:
    paths = [DATA / "hackbench.txt", tmp_path / "first", tmp_path / "second"]
    for path in paths[1:]:
        path.write_text("nothing was measured")
    with pytest.raises(BadFile, match=r"^first is in no known format"):
        ingest(paths)


def test_the_bundle_does_not_depend_on_who_reads(request: pytest.FixtureRequest) -> None:
    paths = [DATA / name for name in MIXED] * 3
    alone, alone_raw = ingest(paths)
    request.getfixturevalue("at_once")
    together, raw = ingest(paths)
    at = alone.identity.created
    assert msgspec.structs.replace(together.identity, created=at) == alone.identity
    assert raw == alone_raw
    for name in ("row", "run", "visit", "group", "test", "turns", "value", "at", "tags", "kind"):
        np.testing.assert_array_equal(getattr(together.samples, name), getattr(alone.samples, name))
