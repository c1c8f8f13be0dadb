# SPDX-License-Identifier: BSD-2-Clause
"""Two estimates for a machine that wanders between regimes: `quiet` and `typical`.

`typical` is the midmean of all untagged tests of a run. `quiet` is the same statistic over the core of the run's lowest
sustained regime. A *regime* is a mode of the density of log latency, smoothed over BANDWIDTH and parted from the next
by a valley that chance does not explain; it is *sustained* when it holds at least SHARE of the tests. Its *core* is
the tests no farther from the mode than its fast side reaches: disturbances slow a test down, so the fast side is free
of them. Tests are spread over the whole run, so that a share of the tests is a share of the time.

Where all tests lie in the core, as on an exact clock, the two are one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter1d

from .interval import FloatArray, Interval, samples
from .midmean import midmean, midmean_interval

BANDWIDTH = 0.005
"""Smoothing of the density, as a fraction of the latency: regimes closer than about three of these are one."""
SHARE = 0.02
"""The least part of a run's tests that makes a regime sustained."""
VALLEY = 2.5
"""Standard deviations by which the density must fall from a mode, and rise again, to part two regimes."""
BINS = 4
"""Bins of the histogram in one bandwidth."""


@dataclass(frozen=True)
class Regime:
    """A latency of a turn, its interval within this run, and the tests it rests on."""

    value: float
    interval: Interval
    tests: int
    share: float


@dataclass(frozen=True)
class Regimes:
    """The two estimates of one run. `quiet.share` near 1 says that the machine had one regime."""

    quiet: Regime
    typical: Regime

    @property
    def gap(self) -> float:
        """How far typical lies above quiet, as a fraction of quiet; 0 on an exact clock."""
        return (self.typical.value - self.quiet.value) / self.quiet.value


def estimate(Y: ArrayLike, level: float = 0.95) -> Regimes:
    """The quiet and the typical latency of a turn in one run.

    Args:
        Y: latencies of a turn, A/N, of one circle's untagged tests of one size, in arrival order,
            shape (n,), positive.

    Raises:
        ValueError: no test, or a latency that is not positive.
    """
    arrival = samples(Y, name="Y")
    if arrival.min() <= 0:
        raise ValueError(
            f"Y holds a latency of {arrival.min():g}; an accumulated latency is positive, check the clock."
        )
    low, high = quiet_core(arrival)
    core = arrival[(arrival >= low) & (arrival <= high)]
    typical = _regime(arrival, arrival.size, level)
    return Regimes(typical if core.size == arrival.size else _regime(core, arrival.size, level), typical)


def quiet_core(Y: FloatArray) -> tuple[float, float]:
    """The lowest and the highest latency of the core of the lowest sustained regime."""
    ordered = np.sort(Y)
    width = max(BANDWIDTH, _clock_step(ordered) / ordered[ordered.size // 2])
    bins = _histogram(np.log(ordered / ordered[0]), width / BINS)
    first, mode, _ = _lowest_sustained(bins)
    start, peak = (ordered[0] * math.exp(edge * width / BINS) for edge in (first, mode + 0.5))
    fast_side = ordered[(ordered >= start) & (ordered <= peak)]
    reach = max(2 * width, 3 * math.log(peak / np.median(fast_side)) if fast_side.size else 0.0)
    return peak * math.exp(-reach), peak * math.exp(reach)


def _clock_step(ordered: FloatArray) -> float:
    """The smallest difference between two latencies: a density cannot be resolved below it."""
    gaps = np.diff(ordered)
    gaps = gaps[gaps > 0]
    return float(gaps.min()) if gaps.size else 0.0


def _histogram(x: FloatArray, step: float) -> FloatArray:
    """Counts of x >= 0 in bins of `step`, with room above for the smoothing to fall off."""
    return np.bincount((x / step).astype(np.intp), minlength=int(x[-1] / step) + 4 * BINS).astype(np.float64)


def _lowest_sustained(bins: FloatArray) -> tuple[int, int, int]:
    """First bin, mode and end of the lowest regime that holds its share, or of the fullest where none does."""
    found = _regimes_of(gaussian_filter1d(bins, BINS, mode="constant") * (2 * math.sqrt(math.pi) * BINS))
    held = [float(bins[first:end].sum()) for first, _, end in found]
    wanted = SHARE * bins.sum()
    lowest = next((i for i, tests in enumerate(held) if tests >= wanted), int(np.argmax(held)))
    return found[lowest]


def _regimes_of(density: FloatArray) -> list[tuple[int, int, int]]:
    """Walk up the density and part it at every valley that is significant on both sides.

    A height is scaled so that its variance, under Poisson counts, is the height itself: with a Gaussian kernel K of
    peak 1 the sum of K has the variance of the sum of K^2, which is sum(K) / sqrt(2), hence the factor sqrt(2).
    """
    found, first, mode, valley = [], 0, 0, -1
    heights: list[float] = density.tolist()
    for here, height in enumerate(heights):
        if valley < 0:
            if height > heights[mode]:
                mode = here
            elif _falls(heights[mode], height):
                valley = here
        elif height < heights[valley]:
            valley = here
        elif _falls(height, heights[valley]):
            found.append((first, mode, valley))
            first, mode, valley = valley, here, -1
    return [*found, (first, mode, len(heights))]


def _falls(high: float, low: float) -> bool:
    return high - low > VALLEY * math.sqrt(high + low)


def _regime(arrival: FloatArray, of: int, level: float) -> Regime:
    ordered = np.sort(arrival)
    return Regime(midmean(ordered), midmean_interval(arrival, ordered, level), arrival.size, arrival.size / of)
