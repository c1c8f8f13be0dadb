# SPDX-License-Identifier: BSD-2-Clause
"""Circles between two CPUs on the Linux these tests run on. Counts are asserted, never a time."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import compress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from cyclometer.bundle import store
from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import Bundle, tag_bit
from cyclometer.cli import cli
from cyclometer.estimate import hardware
from cyclometer.estimate.rows import estimates
from cyclometer.record.schema import Circle, Failed, Flow, Group, Hello, Record, Skipped, Visited
from cyclometer.targets import build
from cyclometer.targets.linux.harness import Harness, Visit, list_circles

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this process may use one CPU"),
]
OTHER, CPU = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))
TWO = ["--cpu", str(CPU), "--other-cpu", str(OTHER), "--apart", "llc"]


def placed() -> list[str]:
    """The circles between two CPUs that this machine has."""
    records = list_circles(build.harness(), TWO)
    contracts = [record.contract for record in records if isinstance(record, Circle)]
    return [c.key for c in contracts if c.params.get("placement") == "other_cpu"]


def visits(keys: list[str], *options: str, program: Path | None = None) -> list[Record]:
    runner = Harness(program or build.harness(), 1, [*TWO, *options], watchdog_s=10)
    records = [
        record for key in keys for record in runner.visit(Visit(1, key, "proof", Flow(8, 8, 2, 5)))
    ]
    assert runner.alive, f"the harness {runner.why_gone}"
    return records + runner.finish()


def assembled(records: list[Record]) -> Bundle:
    assembler = Assembler("linux", {})
    assembler.add(1, records)
    return assembler.bundle()


def test_every_contract_between_two_cpus_holds() -> None:
    keys = placed()
    records = visits(keys, "--proof")
    assert [r for r in records if isinstance(r, Failed)] == []
    groups = {record.circle for record in records if isinstance(record, Group)}
    skipped = {record.circle for record in records if isinstance(record, Skipped)}
    assert groups | skipped == set(keys)
    broken = {
        e.contract.key: e.reason for e in estimates(assembled(records)) if "broken" in e.reason
    }
    assert broken == {}


NAMESAKE = """
import os, sys, time
os.sched_setaffinity(0, {int(cpu) for cpu in sys.argv[1:]})
open("/proc/self/comm", "w").write("cyclometer")
while True:
    time.sleep(0.0002)
"""


def test_wake_ups_of_another_program_of_the_name_are_not_counted() -> None:
    key = "semaphore.posix.give_take.blocking.cross.other_cpu"
    with subprocess.Popen([sys.executable, "-c", NAMESAKE, str(CPU), str(OTHER)]) as namesake:
        try:
            records = visits([key], "--proof")
        finally:
            namesake.kill()
    groups = [record for record in records if isinstance(record, Group)]
    assert groups
    if "wakeups" not in groups[0].counters:
        pytest.skip("this kernel shows no wake-ups to this user")
    assert [g for g in groups if max(g.counters["wakeups"]) > g.turns] == []


@pytest.mark.parametrize(
    "family",
    [
        "cache_line",
        "condvar",
        "epoll",
        "eventfd",
        "futex",
        "futex_lock",
        "io_uring",
        "membarrier",
        "memory",
        "microkit",
        "mutex",
        "notification",
        "pipe",
        "posix_queue",
        "rwlock",
        "semaphore",
        "shm_futex",
        "signal",
        "spin_lock",
        "switch",
        "sysv_queue",
        "tcp",
        "thread",
        "timer",
        "udp",
        "unix_datagram",
        "unix_seqpacket",
        "unix_stream",
        "wake",
    ],
)
def test_each_family_in_which_two_meet_has_circles_between_two_cpus(family: str) -> None:
    assert any(key.startswith(f"{family}.") for key in placed())


def test_an_operation_that_the_kernels_thread_takes_needs_no_system_call() -> None:
    key = "io_uring.nop.sqpoll.spinning.other_cpu"
    records = visits([key], "--proof")
    groups = [r for r in records if isinstance(r, Group)]
    if not groups:
        pytest.skip(next(r.reason for r in records if isinstance(r, Skipped)))
    if "entries" not in groups[0].counters:
        pytest.skip("this machine counts no system calls")
    # A host that keeps the thread from polling for a second makes the client wake it.
    assert min(n for group in groups for n in group.counters["entries"]) == 0


def test_both_cpus_are_counted_and_named() -> None:
    key = "eventfd.round_trip.same.equal.other_cpu"
    records = visits([key, "syscall.null"])
    hello = next(record for record in records if isinstance(record, Hello))
    assert hello.build["other_cpu"] == str(OTHER)
    contract = next(r.contract for r in records if isinstance(r, Circle) and r.contract.key == key)
    assert contract.params["apart"] == "llc"
    (first, _, alone, _) = (record for record in records if isinstance(record, Group))
    assert not any(name.startswith("other_") for name in alone.counters)
    assert set(first.counters["elsewhere"]) == {0}
    if "other_cpu_switches" in first.counters and "cpu_switches" in first.counters:
        assert sum(first.counters["other_cpu_switches"]) > 0  # the server slept there


def test_a_one_way_visit_bounds_the_offset_of_the_two_clocks() -> None:
    keys = [
        "notification.low_to_high.one_way.cross.other_cpu",
        "eventfd.round_trip.same.equal.other_cpu",
    ]
    runner = Harness(build.harness(), 1, [*TWO, "--clock", "referenced"], watchdog_s=10)
    one_way, round_trip = (
        next(
            r
            for r in runner.visit(Visit(1, key, "direct", Flow(1, 0, 1, 20)))
            if isinstance(r, Visited)
        )
        for key in keys
    )
    runner.finish()
    offset_ns = one_way.counts.clock_offset_ns
    assert offset_ns is not None
    assert 0 < offset_ns < one_way.counts.elapsed_ns  # no reading and answer take no time
    assert round_trip.counts.clock_offset_ns is None
    assert (one_way.counts.idle_states is None) == (round_trip.counts.idle_states is None)


def test_each_turn_that_goes_one_way_wakes_a_cpu_that_is_idle() -> None:
    key = "notification.low_to_high.one_way.same.other_cpu"
    (circle, *groups) = (r for r in visits([key], "--proof") if isinstance(r, Circle | Group))
    assert isinstance(circle, Circle)
    assert circle.contract.interval.kind == "one_way"
    assert circle.contract.expect["switches"] == 1
    for group in groups:
        assert isinstance(group, Group)
        # A stranger on the other CPU adds switches there, and none of the server's. Where the host
        # did not run both CPUs at a time, the client gave up its own.
        whole = [rests == 0 for rests in group.counters["rests"]]
        assert set(compress(group.counters["switches"], whole)) <= {group.turns}
        assert set(compress(group.counters["voluntary"], whole)) <= {0}


def test_the_supervisor_keeps_off_both_cpus_where_there_is_a_third() -> None:
    allowed = os.sched_getaffinity(0)
    runner = Harness(build.harness(), 1, TWO, watchdog_s=10)
    runner.visit(Visit(1, "syscall.null", "accumulated", Flow(8, 0, 1, 1)))
    supervisor = os.sched_getaffinity(runner.pid)
    runner.finish()
    # Of two CPUs it takes the peers', which is idle while the client computes.
    assert supervisor == (allowed - {CPU, OTHER} or {OTHER})


def test_a_stranger_on_the_peers_cpu_sets_tests_aside() -> None:
    key = "eventfd.round_trip.same.equal.other_cpu"
    naps = f"import os, time\nos.sched_setaffinity(0, {{{OTHER}}})\nprint('there', flush=True)\n"
    naps += "while True: time.sleep(1e-4)"
    stranger = subprocess.Popen([sys.executable, "-c", naps], stdout=subprocess.PIPE)
    assert stranger.stdout is not None
    try:
        assert stranger.stdout.readline() == b"there\n"
        runner = Harness(build.harness(), 1, TWO, watchdog_s=10)
        records = runner.visit(Visit(1, key, "accumulated", Flow(64, 0, 1, 200)))
        samples = assembled(records + runner.finish()).samples
    finally:
        stranger.kill()
        stranger.communicate()
    if "other_cpu_switches" not in samples.counters:
        pytest.skip("this machine does not count the switches of a CPU")
    strange = samples.tags & tag_bit("preempted") > 0
    switches = samples.counters["cpu_switches"] + samples.counters["other_cpu_switches"]
    assert strange.any()
    # Where the host did not run both CPUs at a time, a side gave up its own.
    whole = samples.counters.get("rests", np.zeros_like(switches)) == 0
    # A participant that the stranger makes leave in its turn comes back: the sum of all switches
    # is then as if it had blocked.
    pushed = samples.counters["involuntary"] > 0
    explained = (switches != 2 * samples.counters["switches"]) | pushed
    assert np.array_equal(strange[whole], explained[whole])


def test_a_participant_that_ran_elsewhere_breaks_the_contract() -> None:
    program = build.harness(circles=[Path(__file__).parents[1] / "data" / "bad_circles.c"])
    bundle = assembled(visits(["fixture.strayed"], program=program))
    group = bundle.samples.counters["elsewhere"]
    assert np.all(group > 0)
    undisturbed = bundle.samples.tags & ~tag_bit("invalid") == 0
    assert np.all(bundle.samples.tags[undisturbed] == tag_bit("invalid"))


def test_a_machine_without_such_a_pair_skips_with_a_sentence() -> None:
    runner = Harness(build.harness(), 1, ["--other-cpu", "none", "--apart", "smt"], watchdog_s=10)
    records = runner.visit(
        Visit(1, "pipe.round_trip.cross.equal.other_cpu", "accumulated", Flow(8, 0, 1, 3))
    )
    runner.finish()
    (said,) = (record for record in records if isinstance(record, Skipped))
    assert "may not use a second CPU of the kind" in said.reason


def test_without_a_second_cpu_there_are_no_such_circles() -> None:
    records = list_circles(build.harness(), [])
    assert not [r for r in records if isinstance(r, Circle) and "other_cpu" in r.contract.key]


def test_the_command_measures_them_and_tells_what_either_cpu_did(tmp_path: Path) -> None:
    run = ["run", "--cpus", "auto", "--only", "eventfd.round_trip.same.equal*", "--runs", "1"]
    options = ["--budget", "2s", "--allow-invalid", "-o", str(tmp_path / "bundle")]
    CliRunner(env={"COLUMNS": "100"}).invoke(cli, [*run, *options])
    key = "eventfd.round_trip.same.equal"
    bundle = store.read(tmp_path / "bundle")
    keys = [row.contract.key for row in bundle.identity.rows]
    assert {key, f"{key}.other_cpu"} <= set(keys)
    shown = CliRunner().invoke(cli, ["show", str(tmp_path / "bundle"), "--circle", key]).output
    assert "on both CPUs" not in shown
    command = ["show", str(tmp_path / "bundle"), "--circle", f"{key}.other_cpu"]
    shown = CliRunner().invoke(cli, command).output
    assert "placement=other_cpu" in shown
    counted = hardware.per_turn(bundle, f"{key}.other_cpu", hardware.BETWEEN_CPUS)
    assert ("on both CPUs" in shown) == bool(counted)  # every test of a proof may be disturbed


def test_ab_compares_circles_between_two_cpus(tmp_path: Path) -> None:
    key = "eventfd.round_trip.same.equal.other_cpu"
    words = ["ab", "--cpus", f"{CPU},{OTHER}", "--only", key, "--wrap-after", "env"]
    done = CliRunner().invoke(cli, [*words, "--budget", "2s", "-o", str(tmp_path / "ab")])
    assert "Traceback" not in done.output
    for side in ("before", "after"):
        bundle = store.read(tmp_path / "ab" / side)
        assert bundle.identity.plan["settings"]["pair"]["other"] == OTHER
        assert key in {row.contract.key for row in bundle.identity.rows}
