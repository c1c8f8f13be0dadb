# SPDX-License-Identifier: BSD-2-Clause
"""The plan: sizes, tests and the random order of visits."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from cyclometer.bundle.model import Contract
from cyclometer.targets.linux import plan
from cyclometer.targets.linux.plan import Cost


def test_three_sizes_straddle_the_wanted_length_of_a_test() -> None:
    flow = plan.accumulated_flow(Cost(turn_s=1e-6, visit_s=0), tests=7)
    assert (flow.initial, flow.delta, flow.groups, flow.tests) == (38, 112, 3, 7)


def test_the_loops_of_a_short_circle_run_whole_rounds() -> None:
    flow = plan.accumulated_flow(Cost(turn_s=1e-8, visit_s=0), tests=1)
    assert (flow.initial, flow.delta) == (15 * 256, 44 * 256)


def test_a_turn_longer_than_a_test_still_gets_three_sizes() -> None:
    flow = plan.accumulated_flow(Cost(turn_s=1.0, visit_s=0), tests=1)
    assert [flow.initial + g * flow.delta for g in range(flow.groups)] == [1, 2, 3]


def test_a_turn_too_short_to_see_is_bounded() -> None:
    assert plan.accumulated_flow(Cost(turn_s=1e-15, visit_s=0), tests=1).initial <= 1 << 22


@pytest.mark.parametrize("share_s", [-1.0, 0.0, 0.2, 0.6, 100.0])
def test_tests_fill_the_share_within_their_bounds(share_s: float) -> None:
    cost = Cost(turn_s=1e-6, visit_s=0.002)
    flow = plan.accumulated_flow(cost, 1)
    tests = plan.tests_within(flow, cost, share_s, runs=5, rounds=3)
    assert 3 <= tests <= 1000
    if 3 < tests < 1000:
        visit_s = share_s / 15
        assert cost.visit_s + tests * plan.test_s(flow, cost) <= visit_s
        assert cost.visit_s + (tests + 1) * plan.test_s(flow, cost) > visit_s


def test_rounds_are_as_many_as_fit_and_are_wanted() -> None:
    cost = Cost(turn_s=1e-6, visit_s=0.002)
    flow = plan.accumulated_flow(cost, 1)
    assert plan.least_s(flow, cost) == 0.002 + 3 * plan.test_s(flow, cost)
    fits = [plan.rounds_within(left_s, 10.0, 7) for left_s in (-5.0, 29.0, 39.0, 40.0, 500.0)]
    assert fits == [3, 3, 3, 4, 7]
    assert plan.rounds_within(9.0, 10.0, 1) == 1
    assert plan.rounds_within(1.0, 0.0, 7) == 7  # no circles


def test_the_order_is_random_complete_and_repeatable() -> None:
    keys = [f"a.{i}" for i in range(10)]
    order = plan.shuffled(keys, runs=3, rounds=2, rng=random.Random(1))
    assert order == plan.shuffled(keys, runs=3, rounds=2, rng=random.Random(1))
    assert order != plan.shuffled(keys, runs=3, rounds=2, rng=random.Random(2))
    assert Counter(order) == Counter((n, r, k) for n in range(2) for r in (1, 2, 3) for k in keys)


def test_circles_and_runs_are_interleaved_not_in_blocks() -> None:
    order = plan.shuffled([f"a.{i}" for i in range(20)], runs=5, rounds=1, rng=random.Random(3))
    runs = [run for _, run, _ in order]
    same = sum(a == b for a, b in itertools.pairwise(runs))
    assert same < len(runs) / 2


def test_a_measurement_that_fell_behind_takes_fewer_tests_and_one_ahead_no_more() -> None:
    assert plan.pace(left_s=10, visits=100, visit_s=0.1) == 1
    assert plan.pace(left_s=5, visits=100, visit_s=0.1) == 0.5
    assert plan.pace(left_s=20, visits=100, visit_s=0.1) == 1
    assert plan.pace(left_s=-1, visits=100, visit_s=0.1) == 0
    flow = plan.accumulated_flow(Cost(turn_s=1e-6, visit_s=0), tests=40)
    assert plan.paced(flow, 0.5).tests == 20
    assert plan.paced(flow, 0).tests == 3
    assert plan.paced(plan.single_flow(1), 0).tests == 1


def test_circles_that_were_mostly_disturbed_are_visited_again() -> None:
    order = plan.again({"a": 10, "b": 5, "c": 4, "d": 0}, 10, random.Random(1))
    assert Counter(order) == {"c": 6, "d": 10}
    assert order != sorted(order)
    assert plan.again({"a": 5}, 10, random.Random(1)) == []


def test_circles_of_two_cpus_are_measured_where_they_are_asked_for() -> None:
    here = Contract(key="pipe.round_trip")
    there = Contract(key="pipe.round_trip.other_cpu", params={"placement": "other_cpu"})

    def chosen(only: str, two_cpus: bool) -> list[str]:
        return [c.key for c in plan.choose([here, there], [only], two_cpus)]

    assert chosen("*", False) == chosen("pipe.*", False) == [here.key]
    assert chosen("*", True) == [here.key, there.key]
    assert chosen("*.other_cpu", False) == [there.key]
