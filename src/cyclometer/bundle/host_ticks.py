# SPDX-License-Identifier: BSD-2-Clause
"""Tests into which a timer tick of a virtual machine's host fell.

A hypervisor's tick stops the guest for some microseconds, a thousand times a second or less, and no
counter of the guest shows it. Which tests it hits follows from when they ran, for ticks come at
equal distances. Rate and phase are fitted to the moments of tests that took longer than others of
their visit; set aside is then each test in whose time a tick falls, however long it took.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import tag_bit

FloatArray = NDArray[np.float64]
Flags = NDArray[np.bool_]

PERIODS_S = (1e-3, 4e-3, 10e-3)
"""Ticks of 1000, 250 and 100 Hz."""
LONGEST = 1 / 3
"""Tests longer than this part of a period are left alone: they hold a tick too often."""
STRETCH_S = 60.0
"""Rate and phase are fitted anew for each run and minute: clocks are slewed."""
OFF = 3e-5
"""How far the guest's clock and the host's may run apart, as a fraction."""
BINS = 64
"""Phases that are distinguished in a period."""
LATE = 3.0
"""Robust standard deviations above its visit's median from which a test counts as late."""
FEWEST = 100
"""Late tests of a stretch from which ticks are fitted."""
SURE = 8.0
"""Standard deviations by which late tests must hold a tick more often than all tests do; some
thousand rates and phases are tried."""
STRUCK, SPARED = 0.5, 0.25
"""The least share of late tests among those that hold a tick, and the largest part of that share
among the others."""


@dataclass(frozen=True)
class TimedTests:
    """Some tests of a bundle, arrays of shape (tests,): when each began and how long it took in
    seconds, and whether it was late.
    """

    begin_s: FloatArray
    length_s: FloatArray
    late: Flags

    def part(self, chosen: Flags | NDArray[np.intp]) -> TimedTests:
        """The tests of a mask of shape (tests,), or of these indices."""
        return TimedTests(self.begin_s[chosen], self.length_s[chosen], self.late[chosen])


def host_ticks(
    bits: NDArray[np.int32], timed: Flags, columns: Mapping[str, Any], hz: FloatArray
) -> NDArray[np.int32]:
    """`bits` of all tests of a bundle, with `host tick` on those of `timed` that hold one.

    Args:
        bits, timed: of each test, shape (tests,).
        columns: of the samples, as in `model.Samples`.
        hz: rate of each test's clock, shape (tests,); those of no known rate, 0, are left alone.
    """
    judged = np.flatnonzero(timed & (bits == 0) & (hz > 0) & (columns["at"] >= 0))
    if not judged.size:
        return bits
    row, run, visit, turns, value, at = (
        np.asarray(columns[name])[judged]
        for name in ("row", "run", "visit", "turns", "value", "at")
    )
    places = np.stack([row, run, visit]).astype(np.int64)
    _, visits = np.unique(places, axis=1, return_inverse=True)
    begin_s = at / hz[judged]
    tests = TimedTests(begin_s, value / hz[judged], _late(value / turns, visits.ravel()))
    minutes = np.stack([run, begin_s // STRETCH_S]).astype(np.int64)
    _, stretch = np.unique(minutes, axis=1, return_inverse=True)
    found = bits.copy()
    for number in range(int(stretch.max()) + 1):
        own = np.flatnonzero(stretch.ravel() == number)
        found[judged[own[holding_ticks(tests.part(own))]]] |= tag_bit("host tick")
    return found


def _late(latency: FloatArray, visit: NDArray[np.intp]) -> Flags:
    """Whether each test took clearly longer than the median of its visit."""
    order = np.lexsort((latency, visit))
    first = np.searchsorted(visit[order], np.arange(visit.max() + 2))
    middle = latency[order][(first[:-1] + first[1:] - 1) // 2]
    beyond = latency / middle[visit] - 1
    usual = 1.4826 * float(np.median(np.abs(beyond)))
    late: Flags = beyond > LATE * usual
    return late


def holding_ticks(tests: TimedTests) -> Flags:
    """Tests in whose time a tick falls, shape (tests,); none if no ticks are recognised."""
    if np.count_nonzero(tests.late) < FEWEST:
        return np.zeros(tests.late.size, bool)
    fits = [_fit(tests, period_s) for period_s in PERIODS_S]
    return max(fits, key=lambda fit: fit[0])[1]


def _fit(tests: TimedTests, period_s: float) -> tuple[float, Flags]:
    """How surely ticks of about this period explain which tests are late, 0 if they do not, and
    which tests hold one.
    """
    nothing = 0.0, np.zeros(tests.late.size, bool)
    short = np.flatnonzero(tests.length_s < LONGEST * period_s)
    if not tests.late[short].any():
        return nothing
    some = tests.part(short)
    # steps of rate so fine that the phase moves by a sixteenth of a period over the stretch
    sure, period_s, phase = max(
        _surest(some, period_s * (1 + off))
        for off in np.arange(-OFF, OFF, period_s / 16 / STRETCH_S)
    )
    first, count = _phases(some, period_s)
    hit = (phase - first) % BINS < count
    if sure < SURE or hit.all():
        return nothing
    struck, spared = float(some.late[hit].mean()), float(some.late[~hit].mean())
    if struck < STRUCK or spared > SPARED * struck:
        return nothing
    nothing[1][short] = hit
    return sure, nothing[1]


def _surest(tests: TimedTests, period_s: float) -> tuple[float, float, int]:
    """By how many standard deviations late tests hold the best phase of a period more often than
    all tests do, the period, and the phase.
    """
    share = float(tests.late.mean())
    every = _held(tests, period_s)
    late = _held(tests.part(tests.late), period_s)
    deviation = np.sqrt(np.maximum(every, 1) * share * (1 - share))
    sure = (late - share * every) / np.maximum(deviation, 1e-9)
    phase = int(np.argmax(sure))
    return float(sure[phase]), period_s, phase


def _held(tests: TimedTests, period_s: float) -> FloatArray:
    """How many tests hold each phase, shape (BINS,)."""
    first, count = _phases(tests, period_s)
    ends = [np.bincount(at, minlength=2 * BINS + 1) for at in (first, first + count)]
    # +1 where a test begins and -1 behind its end sum to how many are under way; what reaches into
    # the next period is counted at the beginning of this one
    held = np.cumsum(ends[0] - ends[1]).astype(np.float64)
    return held[:BINS] + held[BINS : 2 * BINS]


def _phases(tests: TimedTests, period_s: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first phase that each test holds, and how many of them, at most BINS."""
    phase = tests.begin_s / period_s % 1.0 * BINS
    first = np.minimum(phase.astype(np.intp), BINS - 1)
    last = (phase + tests.length_s / period_s * BINS).astype(np.intp)
    return first, np.minimum(last - first + 1, BINS)
