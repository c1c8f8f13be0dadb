# SPDX-License-Identifier: BSD-2-Clause
"""E-divisive: where a series changes its distribution, without assuming which one (Matteson & James
2014).

The energy distance of two adjacent stretches is positive exactly where their distributions differ.
The best division of all stretches so far is kept while a permutation within the stretches seldom
gives one as good.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cyclometer.estimate.interval import FloatArray, samples

PERMUTATIONS = 499
SIGNIFICANCE = 0.01


@dataclass(frozen=True)
class Division:
    """A change between points `at` - 1 and `at`, found as improbable as `p` under no change."""

    at: int
    p: float


def divisions(
    series: ArrayLike, shortest: int = 3, significance: float = SIGNIFICANCE
) -> list[Division]:
    """All significant divisions of a series, in order.

    Args:
        series: one value a point in order of time, shape (n,), in any unit.
        shortest: points that a stretch has at least, two or more; a lone spike is not a change.
        significance: the largest p of a division.

    Raises:
        ValueError: a value is not finite.
    """
    values = samples(series, 0, "series")
    rng = np.random.default_rng(1)  # the same history always gives the same answer
    bounds, found = [0, values.size], list[Division]()
    while True:
        stretches = [values[a:b] for a, b in pairwise(bounds)]
        best = [_best(stretch, shortest) for stretch in stretches]
        statistic = max(value for value, _ in best)
        if statistic <= 0:
            return sorted(found, key=lambda division: division.at)
        p = _permuted_p(stretches, statistic, shortest, significance, rng)
        if p > significance:
            return sorted(found, key=lambda division: division.at)
        which = next(i for i, (value, _) in enumerate(best) if value == statistic)
        at = bounds[which] + best[which][1]
        found.append(Division(at, p))
        bounds = sorted([*bounds, at])


def _best(stretch: FloatArray, shortest: int) -> tuple[float, int]:
    """The largest scaled energy distance over all divisions, and where; (0, 0) where the stretch is
    too short.

    Equation 5 of the paper with alpha = 1: the left part is [0, t), the right one [t, k), and both
    t and k are sought.
    """
    n = stretch.size
    if n < 2 * shortest:
        return 0.0, 0
    t, k = _places(n, shortest)
    left, right = t.astype(np.float64), (k - t).astype(np.float64)
    # sums[i, j]: distances between the first i and the first j points
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = np.abs(stretch[:, None] - stretch).cumsum(0).cumsum(1)
    to_t, to_k, between = sums[t, t], sums[k, k], sums[t, k]
    energy = 2 * (between - to_t) / (left * right)
    energy -= to_t / (left * (left - 1)) + (to_k - 2 * between + to_t) / (right * (right - 1))
    scaled = energy * left * right / (left + right)
    at = int(np.argmax(scaled))
    return float(scaled[at]), int(t[at])


@cache
def _places(n: int, shortest: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Every t and k of a stretch of n points with `shortest` points at least on either side of
    t.
    """
    t, k = np.indices((n + 1, n + 1))
    allowed = (t >= shortest) & (k - t >= shortest)
    return t[allowed], k[allowed]


def _permuted_p(
    stretches: list[FloatArray],
    statistic: float,
    shortest: int,
    significance: float,
    rng: np.random.Generator,
) -> float:
    """How often a permutation within the stretches divides as well; ends early once it cannot be
    significant.
    """
    as_good = 0
    for done in range(1, PERMUTATIONS + 1):
        as_good += (
            max(_best(rng.permutation(stretch), shortest)[0] for stretch in stretches) >= statistic
        )
        if as_good + 1 > significance * (PERMUTATIONS + 1):
            return (as_good + 1) / (done + 1)
    return (as_good + 1) / (PERMUTATIONS + 1)
