# SPDX-License-Identifier: BSD-2-Clause
"""What the core did in a session, and latencies that do not follow it."""

from __future__ import annotations

import math

import pytest

from cyclometer.bundle.core_cycles import in_core_cycles
from cyclometer.estimate import frequency
from cyclometer.estimate.rows import estimates
from cyclometer.report.table import frequency_line
from tests.estimate.visited import Visits


def session(speeds: list[float]) -> Visits:
    """A visit at each speed, in cycles a tick, of a circle whose turn takes 400 cycles."""
    made = Visits()
    a = made.row("a")
    for number, cycles in enumerate(speeds):
        ticks = [round(4_000_000 / cycles), round(8_000_000 / cycles)]
        readings = {"core_cycles": [4_000_000, 8_000_000], "core_ticks": ticks}
        made.add(a, 1, 20_000_000 * number, ticks, turns=[10_000, 20_000], **readings)
    return made


def test_latency_is_in_cycles_whatever_the_core_did() -> None:
    (steady,) = estimates(in_core_cycles(session([1.0] * 30).bundle()))
    (moving,) = estimates(in_core_cycles(session([0.8, 1.0, 1.25] * 10).bundle()))
    for one in (steady, moving):
        assert one.latency is not None
        assert one.clock.unit == "cycles"
        assert one.latency.value == pytest.approx(400)
        assert one.latency.interval.half_width < 0.01
    assert moving.ns == pytest.approx(4e8)  # at the mean speed of a core that makes 1000 a second


def test_the_frequency_that_was_seen() -> None:
    speeds = [math.exp(step / 100) for step in range(-20, 21)]
    core = frequency.seen(in_core_cycles(session(speeds).bundle()))
    assert core is not None
    assert core.mean_hz == pytest.approx(1000)
    assert core.low_hz == pytest.approx(1000 * math.exp(-0.18), rel=1e-3)
    assert core.high_hz == pytest.approx(1000 * math.exp(0.18), rel=1e-3)
    said = frequency_line(frequency.Frequency(3.456e9, 3.2e9, 3.61e9))
    assert "3.46 GHz" in said
    assert "3.20 to 3.61" in said


def test_a_clock_that_is_not_the_cores_says_nothing() -> None:
    assert frequency.seen(session([1.0, 2.0]).bundle()) is None
    assert frequency.seen(Visits().bundle()) is None
