# SPDX-License-Identifier: BSD-2-Clause
"""How far sessions differ although nothing changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from cyclometer.bundle.model import Contract
from cyclometer.compare import component
from cyclometer.compare.ancova import AlignedDifference
from cyclometer.estimate.session import Occasion, Session
from tests.estimate.test_session import made

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def at(minutes: float | None, boot: str = "") -> Session:
    began = None if minutes is None else NOON + timedelta(minutes=minutes)
    return replace(made([1.0, 2.0]), occasion=Occasion((), boot, began))


@pytest.mark.parametrize(
    ("one", "other", "gap"),
    [
        ((0, ""), (59.9, ""), "hour"),
        ((59.9, ""), (0, ""), "hour"),
        ((0, ""), (60, ""), "machine"),
        ((0, "a"), (5, "a"), "hour"),
        ((0, "a"), (5, "b"), "machine"),
        ((0, "a"), (5, ""), "machine"),
        ((None, "a"), (5, "a"), "machine"),
        ((0, "a"), (None, "a"), "machine"),
    ],
)
def test_sessions_lie_within_an_hour_or_apart(
    one: tuple[float | None, str], other: tuple[float | None, str], gap: str
) -> None:
    assert component.gap(at(*one).occasion, at(*other).occasion) == gap


def test_what_is_assumed_grows_with_the_gap_and_falls_with_the_sessions() -> None:
    near = component.assumed("pipe", [at(0)], [at(5)])
    assert (near.variance, near.df) == (pytest.approx(2 * 0.003**2), 4)
    assert near.source == "are assumed to differ by 0.3 %"
    far = component.assumed("pipe", [at(0)], [at(5), at(500)])
    assert (far.variance, far.df) == (pytest.approx(1.5 * 0.005**2), 4)
    assert far.source == "are assumed to differ by 0.5 %"


@pytest.mark.parametrize(
    "key",
    ["timer.timerfd", "process.fork_wait", "memory.map_unmap.pages_1", "pipe.round_trip.other_cpu"],
)
def test_more_is_assumed_of_restless_circles(key: str) -> None:
    found = component.assumed(key, [at(0)], [at(5)])
    assert found.variance == pytest.approx(2 * (7 * 0.003) ** 2)


def moved(value: float, own: float = 0.0, by_floors: bool = False) -> AlignedDifference:
    return AlignedDifference((0.0,), (value,), ((own, 11.0),), 1.0, 0.0, by_floors)


USER = {"entries": 0, "switches": 0, "faults": 0}


@pytest.mark.parametrize(
    ("key", "expect", "by_floors", "control"),
    [
        ("coroutine.switch", USER, True, True),
        ("coroutine.switch", {"entries": 0, "switches": 0}, False, True),
        ("coroutine.switch", {"switches": 0}, False, False),
        ("coroutine.switch", {"entries": 0}, False, False),
        ("syscall.null", USER | {"entries": 1}, False, False),
        ("thread.yield", USER | {"switches": 1}, False, False),
        ("fault.minor", USER | {"faults": 1}, False, False),
        ("floor.alu", USER, True, False),
        ("floor.alu", USER, False, True),
        ("floor.cache", USER, False, False),
        ("floor.code", USER, False, False),
        ("memory.copy.bytes_4096", USER, False, True),
        ("memory.copy.bytes_65536", USER, False, False),
        ("memory.copy.bytes_8388608", USER, False, False),
        # the kernel's thread on the other CPU does the work
        ("io_uring.nop.sqpoll.spinning.other_cpu", USER, False, False),
    ],
)
def test_controls_are_what_the_kernel_cannot_move(
    key: str, expect: dict[str, int], by_floors: bool, control: bool
) -> None:
    assert component.is_control(Contract(key, expect=expect), moved(0, 0, by_floors)) is control


def test_controls_tell_what_their_visits_do_not_explain() -> None:
    controls = [moved(value, 0.5) for value in (1.0, -1.0, 2.0, -1.0)]
    found = component.of_controls(controls)
    assert found is not None
    # squares 1, 1, 4, 1: at most their 90 % quantile, 1 + 0.7 * 3
    assert np.quantile([1, 1, 4, 1], 0.9) == pytest.approx(3.1)
    assert (found.variance, found.df) == (pytest.approx((1 + 1 + 3.1 + 1) / 4 - 0.5), 2)
    assert found.source == "differ as far as circles of user code do"


def test_controls_that_are_explained_add_nothing_and_few_say_nothing() -> None:
    still = component.of_controls([moved(0.1, 0.5)] * 6)
    assert still is not None
    assert (still.variance, still.df) == (0, 3)
    assert component.of_controls([moved(1.0)] * 3) is None
