# SPDX-License-Identifier: BSD-2-Clause
"""Two estimates for a machine that wanders between regimes: `base` and `overall`.

`overall` is the midmean of all untagged tests of a run. `base` is the same statistic over the core
of the run's lowest sustained regime. A *regime* is a mode of the density of log latency, smoothed
over half a percent and separated from the next by a valley that chance does not explain; it is
*sustained* when it holds at least SHARE of the tests. Its *core* is the tests no farther from the
mode than its fast side reaches: disturbances slow a test down, so the fast side is free of them.
Tests are spread over the whole run, so that a share of the tests is a share of the time.

Where all tests lie in the core the two are one.

An exact clock has no noise to smooth. There `base` is the lowest latency that repeats: what a turn
takes when nothing that the kernel does now and then falls into it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import modes
from .interval import FloatArray, Interval, samples
from .midmean import midmean, midmean_interval

FAR = 4
"""How far a core reaches, in median distances of the regime's fast side from its mode: 2.7 sd of
normal noise.
"""
SHARE = 0.02
"""The least part of a run's tests that makes a regime sustained."""
MET = 3
"""The fewest tests of a run in the common quiet regime by which it has met it."""
SETTLING = 8
"""Steps in which a core moves to the middle of its tests; the last ones move it by less than the
noise.
"""
VALLEY = 2.5
"""Standard deviations by which the density must fall from a mode, and rise again, to part two
regimes.
"""


@dataclass(frozen=True)
class Regime:
    """A latency of a turn in the clock's unit, its interval within this run, and the tests that it
    rests on: how many, and their share of all.
    """

    value: float
    interval: Interval
    tests: int
    share: float


@dataclass(frozen=True)
class Regimes:
    """The two estimates of one run. `base.share` near 1 says that the machine had one regime."""

    base: Regime
    overall: Regime


Core = tuple[float, float]


def estimate(Y: ArrayLike, level: float = 0.95, common: Core | None = None) -> Regimes:
    """The base and the overall latency of a turn in one run.

    Args:
        Y: latencies of a turn, A/N, of one circle's untagged tests of one size, in arrival order,
            shape (n,), positive.
        common: the core of the regime that is quiet over all runs together (`base_core` of all
            their tests). A run that met it with MET tests or more is judged by it: whether a regime
            is sustained is seen better in all tests than in a fifth of them. A run that did not
            meet it has a quiet regime of its own.

    Raises:
        ValueError: no test, or a latency that is not positive.
    """
    arrival = samples(Y, name="Y")
    if arrival.min() <= 0:
        raise ValueError(
            f"Y holds a latency of {arrival.min():g}; an accumulated latency is positive, check "
            "the clock."
        )
    ordered = np.sort(arrival)
    low, high = _core(ordered, common)
    overall = _regime(arrival, ordered, arrival.size, level)
    core = arrival[(arrival >= low) & (arrival <= high)]
    if core.size == arrival.size:
        return Regimes(overall, overall)
    return Regimes(_regime(core, _between(ordered, low, high), arrival.size, level), overall)


def estimate_exact(Y: ArrayLike, level: float = 0.95) -> Regimes:
    """As `estimate`, of latencies by an exact clock: base is the lowest that repeats, overall the
    midmean. The interval of overall reaches from that lowest to the largest. Raises ValueError
    without a test.
    """
    ordered = np.sort(samples(Y, name="Y"))
    low = base_exact(ordered)
    alike = int(np.count_nonzero(ordered == low))
    overall = Regime(midmean(ordered), Interval(low, float(ordered[-1]), level), ordered.size, 1.0)
    if alike == ordered.size:
        return Regimes(overall, overall)
    return Regimes(Regime(low, Interval(low, low, level), alike, alike / ordered.size), overall)


def base_exact(ordered: FloatArray) -> float:
    """The lowest of sorted latencies that occurs more than once; where none does, the lowest.

    `ordered` has shape (n,) with n > 0.
    """
    repeated = ordered[:-1][ordered[:-1] == ordered[1:]]
    return float(repeated[0] if repeated.size else ordered[0])


def base(Y: FloatArray, common: Core | None = None) -> float:
    """The base latency alone, as `estimate` gives it, of positive latencies in any order.

    Args:
        Y: per turn, shape (n,) with n > 0; the base has its unit.
        common: the core of all runs together, if it is known.
    """
    ordered = np.sort(Y)
    return midmean(_between(ordered, *_core(ordered, common)))


def _core(ordered: FloatArray, common: Core | None) -> Core:
    """The core that settles from the common one where the run met it, else the run's own."""
    if common is not None and _between(ordered, *common).size >= MET:
        low, high = common
        return _settled(ordered, math.sqrt(low * high), math.log(high / low) / 2)
    return base_core(ordered)


def base_core(ordered: FloatArray) -> Core:
    """The lowest and the highest latency of the core of the lowest sustained regime of sorted
    positive latencies, shape (n,) with n > 0.
    """
    found = modes.find(ordered, VALLEY)
    regime = next((mode for mode in found if mode.share >= SHARE), None) or max(
        found, key=lambda mode: mode.share
    )
    width = modes.bandwidth(ordered)
    # Half of the tests in the mode's own bin belong to its fast side, wherever in the bin they lie.
    half_bin = math.exp(width / modes.BINS / 2)
    first, bin_first, bin_end = np.searchsorted(
        ordered, [regime.low, regime.position / half_bin, regime.position * half_bin]
    )
    middle_of_fast_side = ordered[(2 * first + bin_first + bin_end) // 4]
    reach = max(2 * width, FAR * math.log(regime.position / middle_of_fast_side))
    return _settled(ordered, regime.position, reach)


def _settled(ordered: FloatArray, centre: float, reach: float) -> Core:
    """The core of this reach, moved until its centre is the midmean of what it holds.

    A mode is found in steps of the histogram and where the noise happens to peak, and the regime of
    all runs is not the centre of one of them: both would pull a run's estimate towards where the
    core was put.
    """
    for _ in range(SETTLING):
        middle = midmean(_between(ordered, centre * math.exp(-reach), centre * math.exp(reach)))
        if middle == centre:
            break
        centre = middle
    return centre * math.exp(-reach), centre * math.exp(reach)


def _between(ordered: FloatArray, low: float, high: float) -> FloatArray:
    """The sorted samples in [low, high]."""
    return ordered[np.searchsorted(ordered, low) : np.searchsorted(ordered, high, side="right")]


def _regime(arrival: FloatArray, ordered: FloatArray, of: int, level: float) -> Regime:
    return Regime(
        midmean(ordered), midmean_interval(arrival, ordered, level), arrival.size, arrival.size / of
    )
