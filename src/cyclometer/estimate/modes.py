# SPDX-License-Identifier: BSD-2-Clause
"""Modes of a sample of latencies: the peaks of the density of their logarithm that valleys part
significantly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .interval import FloatArray

BANDWIDTH = 0.005
"""Smoothing of the density, as a fraction of the latency: modes closer than about three of these
are one.
"""
COARSEST = 0.1
"""The coarsest difference of two latencies, as a fraction, that is taken for a clock's step at
once. A coarser one is, if STEPS latencies differ by whole multiples of it.
"""
STEPS = 3
SILVERMAN = 0.9
"""Bandwidth of n samples in units of their standard deviation, times n^(1/5)."""
BINS = 4
"""Bins of the histogram in one bandwidth."""
_REACH = 4 * BINS
_KERNEL = np.exp(-0.5 * (np.arange(-_REACH, _REACH + 1) / BINS) ** 2)  # Gaussian of peak 1


@dataclass(frozen=True)
class Mode:
    """A peak at `position`, the valleys [low, high) on its sides, and the share of the samples
    between them; `smoothing` is the bandwidth of the density that shows it.
    """

    position: float
    low: float
    high: float
    share: float
    smoothing: float


def find(ordered: FloatArray, valley: float, smoothing: float | None = None) -> tuple[Mode, ...]:
    """The modes of sorted positive samples, from the lowest.

    Args:
        ordered: shape (n,) with n > 0, in any unit, which positions have, too.
        valley: standard deviations of the counts by which the density must fall from a mode and
            rise again to part two.
        smoothing: bandwidth as a fraction of the latency; None for `bandwidth`.
    """
    smoothing = smoothing or bandwidth(ordered)
    step = smoothing / BINS
    bins = _histogram(np.log(ordered / ordered[0]), step)
    parts = _parted(np.convolve(bins, _KERNEL)[_REACH:-_REACH] * math.sqrt(2), valley)

    def latency(edge: float) -> float:
        return float(ordered[0]) * math.exp(step * edge)

    return tuple(
        Mode(
            latency(peak + 0.5),
            latency(first),
            latency(end),
            float(bins[first:end].sum()) / ordered.size,
            smoothing,
        )
        for first, peak, end in parts
    )


def bandwidths(ordered: FloatArray) -> list[float]:
    """The bandwidths at which sorted positive samples may show modes, as fractions of the latency:
    `bandwidth`, and its doubles up to the one that suits a single mode as wide as all samples.

    In a narrow window wide modes leave too few samples for a valley to be significant. The widest
    is Silverman's (1986, equation 3.31), which smooths too much where narrower modes lie apart. So
    all between are tried, as in the families of Chaudhuri and Marron (1999): the windows of all the
    doubles are fewer than those of the first, and so are the valleys that chance makes. The spread
    is not his robust one, by which narrow modes would hide a wide one of fewer samples.
    """
    found = [bandwidth(ordered)]
    widest = SILVERMAN * float(np.log(ordered).std()) * ordered.size**-0.2
    while 2 * found[-1] <= widest:
        found.append(2 * found[-1])
    return found


def bandwidth(ordered: FloatArray) -> float:
    """Width of the smoothing, as a fraction of the latency: BANDWIDTH, or the clock's step if that
    is more, for no density is resolved below it.

    `ordered` are sorted latencies, shape (n,), n > 0, in any unit. The step is the smallest
    difference between two latencies. Beyond COARSEST two latencies are two regimes, unless others
    lie on the same grid.
    """
    gaps = np.diff(ordered)
    gaps = gaps[gaps > 0]
    least = float(gaps.min(initial=math.inf))
    step = least / float(ordered[ordered.size // 2])
    return max(BANDWIDTH, step) if step <= COARSEST or _on_grid(gaps, least) else BANDWIDTH


def _on_grid(gaps: FloatArray, step: float) -> bool:
    """Whether the differences of successive latencies are multiples of the least of them."""
    multiples = gaps / step
    return gaps.size >= STEPS - 1 and bool(np.allclose(multiples, np.rint(multiples), rtol=1e-9))


def _histogram(x: FloatArray, step: float) -> FloatArray:
    """Counts of sorted x >= 0 in bins of `step`, with room above for the smoothing to fall off."""
    return np.bincount((x / step).astype(np.intp), minlength=int(x[-1] / step) + 4 * BINS).astype(
        np.float64
    )


def _parted(density: FloatArray, valley: float) -> list[tuple[int, int, int]]:
    """First bin, peak and end of every mode: walk up the density and part it at each significant
    valley.

    A height is scaled so that its variance, under Poisson counts, is the height itself: with a
    Gaussian kernel K of peak 1 the sum of K has the variance of the sum of K^2, which is sum(K) /
    sqrt(2), hence the factor sqrt(2).
    """
    found, first, peak = [], 0, 0
    lowest: int | None = None  # of the valley behind the peak, once it is significantly lower
    heights: list[float] = density.tolist()
    for here in _turning_points(density):
        height = heights[here]
        if lowest is None:
            if height > heights[peak]:
                peak = here
            elif _falls(heights[peak], height, valley):
                lowest = here
        elif height < heights[lowest]:
            lowest = here
        elif _falls(height, heights[lowest], valley):
            found.append((first, peak, lowest))
            first, peak, lowest = lowest, here, None
    return [*found, (first, peak, len(heights))]


def _turning_points(density: FloatArray) -> list[int]:
    """Ends and local extremes: the only places where a walk along the density can learn
    something.
    """
    # the first bin, and each that differs from the last
    moving = np.flatnonzero(np.diff(density, prepend=np.nan))
    slope = np.sign(np.diff(density[moving]))
    turns = moving[1:-1][slope[1:] != slope[:-1]]
    points: list[int] = [int(moving[0]), *turns.tolist(), int(moving[-1])]
    return points


def _falls(high: float, low: float, deviations: float) -> bool:
    return high - low > deviations * math.sqrt(high + low)
