# SPDX-License-Identifier: BSD-2-Clause
"""Sweeps with real workers: what they measure is there once, whoever dies meanwhile."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from cyclometer.cli import cli
from cyclometer.errors import UsageError
from cyclometer.report.documents import kinds
from cyclometer.store import index, layout, listing
from cyclometer.store.location import Location
from cyclometer.sweep import done, engine, plan, sweep, work
from tests.sweep.clusters import answering, separate_cluster, start

pytest.importorskip("distributed", reason="Dask is not installed; run `make setup-all`")
Planned = Callable[..., Path]
QUIET = {"progress": lambda *_: None}


@pytest.fixture
def location(tmp_path: Path) -> Location:
    layout.init(Location(str(tmp_path / "store")))
    return layout.opened(str(tmp_path / "store"))


def results(location: Location) -> list[tuple[float, int]]:
    """(latency, how many bundles have it)."""
    _, found = index.query(
        location, "SELECT latency, count(*) FROM rows GROUP BY latency ORDER BY latency"
    )
    return found


def run(words: list[str]) -> tuple[int, dict[str, Any]]:
    printed = CliRunner().invoke(cli, ["sweep", *words, "--json"], catch_exceptions=False)
    found: dict[str, Any] = json.loads(printed.stdout)
    kind = found.pop("schema").split("/")[1]
    msgspec.convert(found, kinds.KINDS[kind][1])
    return printed.exit_code, found


@contextmanager
def killing(pids: Callable[[], list[int]], times: int) -> Iterator[list[int]]:
    """Kills one of these processes at random, so many times."""
    ended, killed, dice = threading.Event(), list[int](), random.Random(1)

    def kill() -> None:
        while len(killed) < times and not ended.wait(dice.uniform(0.5, 2)):
            found = pids()
            if found:
                killed.append(dice.choice(found))
                with suppress(ProcessLookupError):  # it ended meanwhile
                    os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


def test_a_sweep_is_complete_although_workers_are_killed(
    location: Location, planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every task has one bundle in the end, and a second sweep has nothing to do."""
    monkeypatch.setenv("PRETEND_S", "0.1")
    read = plan.read(planned(40))
    printed: list[work.Outcome] = []
    with engine.cluster(None, 2) as client:

        def workers() -> list[int]:
            nannies = client.cluster.workers.values()
            return [n.process.pid for n in nannies if n.process is not None and n.process.pid]

        with killing(workers, 4) as killed:
            engine.perform(client, read.tasks, location.url, printed.append)
    assert killed
    assert {outcome.error for outcome in printed} == {""}
    report = sweep.run(read, location, None, 2, 0.05, **QUIET)
    assert (report.done, report.there, report.is_complete) == (40, 40, True)
    assert results(location) == [(1000.0 + n, 1) for n in range(1, 41)]


def test_two_clusters_measure_the_same_to_the_byte(
    location: Location, planned: Planned, tmp_path: Path
) -> None:
    """A cluster of this machine, and a scheduler with separate workers, of which one dies."""
    path = planned(12)
    code, first = run([str(path), "--store", location.url, "--workers", "2", "--check", "50%"])
    assert (code, first["done"], first["checked"], first["unlike"]) == (0, 12, 6, {})
    other = str(tmp_path / "other")
    with separate_cluster(2) as (address, started):
        deadline = threading.Timer(3, started[1].kill)
        deadline.start()
        code, second = run([str(path), "--store", other, "--scheduler", address])
        deadline.cancel()
    assert (code, second["done"], second["unlike"]) == (0, 12, {})
    tasks = plan.read(path).tasks
    one, two = (done.of(layout.opened(url), tasks) for url in (location.url, other))
    assert {n: d.result for n, d in one.items()} == {n: d.result for n, d in two.items()}


def test_two_clusters_on_a_machine_take_ports_of_their_own() -> None:
    """Dask's own choice is one port, 8787, and a warning where another cluster has it."""
    with engine.cluster(None, 1) as client:
        server = client.cluster.scheduler.http_server
        assert (server.address, server.port == 8787) == ("127.0.0.1", False)


def test_a_restarted_scheduler_leaves_a_sweep_that_goes_on(
    location: Location, planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new one knows no tasks; the sweep ends with what is done, and nothing counts twice."""
    monkeypatch.setenv("PRETEND_S", "0.2")
    words = [str(planned(30)), "--store", location.url, "--scheduler"]
    with separate_cluster(2) as (address, started):

        def restart() -> None:
            while len(location.names("tasks")) < 3:
                time.sleep(0.05)
            started[0].kill()
            started[0].wait()
            started.extend(start(address, 2))  # workers end with the scheduler that they know
            answering(address)

        thread = threading.Thread(target=restart, daemon=True)
        thread.start()
        code, first = run([*words, address])
        thread.join(timeout=120)
        assert not thread.is_alive()
        assert code == 5
        assert 3 <= first["done"] < 30
        assert first["interrupted"] == "the Dask scheduler is gone, or was restarted"
        code, second = run([*words, address])
    assert (code, second["done"], second["duplicates"]) == (0, 30, 0)
    assert results(location) == [(1000.0 + n, 1) for n in range(1, 31)]


def test_an_exact_task_that_does_not_repeat_fails_loudly(tmp_path: Path, planned: Planned) -> None:
    path = planned(2, '"config.odd" = [true]')
    words = [str(path), "--store", str(tmp_path / "store"), "--workers", "2", "--check", "100%"]
    code, printed = run(words)
    assert code == 5
    assert len(printed["unlike"]) == 2


def test_a_task_that_fails_is_named_and_the_others_are_done(
    tmp_path: Path, planned: Planned
) -> None:
    path = planned(2, '"config.broken" = [false, true]')
    words = ["sweep", str(path), "--store", str(tmp_path / "store"), "--workers", "1"]
    printed = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert printed.exit_code == 5
    assert "on fire" in printed.stderr
    assert "2 of 4 tasks done, 0 of them before;" in printed.stdout
    assert "2 missing" in printed.stdout


def test_an_interrupted_sweep_goes_on_where_it_ended(
    location: Location, planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRETEND_S", "0.2")
    path = planned(30)
    program = "from cyclometer.cli import main; main()"
    words = ["sweep", str(path), "--store", location.url, "--workers", "2"]
    process = subprocess.Popen([sys.executable, "-c", program, *words], stdout=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while len(location.names("tasks")) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 5
    assert b"interrupted; the same command goes on from here" in printed
    before = len(listing.entries(location))
    assert 3 <= before < 30
    code, report = run([str(path), "--store", location.url, "--workers", "2"])
    assert (code, report["done"]) == (0, 30)
    assert report["there"] >= before
    assert results(location) == [(1000.0 + n, 1) for n in range(1, 31)]


def test_job_arrays_need_no_dask(tmp_path: Path, planned: Planned) -> None:
    path, url = planned(3), str(tmp_path / "store")
    for number in ("1", "3", "3"):
        code, printed = run([str(path), "--store", url, "--task", number])
        assert code == 0
    assert printed["was_there"]
    assert run([str(path), "--store", url, "--status"])[1]["missing"] == [
        plan.read(path).tasks[1].name
    ]
    words = ["sweep", str(path), "--store", url, "--dry-run"]
    listed = CliRunner().invoke(cli, words, catch_exceptions=False).output.splitlines()
    assert [" done " in line for line in listed] == [True, False, True, False]
    assert listed[-1].startswith("1 of 3 tasks to run; about 0 s on ")
    assert isinstance(CliRunner().invoke(cli, [*words[:-1], "--task", "4"]).exception, UsageError)


def test_an_image_travels_by_its_digest(location: Location, tmp_path: Path) -> None:
    (tmp_path / "kernel.elf").write_bytes(b"12345")
    path = tmp_path / "plan.toml"
    path.write_text('[sweep]\ntarget = "qemu-pretend"\nimage = "kernel.elf"')
    assert run([str(path), "--store", location.url, "--workers", "1"])[0] == 0
    assert results(location) == [(1005.0, 1)]
    digest = plan.read(path).tasks[0].image
    assert (tmp_path / "cache/cyclometer/images" / digest).read_bytes() == b"12345"


def test_a_machine_with_other_versions_refuses_a_task(location: Location, planned: Planned) -> None:
    (task,) = plan.read(planned(1)).tasks
    other = msgspec.structs.replace(task, facts=task.facts | {"cyclometer": "9"})
    outcome = work.perform(other, location.url)
    assert "against 9" in outcome.error
    assert listing.entries(location) == []


def test_what_two_workers_measured_counts_once(location: Location, planned: Planned) -> None:
    """One was given up for dead, and was not."""
    read = plan.read(planned(1))
    (task,) = read.tasks
    work.perform(task, location.url)
    location.remove(done.note_of(task.name))
    work.perform(task, location.url)
    assert len(listing.entries(location)) == 2
    report = sweep.run(read, location, None, 1, 0, **QUIET)
    assert (report.duplicates, report.done) == (1, 1)
    assert results(location) == [(1001.0, 1)]


def test_a_worker_that_died_before_its_entry_left_the_task_undone(
    location: Location, planned: Planned
) -> None:
    (task,) = plan.read(planned(1)).tasks
    work.perform(task, location.url)
    known = done.one(location, task)
    assert known is not None
    location.remove(known.entry)
    assert done.one(location, task) is None
    assert not work.perform(task, location.url).was_there
    location.write(done.note_of(task.name), b"{")  # a corrupt upload
    assert done.of(location, [task]) == {}


def test_an_interrupted_task_is_not_done(
    location: Location, planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = plan.read(planned(1)).tasks[0]
    target = type(work.TARGETS.load(task.target))
    whole = target.measure
    with monkeypatch.context() as patch:
        patch.setattr(target, "measure", lambda *w: replace(whole(*w), interrupted=True))
        assert "was interrupted" in work.perform(task, location.url).error
    assert done.one(location, task) is None
    assert not work.perform(task, location.url).was_there


def test_a_full_disk_is_a_reason_and_not_an_end(
    location: Location, planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    outcome = work.perform(plan.read(planned(1)).tasks[0], location.url)
    assert "No space left on device" in outcome.error
    assert listing.entries(location) == []
    assert [n for n, _ in location.everything("") if "/.part-" in n] == []


def test_nobody_at_the_schedulers_address_is_one_sentence(
    location: Location, planned: Planned
) -> None:
    words = [str(planned(1)), "--store", location.url, "--scheduler", "tcp://127.0.0.1:1"]
    code, printed = run(words)
    assert code == 5
    assert "no Dask scheduler answers" in printed["interrupted"]
