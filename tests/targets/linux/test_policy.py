# SPDX-License-Identifier: BSD-2-Clause
"""Circles under the ordinary scheduler: which there are, and what their contracts still say."""

from __future__ import annotations

import os
import shutil
import subprocess

import numpy as np
import pytest

from cyclometer.bundle import tags
from cyclometer.bundle.model import Bundle, Contract, tag_bit
from cyclometer.errors import NotComparable, UsageError
from cyclometer.estimate.rows import estimates
from cyclometer.record.schema import Circle, Hello
from cyclometer.targets import build
from cyclometer.targets.api import Progress, Request
from cyclometer.targets.linux.harness import list_circles
from cyclometer.targets.linux.target import LinuxTarget


def listed(*options: str) -> tuple[Hello, dict[str, Contract]]:
    hello, *records = list_circles(build.harness(), list(options))
    assert isinstance(hello, Hello)
    return hello, {r.contract.key: r.contract for r in records if isinstance(r, Circle)}


def test_only_circles_that_need_no_priorities_are_listed() -> None:
    every, fair = listed("--policy", "any")[1], listed("--policy", "other")[1]
    gone = every.keys() - fair.keys()
    assert {"pipe.round_trip.same.server_higher", "thread.yield.cross.fifo_1"} <= gone
    assert {"timer.nanosleep", "pipe.round_trip.same.equal", "process.fork_wait"} <= fair.keys()
    named = [key for key in every if "higher" in every[key].params.get("priority", "")]
    assert named
    assert gone.issuperset(named)


def test_contracts_of_several_threads_are_bounds_and_of_one_are_exact() -> None:
    every, fair = listed("--policy", "any")[1], listed("--policy", "other")[1]
    pipe = fair["pipe.round_trip.cross.equal"]
    assert (pipe.expect, pipe.at_least) == ({"faults": 0}, {"switches": 2, "space_switches": 2})
    fork = fair["process.fork_wait"]
    assert (fork.expect, fork.at_least) == ({"entries": 2}, {"switches": 1, "cpu_switches": 2})
    assert fair["syscall.null"] == every["syscall.null"]
    assert all(not contract.at_least for contract in every.values())


def test_what_was_chosen_is_part_of_the_configuration() -> None:
    hello, _ = listed("--policy", "batch", "--nice", "19")
    assert (hello.configuration["policy"], hello.configuration["nice"]) == ("batch", "19")
    assert listed("--nice", "19")[0].configuration["policy"] == "other"
    assert "nice" not in listed("--policy", "any")[0].configuration


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        (["--policy", "fifo", "--nice", "1"], UsageError, "are for --policy other and batch"),
        (["--policy", "rr"], UsageError, "--policy is auto, fifo, other or batch"),
        (["--policy", "other", "--slice", "1"], NotComparable, "leave --slice out"),
        (["--nice", "20"], UsageError, "--nice takes a number from -20 to 19"),
    ],
)
def test_what_cannot_be_is_refused(options: list[str], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        list_circles(build.harness(), options)


def test_a_slice_is_one_the_kernel_confirms() -> None:
    try:
        hello, _ = listed("--slice", "5000000")
    except NotComparable as refused:
        pytest.skip(str(refused))
    assert hello.configuration["slice_ns"] == "5000000"


def test_fewer_than_the_least_is_invalid_and_more_is_not() -> None:
    contract = Contract("x", at_least={"switches": 2})
    counters = {"switches": np.array([20, 19, 25]), "cpu_switches": np.array([20, 19, 25])}
    found = tags.tags(contract, np.array([10, 10, 10]), counters)
    assert found.tolist() == [0, tag_bit("invalid"), 0]


def test_an_outsider_is_seen_where_participants_switch_as_often_as_they_like() -> None:
    contract = Contract("x", at_least={"switches": 2})
    counters = {"switches": np.array([24, 24]), "cpu_switches": np.array([24, 25])}
    counters["involuntary"] = np.array([3, 3])
    found = tags.tags(contract, np.array([10, 10]), counters)
    assert found.tolist() == [0, tag_bit("preempted")]


@pytest.fixture(scope="module")
def ordinary() -> Bundle:
    only = ("pipe.*", "futex.*", "process.fork_wait", "thread.*", "signal.*", "io_uring.*")
    request = Request(only=only, policy="other", quick=True, runs=1, budget_s=2, seed=1)
    return LinuxTarget().measure(request, {}, Progress()).bundle


def test_contracts_hold_under_the_ordinary_scheduler(ordinary: Bundle) -> None:
    broken = {e.contract.key: e.reason for e in estimates(ordinary) if e.set_aside.get("invalid")}
    assert broken == {}
    assert {row.configuration["policy"] for row in ordinary.identity.rows} == {"other"}


def test_every_reply_took_a_switch_to_each_side(ordinary: Bundle) -> None:
    samples = ordinary.samples
    for index, row in enumerate(ordinary.identity.rows):
        if row.contract.key.startswith("pipe.") and "switches" in samples.counters:
            tests = samples.tests(index)
            assert np.all(samples.counters["switches"][tests] >= 2 * samples.turns[tests])


@pytest.mark.skipif(not shutil.which("setpriv"), reason="setpriv (util-linux) is not installed")
def test_fifo_that_is_asked_for_and_refused_is_a_sentence() -> None:
    without = ["prlimit", "--rtprio=0"]
    if os.geteuid() == 0:
        without += ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]
    command = [*without, build.harness(), "--policy", "fifo", "--list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1
    assert "--policy other" in done.stderr
