# SPDX-License-Identifier: BSD-2-Clause
"""Two estimates for a machine that wanders between regimes: `quiet` and `typical`.

Sort the per-turn latencies of a run's untagged tests. A *band* is a stretch of relative width `band`; a band is
sustained when it holds at least `share` of the tests. The quiet regime is the lowest sustained band, and `quiet` is the
median of the tests inside it. `typical` is the median of all tests. On an exact clock all tests lie in one band, and
the two coincide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .interval import FloatArray, Interval, samples
from .order import quantile_interval


@dataclass(frozen=True)
class Regime:
    """A latency of a turn, its interval within the run, and the tests it rests on."""

    value: float
    interval: Interval
    tests: int
    share: float


@dataclass(frozen=True)
class Regimes:
    quiet: Regime
    typical: Regime

    @property
    def gap(self) -> float:
        """How far typical lies above quiet, as a fraction of quiet; 0 on an exact clock."""
        return (self.typical.value - self.quiet.value) / self.quiet.value


def estimate(
    Y: ArrayLike, level: float = 0.95, band: float = 0.01, share: float = 0.05, resolution: float = 0.0
) -> Regimes:
    """The quiet and the typical latency of a turn in one run.

    Args:
        Y: latencies of a turn, A/N, of one circle's untagged tests of one size, shape (n,), any order.
        band: relative width of a regime.
        share: the fraction of the tests a regime must hold to count as sustained.
        resolution: smallest step of the clock per turn (1/N); a band is never narrower than two of them.
    """
    ordered = np.sort(samples(Y, name="Y"))
    first, end = _lowest_sustained(ordered, band, share, resolution)
    return Regimes(
        quiet=_median(ordered[first:end], ordered.size, level), typical=_median(ordered, ordered.size, level)
    )


def _lowest_sustained(ordered: FloatArray, band: float, share: float, resolution: float) -> tuple[int, int]:
    """The slice [first, end) of the lowest band that holds its share; the fullest band where none does."""
    top = ordered + np.maximum(np.abs(ordered) * band, 2 * resolution)
    end = np.searchsorted(ordered, top, side="right")
    held = end - np.arange(ordered.size)
    wanted = max(1, math.ceil(share * ordered.size))
    first = int(np.argmax(held >= wanted)) if held.max() >= wanted else int(np.argmax(held))
    return first, int(end[first])


def _median(ordered: FloatArray, of: int, level: float) -> Regime:
    return Regime(
        value=float((ordered[(ordered.size - 1) // 2] + ordered[ordered.size // 2]) / 2),
        interval=quantile_interval(ordered, 0.5, level),
        tests=ordered.size,
        share=ordered.size / of,
    )
