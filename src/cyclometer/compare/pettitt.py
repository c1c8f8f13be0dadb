# SPDX-License-Identifier: BSD-2-Clause
"""Pettitt's test (1979) for where a series changes its level, in time linear in its length.

It asks by ranks whether what stands before a point is larger or smaller than what stands behind it.
E-divisive (`edivisive`) sees changes of any kind and takes the square of the length for each of
hundreds of permutations, which long histories do not allow.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from cyclometer.compare.edivisive import SIGNIFICANCE, Division
from cyclometer.estimate.interval import FloatArray, samples


def divisions(
    series: ArrayLike, shortest: int = 3, significance: float = SIGNIFICANCE
) -> list[Division]:
    """All significant divisions of a series, in order; each stretch is divided again (binary
    segmentation), so a level that comes back may hide a short stretch between.

    Args: as `edivisive.divisions`.
    """
    values = samples(series, 0, "series")
    found, waiting = list[Division](), [(0, values.size)]
    while waiting:
        start, stop = waiting.pop()
        best = _division(values[start:stop], shortest)
        if best is not None and best.p <= significance:
            at = start + best.at
            found.append(Division(at, best.p))
            waiting += [(start, at), (at, stop)]
    return sorted(found, key=lambda division: division.at)


def _division(stretch: FloatArray, shortest: int) -> Division | None:
    """The most probable change in a stretch, p by the paper's equation 3.9 (an upper bound)."""
    n = stretch.size
    if n < 2 * shortest:
        return None
    _, place, counts = np.unique(stretch, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]  # equal values share their mean rank
    # U of the first t points, from the sum of their ranks
    t = np.arange(1, n)
    u = 2 * np.cumsum(ranks)[:-1] - t * (n + 1)
    inside = np.abs(u[shortest - 1 : n - shortest])
    at = int(np.argmax(inside))
    p = min(1.0, 2 * math.exp(-6 * float(inside[at]) ** 2 / (n**3 + n**2)))
    return Division(at + shortest, p)
