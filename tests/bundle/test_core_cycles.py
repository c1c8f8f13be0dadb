# SPDX-License-Identifier: BSD-2-Clause
"""A bundle with readings beside each test is read in core cycles, and any other one as it is."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cyclometer.bundle import store
from cyclometer.bundle.core_cycles import NAME, in_core_cycles
from cyclometer.bundle.model import Bundle, Clock, tag_bit
from cyclometer.estimate import timeline
from tests.estimate.visited import Visits

HALF_SPEED = {"core_cycles": [50, 50], "core_ticks": [100, 100]}
DOUBLE_SPEED = {"core_cycles": [200, 200], "core_ticks": [100, 100]}


def two_visits() -> Visits:
    made = Visits()
    a = made.row("a")
    made.add(a, 1, 0, [1000, 3000], **HALF_SPEED)
    return made.add(a, 1, 4000, [1000, 3000], **DOUBLE_SPEED)


def test_a_value_becomes_the_cycles_of_its_own_test() -> None:
    seen = in_core_cycles(two_visits().bundle())
    assert seen.samples.value == pytest.approx([500, 1500, 2000, 6000])
    clock = seen.identity.rows[0].clock
    assert (clock.name, clock.unit) == (NAME, "cycles")
    assert clock.hz == pytest.approx(1000)  # the geometric mean of 500 and 2000


def test_a_chain_of_known_length_serves_as_well() -> None:
    made = Visits(environment={"chain_cycles": 300})
    a = made.row("a")
    made.add(a, 1, 0, [1000], chain_before=[90], chain_after=[110])
    seen = in_core_cycles(made.bundle())
    assert seen.samples.value == pytest.approx([3000])
    assert seen.identity.rows[0].clock.hz == pytest.approx(3000)


def test_times_stay_as_many_seconds() -> None:
    made = two_visits()
    made.add(0, 2, 500, [1000, 3000], **HALF_SPEED)
    before = made.bundle(ordered=False, origins={"1": 10_000, "2": 30_000})
    seen = timeline.seconds(in_core_cycles(before))
    assert seen is not None
    np.testing.assert_allclose(seen, timeline.seconds(before), atol=2e-3)  # whole cycles


def test_an_empty_reading_stays_so_many_steps_of_the_clock() -> None:
    made = two_visits()
    made.add(0, 1, 9000, [40, 42], core_cycles=[7, 99], core_ticks=[50, 50])
    bundle = made.bundle()
    kind = np.array([0, 0, 0, 0, 1, 1], np.int8)
    seen = in_core_cycles(replace(bundle, samples=replace(bundle.samples, kind=kind)))
    assert seen.samples.value[4:] == pytest.approx([40, 42])


@pytest.mark.parametrize(
    "clock",
    [
        Clock("icount", "instructions", 1e9, exact=True),
        Clock("perf.cycles", "cycles"),
        Clock("cycle", "ticks", 1e9, exact=True),
    ],
)
def test_other_clocks_are_left_alone(clock: Clock) -> None:
    made = Visits()
    made.add(made.row("a", clock=clock), 1, 0, [1000, 3000], **HALF_SPEED)
    bundle = made.bundle()
    assert in_core_cycles(bundle) is bundle


def test_a_bundle_without_readings_for_every_test_that_counts_is_left_alone() -> None:
    made = two_visits().add(0, 1, 9000, [500])
    assert in_core_cycles(bundle := made.bundle()) is bundle
    made = two_visits().add(0, 1, 9000, [500], tags=tag_bit("interrupt"))
    assert in_core_cycles(made.bundle()).identity.rows[0].clock.name == NAME


@pytest.mark.parametrize("cycles", [0, -5, 1, 1 << 62])
def test_readings_that_cannot_be_convert_nothing(cycles: int) -> None:
    made = two_visits().add(0, 1, 9000, [500], core_cycles=[cycles], core_ticks=[10_000_000])
    assert in_core_cycles(bundle := made.bundle()) is bundle


def test_a_store_keeps_what_the_clock_said_and_hands_out_core_cycles(tmp_path: Path) -> None:
    made: Bundle = two_visits().bundle()
    stored = store.write(made, tmp_path / "b", {})
    again = store.read(tmp_path / "b")
    assert (tmp_path / "b" / "bundle.json").read_bytes().count(b'"tsc"') == 1
    for seen in (stored, again):
        assert seen.samples.value == pytest.approx([500, 1500, 2000, 6000])
    assert stored.digest == again.digest


@pytest.mark.parametrize("origins", [5, {"1": "x"}, {"1": None}, [1]])
def test_origins_that_are_none_are_kept_for_those_who_refuse_them(origins: object) -> None:
    bundle = two_visits().bundle(origins=origins)
    assert in_core_cycles(bundle).identity.plan["origins"] == origins
    assert math.isfinite(in_core_cycles(bundle).samples.value.sum())
