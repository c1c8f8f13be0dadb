# SPDX-License-Identifier: BSD-2-Clause
"""Tests are tagged by cause, and invalid means that nothing else explains a broken contract."""

from __future__ import annotations

import numpy as np
import pytest

from cyclometer.bundle import tags
from cyclometer.bundle.model import MISSING, TAGS, Contract


def tag(expect: dict[str, int], turns: int = 10, **counters: int) -> set[str]:
    contract = Contract(key="a.b", expect=expect)
    arrays = {name: np.array([value]) for name, value in counters.items()}
    (bits,) = tags.tags(contract, np.array([turns]), arrays)
    return {name for i, name in enumerate(TAGS) if bits >> i & 1}


def test_an_exact_test_carries_no_tag() -> None:
    assert (
        tag({"switches": 2}, switches=20, cpu_switches=20, interrupts=0, steal_ns=0, migrations=0)
        == set()
    )


@pytest.mark.parametrize("switches", [19, 21, 0, 40])
def test_a_wrong_count_without_a_disturbance_is_invalid(switches: int) -> None:
    assert tag({"switches": 2}, switches=switches, cpu_switches=switches) == {"invalid"}


@pytest.mark.parametrize(("switches", "cpu_switches"), [(21, 22), (21, 20), (20, 22)])
def test_an_outsider_on_the_cpu_explains_a_wrong_count(switches: int, cpu_switches: int) -> None:
    assert tag({"switches": 2}, switches=switches, cpu_switches=cpu_switches) == {"preempted"}


@pytest.mark.parametrize(
    ("counter", "cause"),
    [("interrupts", "interrupt"), ("steal_ns", "steal"), ("migrations", "migrated")],
)
@pytest.mark.parametrize("times", [1, 2, 8])
def test_each_disturbance_has_its_own_tag(counter: str, cause: str, times: int) -> None:
    assert tag({"switches": 0}, **{"switches": 0, counter: times}) == {cause}


TWO_CPUS = {"switches": 20, "cpu_switches": 20, "other_cpu_switches": 20}


def test_what_two_cpus_send_each_other_is_no_disturbance() -> None:
    sent = {"interrupts": 10, "ipis": 10, "other_interrupts": 13, "other_ipis": 13}
    assert tag({"faults": 0}, faults=0, **TWO_CPUS, **sent) == set()
    assert tag({"faults": 0}, faults=0, **TWO_CPUS, **sent | {"interrupts": 11}) == {"interrupt"}
    other = sent | {"other_interrupts": 14}
    assert tag({"faults": 0}, faults=0, **TWO_CPUS, **other) == {"interrupt"}


def test_what_is_sent_is_none_of_the_interrupts_that_a_contract_counts() -> None:
    expect = {"interrupts": 1}
    assert tag(expect, **TWO_CPUS, interrupts=13, ipis=3) == set()
    assert tag(expect, **TWO_CPUS, interrupts=14, ipis=3) == {"interrupt"}
    assert tag(expect, **TWO_CPUS, interrupts=12, ipis=3) == {"invalid"}


@pytest.mark.parametrize("cpu", ["cpu_switches", "other_cpu_switches"])
def test_a_stranger_on_either_cpu_is_one(cpu: str) -> None:
    assert tag({"faults": 0}, faults=0, **TWO_CPUS) == set()
    assert tag({"faults": 0}, faults=0, **TWO_CPUS | {cpu: 22}) == {"preempted"}


def test_a_stranger_in_the_place_of_a_participant_that_did_not_block_is_one() -> None:
    expect, one_more = {"involuntary": 0}, {"switches": 21, "cpu_switches": 22}
    assert tag(expect, involuntary=0, **TWO_CPUS | one_more) == set()
    assert tag(expect, involuntary=1, **TWO_CPUS | one_more) == {"preempted"}


def test_a_thread_that_preempts_another_participant_leaves_no_cpu_idle() -> None:
    expect = {"switches": 2, "cpu_switches": 0, "other_cpu_switches": 2}
    counts = {"switches": 20, "cpu_switches": 0, "other_cpu_switches": 20}
    assert tag(expect, **counts) == set()
    assert tag(expect, **counts | {"switches": 21, "other_cpu_switches": 21}) == {"invalid"}
    assert tag(expect, **counts | {"cpu_switches": 2}) == {"preempted"}


def test_time_stolen_from_the_other_cpu_and_a_wait_in_vain_set_a_test_aside() -> None:
    assert tag({}, **TWO_CPUS, other_steal_ns=1) == {"steal"}
    assert tag({}, **TWO_CPUS, rests=1) == {"preempted"}


def test_a_bundle_with_circles_of_two_cpus_judges_those_of_one_as_before() -> None:
    absent = dict.fromkeys(("other_cpu_switches", "ipis", "other_ipis"), MISSING)
    one = {"switches": 20, "cpu_switches": 20, "interrupts": 0}
    assert tag({"switches": 2}, **one, **absent) == set()
    assert tag({"switches": 2}, **one | {"cpu_switches": 21}, **absent) == {"preempted"}
    assert tag({"switches": 2}, **one | {"interrupts": 1}, **absent) == {"interrupt"}


def test_a_counter_that_was_not_read_proves_nothing_and_breaks_nothing() -> None:
    assert tag({"entries": 4, "switches": 2}, switches=20, entries=MISSING) == set()
    assert tag({"entries": 4}) == set()


def test_an_expected_interrupt_is_no_disturbance_and_a_further_one_is() -> None:
    assert tag({"interrupts": 1}, interrupts=10) == set()
    assert tag({"interrupts": 1}, interrupts=11) == {"interrupt"}


def test_a_turn_that_idles_may_switch_to_the_idle_thread() -> None:
    expect = {"switches": 1, "cpu_switches": 2}
    assert tag(expect, switches=10, cpu_switches=20) == set()
    assert tag(expect, switches=10, cpu_switches=21) == {"preempted"}


def test_where_the_cpu_cannot_be_watched_an_unexpected_involuntary_switch_is_the_sign() -> None:
    assert tag({"entries": 1}, involuntary=1) == {"preempted"}
    assert tag({"switches": 2, "involuntary": 1}, switches=20, involuntary=10) == set()


def test_no_test_is_tagged_for_its_value() -> None:
    import inspect

    assert "value" not in inspect.signature(tags.tags).parameters


@pytest.mark.parametrize(
    ("khz", "tags_"),
    [(0, set()), (10_000, set()), (400_000, {"frequency"}), (-400_000, {"frequency"})],
)
def test_a_step_of_the_governor_is_a_disturbance(khz: int, tags_: set[str]) -> None:
    assert tag({"switches": 0}, switches=0, khz=khz) == tags_


def test_only_a_preemption_as_long_as_the_kernels_pause_is_called_throttled() -> None:
    preempted, quiet = 1 << TAGS.index("preempted"), 0
    bits = tags.throttled(
        np.array([preempted, preempted, quiet], np.int32), np.array([49e6, 1e6, 60e6]), gap=50e6
    )
    assert bits.tolist() == [preempted | 1 << TAGS.index("throttled"), preempted, quiet]


@pytest.mark.parametrize(
    ("before", "after", "unsteady"),
    [(50_000, 50_500, False), (50_000, 50_501, True), (70_000, 50_000, True), (20, 22, False)],
)
def test_a_chain_that_lasted_longer_at_one_end_tags_the_test(
    before: int, after: int, unsteady: bool
) -> None:
    found = tag({}, chain_before=before, chain_after=after)
    assert found == ({"unsteady clock"} if unsteady else set())


def test_an_unsteady_clock_excuses_no_broken_contract() -> None:
    found = tag({"switches": 2}, switches=1, cpu_switches=1, chain_before=1000, chain_after=2000)
    assert found == {"unsteady clock", "invalid"}


def test_a_chain_that_was_not_read_is_not_unsteady() -> None:
    assert tag({}, chain_before=MISSING, chain_after=MISSING) == set()
