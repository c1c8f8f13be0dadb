# SPDX-License-Identifier: BSD-2-Clause
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cyclometer.doctor import observe as observing
from cyclometer.doctor.checks import BAD, CHECKS, OK, UNKNOWN, WARN, CheckResult, examine
from cyclometer.doctor.observe import Abilities, Activity, IdleState, Observation, observe
from cyclometer.errors import NotComparable, UsageError

from .conftest import CPU, plant

IDEAL = Observation(
    cpu=3,
    facts={
        "governor": {"performance": "0-3"},
        "turbo": "off",
        "isolated_cpus": "2-3",
        "nohz_full_cpus": "3",
        "rt_runtime_us": -1,
        "rt_period_us": 1000000,
        "kernel_release": "6.1.0",
        "mitigations": {"meltdown": "Not affected"},
        "clocksource": "tsc",
        "virtualisation": {"virtual": False, "product": "Tower"},
        "swap_bytes": 0,
        "timer_hz": 1000,
        "cpu_count": 4,
    },
    siblings=[],
    idle_states=[IdleState("C1", 2)],
    tracefs=True,
    fair_server_share=None,
    activity=Activity(1.0, 0.0, 0.0, 0.0, 1.0, 0.0),
    abilities=Abilities(True, None, "", "", False, "cc 12", 40, 500),
)


def finding(name: str, seen: Observation) -> CheckResult:
    return {found.name: found for found in examine(seen)}[name]


def with_facts(**facts: Any) -> Observation:
    return dataclasses.replace(IDEAL, facts=IDEAL.facts | facts)


def with_ability(**abilities: Any) -> Observation:
    return dataclasses.replace(IDEAL, abilities=dataclasses.replace(IDEAL.abilities, **abilities))


def with_activity(**activity: Any) -> Observation:
    return dataclasses.replace(IDEAL, activity=dataclasses.replace(IDEAL.activity, **activity))


def test_an_ideal_machine_passes_every_check() -> None:
    assert {found.name: found.state for found in examine(IDEAL)} == dict.fromkeys(CHECKS, OK)


def test_a_machine_that_tells_nothing_is_unknown_not_good() -> None:
    mute = dataclasses.replace(IDEAL, facts={})
    unknown = {found.name for found in examine(mute) if found.state == UNKNOWN}
    assert unknown == {
        "governor",
        "turbo",
        "isolation",
        "RT throttling",
        "mitigations",
        "clocksource",
        "virtualisation",
        "swap",
        "timer frequency",
    }


# What disturbs -> (check, state, a piece of the cost with its figure, a piece of the change).
DISTURBED: list[tuple[Observation, str, str, str, str]] = [
    (
        with_facts(
            governor={"powersave": "3"},
            frequency_min_khz={"800000": "3"},
            frequency_max_khz={"4000000": "3"},
        ),
        "governor",
        WARN,
        "from 800 to 4000 MHz, a factor of 5.0",
        "--tune",
    ),
    (
        with_facts(governor={"powersave": "3", "performance": "0-2"}),
        "governor",
        WARN,
        "unknown range",
        "--tune",
    ),
    (
        with_facts(
            turbo="on", frequency_base_khz={"3000000": "3"}, frequency_max_khz={"4000000": "3"}
        ),
        "turbo",
        WARN,
        "up to 33%",
        "--tune",
    ),
    (with_facts(turbo="on"), "turbo", WARN, "does not report", "--tune"),
    (
        dataclasses.replace(IDEAL, idle_states=[IdleState("C6", 133)]),
        "idle states",
        WARN,
        "133 us",
        "--tune",
    ),
    (
        with_facts(isolated_cpus="0-2"),
        "isolation",
        WARN,
        "1 interrupts a second",
        "isolcpus=managed_irq,domain,3",
    ),
    (with_facts(rt_runtime_us=950000), "RT throttling", WARN, "50 of every 1000 ms", "--tune"),
    (
        with_facts(rt_runtime_us=-1, kernel_release="6.12.1"),
        "RT throttling",
        WARN,
        "5%",
        "isolate CPU 3",
    ),
    (with_facts(clocksource="hpet"), "clocksource", WARN, "at least 40 ns", "clocksource=tsc"),
    (
        with_facts(virtualisation={"virtual": True}),
        "virtualisation",
        WARN,
        "6 %",
        "compare several sessions",
    ),
    (with_activity(steal_share=0.01), "steal", WARN, "1.0%", "host"),
    (with_activity(steal_share=0.25), "steal", BAD, "25.0%", "host"),
    (with_activity(busy_share=0.06), "other load", WARN, "6%", "--cpu"),
    (with_activity(busy_share=0.6), "other load", BAD, "60%", "--cpu"),
    (dataclasses.replace(IDEAL, siblings=[1]), "SMT sibling", WARN, "0% of 1 s", "cpu1/online"),
    (with_ability(fifo=False), "SCHED_FIFO", WARN, "2.1 ms", "ulimit -r 99"),
    (with_ability(memlock_bytes=8 << 20), "locked memory", WARN, "500 ns", "128 MiB"),
    (
        with_ability(cpu_events_refusal="permission denied"),
        "counters",
        WARN,
        "2 counters",
        "--tune",
    ),
    (
        with_ability(cycles_refusal="the CPU shows none"),
        "core cycles",
        WARN,
        "chain",
        "measure on a machine",
    ),
    (dataclasses.replace(IDEAL, tracefs=False), "tracefs", WARN, "4 counters", "root"),
    (
        dataclasses.replace(
            with_facts(swap_bytes=4 << 20, swap_free_bytes=3 << 20),
            activity=dataclasses.replace(IDEAL.activity, major_faults_per_s=12.0),
        ),
        "swap",
        WARN,
        "12 faults a second",
        "swapoff",
    ),
    (
        with_facts(nohz_full_cpus=""),
        "timer frequency",
        WARN,
        "every 1 ms: a test of 1 ms contains one in 100%",
        "nohz",
    ),
    (with_facts(nmi_watchdog=1), "background", WARN, "1 hardware counter", "--tune"),
    (with_facts(numa_balancing=1), "background", WARN, "256 MiB", "--tune"),
    (with_facts(transparent_hugepages="always"), "background", WARN, "512 pages", "--tune"),
    (with_ability(compiler=""), "compiler", BAD, "0 circles", "gcc"),
]


@pytest.mark.parametrize(("seen", "name", "state", "cost", "change"), DISTURBED)
def test_a_disturbance_is_found_alone(
    seen: Observation, name: str, state: str, cost: str, change: str
) -> None:
    others = [found for found in examine(seen) if found.name != name]
    assert {found.state for found in others} == {OK}
    found = finding(name, seen)
    assert found.state == state
    assert cost in found.cost
    assert change in found.change


def test_every_check_has_a_disturbance_that_it_finds() -> None:
    assert {name for _, name, *_ in DISTURBED} == set(CHECKS) - {"mitigations", "counters per turn"}


def test_counters_of_the_processor_are_named_and_their_absence_is_no_fault() -> None:
    assert "`compare --why` has nothing to show" in finding("counters per turn", IDEAL).found
    seen = with_ability(hardware=("cycles", "itlb_misses"))
    assert "proofs count cycles, itlb_misses" in finding("counters per turn", seen).found


def test_mitigations_are_named_and_priced_but_no_fault() -> None:
    found = finding(
        "mitigations",
        with_facts(mitigations={"meltdown": "Mitigation: PTI", "l1tf": "Not affected"}),
    )
    assert (found.state, found.found) == (OK, "1 active: meltdown")
    assert "hundred cycles" in found.cost


@pytest.mark.parametrize(("share", "state"), [(0.0, OK), (0.1, WARN)])
def test_the_fair_server_is_judged_by_its_share(share: float, state: str) -> None:
    seen = dataclasses.replace(with_facts(kernel_release="7.0"), fair_server_share=share)
    assert finding("RT throttling", seen).state == state


def test_tracefs_may_be_mounted_by_the_harness() -> None:
    seen = dataclasses.replace(with_ability(may_mount=True), tracefs=False)
    assert finding("tracefs", seen).state == OK


def one_second_later(root: Path) -> Callable[[float], None]:
    """A sleep in which CPU 3 spends 100 ticks: 20 busy, 10 stolen; its sibling CPU 1 is busy for
    half of them.
    """

    def sleep(seconds: float) -> None:
        assert seconds == 1.0
        plant(
            root,
            {
                "proc/stat": "cpu1 150 0 50 1050 10 5 5 0 0 0\ncpu3 110 0 60 1065 15 5 5 10 0 0\n",
                "proc/interrupts": "  CPU0 CPU1 CPU2 CPU3\n 9: 1 2 3 5 IO-APIC acpi\nLOC: 100 200 "
                "300 "
                "436 timer\nERR: 0\n",
                "proc/vmstat": "pgmajfault 9\n",
            },
        )

    return sleep


@pytest.fixture
def _stopped_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "probe", lambda _: IDEAL.abilities)
    monkeypatch.setattr(observing.time, "sleep", lambda _: None)


@pytest.mark.usefixtures("_stopped_time")
def test_observes_what_happens_within_a_second(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing.time, "sleep", one_second_later(root))
    seen = observe(3, root)
    assert seen.activity == Activity(1.0, 0.2, 0.1, 0.5, 37.0, 2.0)
    assert seen.siblings == [1]
    assert seen.idle_states == [IdleState("POLL", 0), IdleState("C6", 133)]
    assert seen.tracefs


@pytest.mark.usefixtures("_stopped_time")
def test_a_cpu_on_which_no_tick_passed_was_idle(root: Path) -> None:
    assert observe(3, root).activity == Activity(1.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.usefixtures("_stopped_time")
def test_a_disabled_idle_state_is_not_in_use(root: Path) -> None:
    plant(root, {f"{CPU}/cpu3/cpuidle/state1/disable": "1\n"})
    assert observe(3, root).idle_states == [IdleState("POLL", 0)]


@pytest.mark.usefixtures("_stopped_time")
def test_the_fair_server_is_read_from_debugfs(root: Path) -> None:
    folder = "sys/kernel/debug/sched/fair_server/cpu3"
    plant(root, {f"{folder}/runtime": "50000000\n", f"{folder}/period": "1000000000\n"})
    assert observe(3, root).fair_server_share == 0.05


def test_this_process_is_left_as_it_was() -> None:
    policy = observing.os.sched_getscheduler(0)
    abilities = observing.probe(max(observing.os.sched_getaffinity(0)))
    assert observing.os.sched_getscheduler(0) == policy
    assert abilities.clock_read_ns > 0
    assert abilities.page_fault_ns >= 0


def test_an_absent_cpu_and_another_system_are_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="CPU 9 is not online; choose one of 0-3"):
        observe(9, root)
    with pytest.raises(NotComparable, match="not Linux"):
        observe(None, tmp_path)
