# SPDX-License-Identifier: BSD-2-Clause
"""The clocks of the Linux harness, with a simulated counter of core cycles and without one."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.core_cycles import chain_cycles, in_core_cycles, issue, speed
from cyclometer.bundle.model import Bundle
from cyclometer.errors import NotComparable
from cyclometer.estimate.rows import estimates
from cyclometer.record.schema import Flow, Skipped
from cyclometer.targets import build
from cyclometer.targets.linux import clocks
from cyclometer.targets.linux.harness import Harness, Launch, Visit, list_circles

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        platform.machine() != "x86_64", reason="the counter is simulated by its TSC"
    ),
]
CHEAP = "-DCYC_READ_PMC(n)=(__builtin_ia32_rdtsc()/2*3)"
EMULATED = '-DCYC_READ_PMC(n)=({for(int i=0;i<4000;i++)__asm__ volatile("");(uint64_t)0;})'


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that pretends to be a counter."""
    library = tmp_path_factory.mktemp("pmu") / "pmu.so"
    source = Path(__file__).parents[1] / "data" / "simulated_core_counter.c"
    subprocess.run(
        [build.compiler(), "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True
    )
    return library


def measured(
    simulated: Path, pmu: str, clock: str, flags: tuple[str, ...] = (), proof: bool = False
) -> Bundle:
    """A few visits of three circles, as `cyclometer run` would make them."""
    launch = Launch(environment={"LD_PRELOAD": str(simulated), "SIMULATED_CORE_COUNTER": pmu})
    options = ["--clock", clock, *(["--proof"] if proof else [])]
    runner = Harness(build.harness(flags), 1, options, 10, launch)
    assembler = Assembler("linux", {})
    method = "proof" if proof else "accumulated"
    for key in ("floor.alu", "syscall.null", "pipe.round_trip.cross.equal") * 3:
        assembler.add(1, runner.visit(Visit(1, key, method, Flow(200, 200, 2, 5))))
    assembler.add(1, runner.finish())
    assert runner.decoder.damage == []
    return assembler.bundle()


def test_a_cheap_counter_is_read_beside_each_test(simulated: Path) -> None:
    bundle = measured(simulated, "mapped", "referenced", (CHEAP,))
    assert "chain_before" not in bundle.samples.counters
    x = speed(bundle)
    assert x is not None
    # Both readings are some 40 ticks apart, and an interrupt may come between them.
    assert np.median(x) == pytest.approx(-np.log(1.5), abs=0.01)
    seen = in_core_cycles(bundle)
    assert seen.identity.rows[0].clock.unit == "cycles"
    ratio = seen.samples.value / bundle.samples.value
    assert np.median(ratio) == pytest.approx(1.5, rel=0.01)


def test_an_emulated_counter_is_recognised_and_not_used(simulated: Path) -> None:
    bundle = measured(simulated, "mapped", "referenced", (EMULATED,))
    assert "core_cycles" not in bundle.samples.counters
    assert np.all(bundle.samples.counters["chain_before"] > 0)


@pytest.mark.parametrize("pmu", ["absent", "read"])
def test_without_a_counter_that_programs_read_there_is_the_chain(simulated: Path, pmu: str) -> None:
    bundle = measured(simulated, pmu, "referenced")
    assert "core_cycles" not in bundle.samples.counters
    assert bundle.identity.environment["chain_cycles"] > 0
    assert np.all(bundle.samples.counters["chain_after"] > 0)
    assert np.all(bundle.samples.counters["issue_before"] > 0)
    assert np.all(bundle.samples.counters["issue_after"] > 0)


def test_a_core_issues_more_independent_than_dependent_instructions() -> None:
    """Or the latency of the chain would notice a second thread of the core as well."""
    runner = Harness(build.harness(), 1, ["--clock", "referenced"], 10)
    assembler = Assembler("linux", {})
    assembler.add(1, runner.visit(Visit(1, "floor.alu", "accumulated", Flow(64, 0, 1, 50))))
    assembler.add(1, runner.finish())
    bundle = assembler.bundle()
    took = issue(bundle.samples.counters, chain_cycles(bundle))
    assert took is not None
    assert np.median(took) < 64_000 / 1.5


def test_the_chain_and_a_multiplication_agree_about_the_core() -> None:
    """Three cycles a multiplication on every x86 core since 2008; eight of them are a turn."""
    if not any(
        name in Path("/proc/cpuinfo").read_text() for name in ("GenuineIntel", "AuthenticAMD")
    ):
        pytest.skip("a core whose multiplier is not known here")
    runner = Harness(build.harness(), 1, ["--clock", "referenced"], 10)
    assembler = Assembler("linux", {})
    for _ in range(10):
        assembler.add(1, runner.visit(Visit(1, "floor.alu", "accumulated", Flow(4096, 0, 1, 20))))
    assembler.add(1, runner.finish())
    seen = in_core_cycles(assembler.bundle())
    if seen.identity.rows[0].clock.unit != "cycles":
        pytest.skip("no test was left undisturbed")
    undisturbed = seen.samples.tags == 0
    cycles = np.quantile(seen.samples.value[undisturbed] / 4096, 0.1)
    assert cycles == pytest.approx(24, rel=0.05)


@pytest.mark.parametrize(("pmu", "flags"), [("read", ()), ("mapped", (CHEAP,))])
def test_a_clock_of_cycles_is_no_part_of_what_a_circle_does(
    simulated: Path, pmu: str, flags: tuple[str, ...]
) -> None:
    """Its readings by read(2) are system calls of the client, and not the circle's."""
    for proof in (False, True):
        bundle = measured(simulated, pmu, "cycles", flags, proof)
        assert {row.clock.unit for row in bundle.identity.rows} == {"cycles"}
        broken = {e.contract.key: e.reason for e in estimates(bundle) if e.set_aside.get("invalid")}
        assert broken == {}
    if "entries" not in bundle.samples.counters:
        pytest.skip("system calls cannot be counted here, so that the proof could not fail")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this process may use one CPU")
def test_a_clock_of_cycles_times_nothing_from_one_cpu_to_another(simulated: Path) -> None:
    launch = Launch(environment={"LD_PRELOAD": str(simulated), "SIMULATED_CORE_COUNTER": "read"})
    cpus = os.sched_getaffinity(0)
    options = ["--clock", "cycles", "--cpu", str(max(cpus)), "--other-cpu", str(min(cpus))]
    runner = Harness(build.harness(), 1, options, 10, launch)
    key = "notification.low_to_high.one_way.same.other_cpu"
    for method in ("proof", "direct"):
        (said,) = (
            record
            for record in runner.visit(Visit(1, key, method, Flow(1, 0, 1, 3)))
            if isinstance(record, Skipped)
        )
        assert "--clock referenced" in said.reason
    runner.finish()


def test_a_clock_of_cycles_counts_three_for_two_ticks(simulated: Path) -> None:
    by_cycles = measured(simulated, "mapped", "cycles", (CHEAP,))
    by_ticks = measured(simulated, "mapped", "native", (CHEAP,))
    least = [
        min(
            bundle.samples.value[bundle.samples.tests(0)]
            / bundle.samples.turns[bundle.samples.tests(0)]
        )
        for bundle in (by_cycles, by_ticks)
    ]
    assert 1.2 < least[0] / least[1] < 1.9  # the core's own speed moves meanwhile


@pytest.mark.parametrize(
    ("pmu", "flags", "reference", "refused"),
    [
        ("mapped", (CHEAP,), clocks.COUNTER, ""),
        ("mapped", (EMULATED,), clocks.CHAIN, ""),
        ("read", (), clocks.CHAIN, ""),
        ("absent", (), clocks.CHAIN, "no core-cycle counter"),
    ],
)
def test_the_clocks_that_work_are_told(
    simulated: Path, pmu: str, flags: tuple[str, ...], reference: str, refused: str
) -> None:
    launch = Launch(environment={"LD_PRELOAD": str(simulated), "SIMULATED_CORE_COUNTER": pmu})
    found = clocks.usable(build.harness(flags), max(os.sched_getaffinity(0)), launch)
    assert found.native.unit == "ticks"
    assert found.reference == reference
    assert refused in found.cycles_refusal
    assert bool(refused) is bool(found.cycles_refusal)


def test_without_a_counter_a_clock_of_cycles_is_refused(
    simulated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD", str(simulated))
    monkeypatch.setenv("SIMULATED_CORE_COUNTER", "absent")
    with pytest.raises(NotComparable, match=r"no core-cycle counter.*--clock referenced"):
        list_circles(build.harness(), ["--clock", "cycles"])
    assert os.environ["SIMULATED_CORE_COUNTER"] == "absent"
