# SPDX-License-Identifier: BSD-2-Clause
"""Order statistics: a quantile and its distribution-free interval, from sorted samples."""

from __future__ import annotations

import math

from scipy import special

from .interval import FloatArray, Interval


def quantile(ordered: FloatArray, p: float) -> float:
    """The smallest sample that at least the fraction `p` of the samples does not exceed: always an
    observed value. `ordered` is sorted, of shape (n,) with n > 0.
    """
    return float(ordered[max(0, math.ceil(p * ordered.size - 1e-9) - 1)])


def quantile_interval(ordered: FloatArray, p: float, level: float) -> Interval:
    """Distribution-free interval of the quantile `p` (David & Nagaraja 2003, section 7.1) of sorted
    samples, shape (n,) with n > 0.

    The number of independent samples at or below the true quantile is binomial(n, p), so two order
    statistics enclose it with a probability that does not depend on the distribution. Where the
    samples are too few for one end, that end is infinite: n samples say nothing about a quantile
    beyond their maximum.
    """
    n, tail = ordered.size, (1 - level) / 2
    below = _binomial_quantile(tail, n, p)
    above = _binomial_quantile(1 - tail, n, p) + 1
    low = float(ordered[below - 1]) if below >= 1 else -math.inf
    high = float(ordered[above - 1]) if above <= n else math.inf
    return Interval(low, high, level)


def _binomial_quantile(q: float, n: int, p: float) -> int:
    """The smallest k with P(binomial(n, p) <= k) >= q."""
    k = max(1, math.ceil(float(special.bdtrik(q, n, p))))
    return k - 1 if special.bdtr(k - 1, n, p) >= q else k
