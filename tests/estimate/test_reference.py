# SPDX-License-Identifier: BSD-2-Clause
"""The speed of the core: from what each test reads beside it, else from the floor circles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from msgspec.structs import replace

from cyclometer.bundle.model import Clock, tag_bit
from cyclometer.estimate import timeline
from cyclometer.estimate.reference import Reference, reference, shift
from tests.estimate.visited import Visits


def of(made: Visits) -> Reference | None:
    bundle = made.bundle()
    seconds = timeline.seconds(bundle)
    assert seconds is not None
    return reference(bundle, seconds)


def test_core_cycles_beside_each_test() -> None:
    """A visit's x is the median over its tests of the clock units in a cycle."""
    made = Visits()
    a = made.row("a")
    made.add(a, 1, 0, [200, 300, 800], core_cycles=[100, 100, 200], core_ticks=[200, 300, 800])
    made.add(a, 1, 2000, [100], core_cycles=[200], core_ticks=[100])
    found = of(made)
    assert found is not None
    assert found.zero is None
    x = found.at(np.arange(4), np.array([0, 0, 0, 1]), np.array([0.0, 2.0]))
    assert x == pytest.approx([math.log(3), math.log(0.5)])


def test_a_chain_before_and_after_each_test() -> None:
    made = Visits(environment={"chain_cycles": 50})
    a = made.row("a")
    made.add(a, 1, 0, [200, 300], chain_before=[90, 100], chain_after=[110, 140])
    found = of(made)
    assert found is not None
    assert found.tests == pytest.approx([math.log(2), math.log(2.4)])


def test_core_cycles_go_before_a_chain() -> None:
    made = Visits(environment={"chain_cycles": 50})
    a = made.row("a")
    both = {"core_cycles": [100], "core_ticks": [500], "chain_before": [90], "chain_after": [110]}
    made.add(a, 1, 0, [500], **both).add(a, 1, 900, [500], **both)
    found = of(made)
    assert found is not None
    assert found.tests == pytest.approx([math.log(5)] * 2)


@pytest.mark.parametrize("cycles", [None, 0, -3, "many"])
def test_a_chain_of_unknown_length_says_nothing(cycles: object) -> None:
    made = Visits(environment={"chain_cycles": cycles})
    a = made.row("a")
    made.add(a, 1, 0, [200], chain_before=[90], chain_after=[110])
    assert of(made) is None


def test_readings_count_only_if_every_timed_test_has_them() -> None:
    """Proofs, passes and tests that are set aside need none; one test that counts does."""
    made = Visits()
    a, proof, passes = made.row("a"), made.row("a", "proof"), made.row("a", "passes")
    one = {"core_cycles": [100], "core_ticks": [200]}
    made.add(a, 1, 0, [200], **one).add(proof, 1, 300, [5]).add(passes, 1, 400, [5])
    made.add(a, 1, 500, [200], tags=tag_bit("interrupt"))
    assert of(made) is not None
    made.add(made.row("b", "direct"), 1, 900, [200])
    assert of(made) is None


def test_a_counter_that_stood_still_is_no_reading() -> None:
    made = Visits()
    a = made.row("a")
    made.add(a, 1, 0, [200], core_cycles=[0], core_ticks=[200])
    made.add(a, 1, 400, [200], core_cycles=[100], core_ticks=[200])
    assert of(made) is None


def test_a_clock_of_core_cycles_needs_no_reference() -> None:
    cycles = Clock("cycle", "cycles", 1000.0)
    made = Visits()
    a = made.row("a", clock=cycles)
    made.add(a, 1, 0, [200]).add(a, 1, 300, [200])
    found = of(made)
    assert found is not None
    assert found.tests is not None
    assert found.tests.tolist() == [0, 0]
    made.add(made.row("b"), 1, 900, [200])
    assert of(made) is None


def floors() -> Visits:
    """Two floor circles, and one that is none; medians of visits in ticks per turn."""
    made = Visits()
    empty, alu, other = made.row("floor.empty"), made.row("floor.alu"), made.row("pipe")
    made.add(empty, 1, 0, [10, 12, 90], 2).add(alu, 1, 200, [800], 4).add(other, 1, 1100, [7])
    made.add(empty, 1, 1200, [8], 2).add(alu, 1, 1300, [400], 4)
    return made.add(empty, 1, 1800, [12], 2)


def test_floor_circles_say_how_far_they_lie_from_their_medians() -> None:
    found = of(floors())
    assert found is not None
    # visits of floor.empty took 6, 4 and 6 a turn, those of floor.alu 200 and 100
    middle = (math.log(200) + math.log(100)) / 2
    assert found.zero == pytest.approx({"floor.empty": math.log(6), "floor.alu": middle})
    order = np.argsort(found.seconds)
    assert found.seconds[order] == pytest.approx([0.010667, 0.2, 1.2, 1.3, 1.8], abs=1e-6)
    half = math.log(2) / 2
    assert found.floors[order] == pytest.approx([0, half, math.log(4 / 6), -half, 0])


def test_x_is_the_mean_of_floor_visits_weighted_by_nearness() -> None:
    found = Reference(None, np.array([1.0, 1.3, 5.0]), np.array([0.0, 0.3, -0.2]), {})
    visits = np.zeros(2, np.intp), np.zeros(2, np.intp)
    weight = math.exp(-0.5)  # 0.3 s is one standard deviation
    at = found.at(*visits, np.array([1.0, 1.3]))
    assert at == pytest.approx([0.3 * weight / (1 + weight), 0.3 / (1 + weight)], abs=1e-9)
    far = found.at(*visits, np.array([100.0, 2.0]))
    assert far == pytest.approx([-0.2, 0.3], abs=0.03)


def test_many_visits_are_weighed_as_one_by_one() -> None:
    rng = np.random.default_rng(1)
    found = Reference(None, rng.uniform(0, 40, 200), rng.normal(0, 0.03, 200), {})
    seconds = rng.uniform(0, 40, 1500)
    none = np.zeros(0, np.intp)
    alone = [found.at(none, none, np.array([moment]))[0] for moment in seconds]
    assert found.at(none, none, seconds) == pytest.approx(alone)


def test_tests_that_count_not_are_no_floor() -> None:
    made = floors()
    made.add(0, 1, 2000, [900], 2, tags=tag_bit("preempted")).add(0, 1, 3000, [0], 2)
    found, before = of(made), of(floors())
    assert found is not None
    assert before is not None
    assert found.zero == before.zero
    assert found.seconds.tolist() == before.seconds.tolist()
    none = Visits()
    none.add(none.row("floor.alu", "passes"), 1, 0, [5]).add(none.row("pipe"), 1, 9, [5])
    assert of(none) is None


def test_the_zero_of_two_bundles_differs_by_the_median_of_their_floors() -> None:
    one = Reference(zero={"floor.a": 1.0, "floor.b": 2.0, "floor.c": 3.0, "floor.d": 9.0})
    other = Reference(zero={"floor.a": 1.1, "floor.b": 2.2, "floor.c": 3.9, "floor.e": 0.0})
    assert shift(one, other) == pytest.approx(0.2)
    assert shift(other, one) == pytest.approx(-0.2)


def test_zeros_of_different_kinds_are_not_aligned() -> None:
    absolute, by_floors = Reference(np.zeros(1)), Reference(zero={"floor.a": 1.0})
    assert shift(absolute, Reference(np.ones(1))) == 0
    assert shift(absolute, by_floors) is None
    assert shift(by_floors, absolute) is None
    assert shift(by_floors, Reference(zero={"floor.b": 1.0})) is None
    assert shift(None, by_floors) is None
    assert shift(by_floors, None) is None


def test_floor_visits_without_a_time_are_passed_over() -> None:
    made = floors()
    made.add(0, 7, 0, [500], 2)
    del made.order[-1]
    bundle = made.bundle()
    bundle = type(bundle)(replace(bundle.identity), bundle.samples)
    seconds = timeline.seconds(bundle)
    assert seconds is not None
    assert np.isnan(seconds[-1])
    found, before = reference(bundle, seconds), of(floors())
    assert found is not None
    assert before is not None
    assert found.zero == before.zero
