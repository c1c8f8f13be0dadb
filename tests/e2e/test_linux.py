# SPDX-License-Identifier: BSD-2-Clause
"""The real harness on the Linux these tests run on. Counts are asserted, and ratios within one run;
never a time.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from cyclometer.bundle import store
from cyclometer.bundle.model import Bundle, tag_bit
from cyclometer.estimate.rows import estimates
from cyclometer.record.decode import Decoder
from cyclometer.record.schema import Circle, Failed, Flow, Group, Hello, Pass
from cyclometer.targets import build
from cyclometer.targets.api import Progress, Request
from cyclometer.targets.linux.harness import Harness, Visit
from cyclometer.targets.linux.measurement import MeasurementSettings
from cyclometer.targets.linux.target import LinuxTarget

pytestmark = pytest.mark.e2e
CLI = [sys.executable, "-m", "cyclometer"]


@pytest.fixture(autouse=True)
def _same_affinity():  # type: ignore[no-untyped-def]
    """A measurement leaves its CPU; the next test starts from where this one did."""
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture(scope="module")
def everything() -> Bundle:
    """A short look at every circle: enough for contracts, not for figures."""
    before = os.sched_getaffinity(0)
    measured = LinuxTarget().measure(
        Request(runs=2, quick=True, budget_s=10, seed=1), {}, Progress()
    )
    os.sched_setaffinity(0, before)
    return measured.bundle


def test_there_are_at_least_sixty_circles(everything: Bundle) -> None:
    assert len({row.contract.key for row in everything.identity.rows}) >= 60


@pytest.fixture
def with_priorities(everything: Bundle) -> Bundle:
    """`everything`, where the relation of priorities that contracts name holds."""
    if everything.identity.rows[0].configuration["policy"] != "fifo":
        pytest.skip("SCHED_FIFO is refused here (run as root, or with ulimit -r 99)")
    return everything


def test_no_circle_failed(with_priorities: Bundle) -> None:
    assert [p for p in with_priorities.identity.problems if p.kind in ("failed", "damaged")] == []


def test_every_contract_is_proven_by_every_undisturbed_test(with_priorities: Bundle) -> None:
    broken = {
        e.contract.key: e.reason for e in estimates(with_priorities) if e.set_aside.get("invalid")
    }
    assert broken == {}


@pytest.mark.skipif(not shutil.which("setpriv"), reason="setpriv (util-linux) is not installed")
def test_a_run_that_may_not_use_priorities_leaves_out_what_needs_them() -> None:
    without = ["prlimit", "--rtprio=0"]
    if os.geteuid() == 0:
        without += ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]
    said = subprocess.run(
        [*without, build.harness(), "--list"], capture_output=True, check=True
    ).stdout
    hello, *circles = Decoder().feed(said)
    assert isinstance(hello, Hello)
    assert hello.configuration["policy"] == "other"
    keys = [record.contract.key for record in circles if isinstance(record, Circle)]
    assert "pipe.round_trip.cross.equal" in keys
    assert "pipe.round_trip.cross.server_higher" not in keys


def test_system_calls_were_counted_where_tracing_is_to_be_had(everything: Bundle) -> None:
    if "entries" not in everything.samples.counters:
        unproven = {name for e in estimates(everything) for name in e.unproven}
        assert "entries" in unproven  # said, not hidden
        return
    for index, row in enumerate(everything.identity.rows):
        if row.method == "proof" and "entries" in row.contract.expect:
            rows = everything.samples.tests(index, untagged=True)
            expected = row.contract.expect["entries"] * everything.samples.turns[rows]
            np.testing.assert_array_equal(
                everything.samples.counters["entries"][rows], expected, row.contract.key
            )


def test_the_order_was_mixed_and_is_on_record(everything: Bundle) -> None:
    order = everything.identity.plan["order"]
    timed = [(visit["run"], visit["circle"]) for visit in order]
    assert {run for run, _ in timed} == {1, 2}
    assert timed != sorted(timed)
    assert everything.identity.plan["settings"]["seed"] == 1


def test_the_visits_of_all_runs_lie_on_one_axis_of_time(everything: Bundle) -> None:
    plan, samples = everything.identity.plan, everything.samples
    assert plan["process"] == "visit"
    origin = np.array([plan["origins"][str(run)] for run in range(samples.run.max() + 1)])
    begin = samples.at + origin[samples.run]
    key = np.array([row.contract.key for row in everything.identity.rows])[samples.row]
    method = np.array([row.method for row in everything.identity.rows])[samples.row]
    seen: Counter[tuple[int, str, str]] = Counter()
    first, last = [], []
    for visit in plan["order"]:
        which = visit["run"], visit["circle"], visit["method"]
        own = (samples.run == which[0]) & (key == which[1]) & (method == which[2])
        number = np.unique(samples.visit[own])[seen[which]]
        seen[which] += 1
        first.append(begin[own & (samples.visit == number)].min())
        last.append(begin[own & (samples.visit == number)].max())
    assert np.all(np.array(first[1:]) > np.array(last[:-1]))


def test_each_visit_tells_what_happened_beside_it(everything: Bundle) -> None:
    plan = everything.identity.plan
    counts = [visit["counts"] for visit in plan["order"] if "counts" in visit]
    assert len(counts) > 0.9 * len(plan["order"])  # a visit that is given up tells nothing
    assert all(one["elapsed_ns"] > 0 for one in counts)
    known = everything.samples.counters
    switches = {v["circle"] for v in plan["order"] if "foreign_switches" in v.get("counts", {})}
    assert ("pipe.round_trip.cross.equal" in switches) == (
        {"cpu_switches", "switches"} <= set(known)
    )
    assert not switches & {"timer.nanosleep", "thread.create_join"}  # they make others switch


def test_each_visit_executes_the_harness_anew() -> None:
    runner = Harness(fixture_harness(), 1, ["--hz", "1000000000"], watchdog_s=10)
    records = [
        record
        for _ in range(8)
        for record in runner.visit(Visit(1, "fixture.layout", "passes", Flow(1, 0, 1, 1)))
    ]
    records += runner.finish()
    hello = next(record for record in records if isinstance(record, Hello))
    assert hello.clock.hz == 1e9  # taken from the command line, not found anew
    addresses = {r.values[0] for r in records if isinstance(r, Pass)}
    if Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "0":
        assert len(addresses) == 1
    else:
        assert len(addresses) > 1


def test_the_rig_is_thin_beside_a_system_call(everything: Bundle) -> None:
    found = {e.contract.key: e.latency.value for e in estimates(everything) if e.latency}
    assert found["floor.empty"] < 0.2 * found["syscall.null"]


def fixture_harness() -> Path:
    return build.harness(circles=[Path(__file__).parents[1] / "data" / "bad_circles.c"])


def test_a_contract_that_lies_is_caught() -> None:
    from cyclometer.bundle.assemble import Assembler

    runner = Harness(fixture_harness(), 1, [], watchdog_s=10)
    assembler = Assembler("linux", {})
    for _ in range(5):
        assembler.add(
            1, runner.visit(Visit(1, "fixture.wrong_contract", "accumulated", Flow(20, 0, 1, 20)))
        )
    assembler.add(1, runner.finish())
    bundle = assembler.bundle()
    assert np.any(bundle.samples.tags & tag_bit("invalid"))
    assert np.all(bundle.samples.tags)  # what is not invalid was disturbed: no test counts
    (estimate,) = estimates(bundle)
    assert not estimate.valid
    assert "contract broken" in estimate.reason


@pytest.mark.parametrize(
    ("circle", "reason"),
    [
        ("fixture.hangs", "did not finish within 3 s and was ended"),
        ("fixture.spins", "did not finish within 3 s and was ended"),
        ("fixture.dies", "its process died of signal 6"),
        ("fixture.leaves", "its process ended with status 0 before its tests did"),
    ],
)
def test_a_circle_that_hangs_or_dies_is_reported_and_the_others_go_on(
    circle: str, reason: str
) -> None:
    runner = Harness(fixture_harness(), 1, [], watchdog_s=3)
    bad = runner.visit(Visit(1, circle, "accumulated", Flow(1, 0, 1, 1)))
    good = runner.visit(Visit(1, "syscall.null", "accumulated", Flow(5, 0, 1, 3)))
    runner.finish()
    assert [r.reason for r in bad if isinstance(r, Failed)] == [reason]
    assert not any(isinstance(r, Group) for r in bad)
    assert any(isinstance(r, Group) for r in good)
    assert runner.decoder.damage == []


def test_kbench_prints_its_own_table(tmp_path: Path) -> None:
    options = [
        "run",
        "--kbench",
        "30,1,5,20",
        "--runs",
        "1",
        "--budget",
        "2s",
        "-o",
        str(tmp_path / "bundle"),
    ]
    done = subprocess.run([*CLI, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    fields = dict(line.split(": ") for line in done.stdout.splitlines() if line.count(": ") == 1)
    assert (fields["Initial Test size"], fields["Delta"], fields["Number of Groups"]) == (
        "30",
        "1",
        "5",
    )
    *_, printed = done.stdout.partition("(clock cycles):\n")
    table = [line.split() for line in printed.splitlines() if line[:1].isdigit()]
    assert [len(row) for row in table] == [5] * 20
    bundle = store.read(tmp_path / "bundle")
    keys = [row.contract.key for row in bundle.identity.rows]
    own = [key.startswith("notification.") for key in keys]  # and not of a reference circle
    sizes = Counter(bundle.samples.turns[np.array(own)[bundle.samples.row]].tolist())
    assert [sizes[turns] for turns in range(30, 35)] == [20] * 5


def _children(pid: int) -> list[int]:
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in files for child in file.read_text(encoding="ascii").split()]


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    options = ["run", "--only", "syscall.*", "--budget", "40s", "-o", str(tmp_path / "bundle")]
    process = subprocess.Popen([*CLI, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and len(_children(process.pid)) < 5:  # all runs have begun
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 5
    assert b"interrupted" in said
    bundle = store.read(tmp_path / "bundle")
    assert bundle.identity.plan["interrupted"]
    assert len(bundle.samples) > 0


def _harness_of(run: int) -> int:
    """The process of a run that this process measures."""
    named = f"\0--run\0{run}\0".encode()
    return next(
        pid for pid in _children(os.getpid()) if named in Path(f"/proc/{pid}/cmdline").read_bytes()
    )


def test_a_killed_harness_loses_only_what_it_had_not_measured() -> None:
    """It dies between two visits in the middle of the measurement, so it has measured, and visits
    are still to come.
    """
    runs, rounds = MeasurementSettings.runs, MeasurementSettings.rounds

    killed: list[int] = []

    def kill_one(done: int, total: int, _key: str) -> None:
        # Once: circles that were disturbed are visited again, as many times.
        if not killed and total >= runs * rounds and done == total // 2:
            killed.append(_harness_of(2))
            os.kill(killed[0], signal.SIGKILL)

    request = Request(only=("syscall.*",), budget_s=5, seed=1)
    measured = LinuxTarget().measure(request, {}, Progress(kill_one))
    assert measured.broken
    bundle = measured.bundle
    ended = [p for p in bundle.identity.problems if "harness ended" in p.what]
    assert [p.where for p in ended] == ["run 2"]
    assert any("without its `end`" in p.what for p in bundle.identity.problems)
    visited = Counter(visit["run"] for visit in bundle.identity.plan["order"])
    visits = {
        run: len(np.unique(bundle.samples.visit[bundle.samples.run == run])) for run in visited
    }
    assert visits.pop(2) == visited.pop(2) - 1 > 0  # the visit that found it dead
    assert visits == visited
    assert len(visits) == runs - 1


def test_an_unknown_circle_and_an_unknown_clock_are_one_sentence(tmp_path: Path) -> None:
    del tmp_path
    done = subprocess.run(
        [*CLI, "run", "--only", "no.such"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cyclometer list" in done.stderr
