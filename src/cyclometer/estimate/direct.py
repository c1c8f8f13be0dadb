# SPDX-License-Identifier: BSD-2-Clause
"""The direct method: quantiles of single passes, with the overhead of the clock reading taken off in the laboratory.

Corrected values keep their sign. The overhead is the median of the identical empty sequence; its uncertainty is carried
into every interval, and an overhead that is not stable refuses the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import MeasurementFailed
from .interval import Interval, samples
from .order import quantile, quantile_interval

QUANTILES = (0.5, 0.9, 0.99, 0.999)
"""The quantiles every direct estimate reports."""


@dataclass(frozen=True)
class Overhead:
    """Cost of an empty interval: the median, its interval, and why it may not be used (empty when it may)."""

    value: float
    interval: Interval
    unstable: str

    @staticmethod
    def none(level: float = 0.95) -> Overhead:
        """No correction: nothing is subtracted and no uncertainty is added."""
        return Overhead(0.0, Interval(0.0, 0.0, level), "")


@dataclass(frozen=True)
class Quantile:
    """A corrected quantile. An infinite end of the interval means that the passes are too few to bound it."""

    p: float
    value: float
    interval: Interval


@dataclass(frozen=True)
class DirectEstimate:
    """Corrected latencies of single passes, in the unit of the clock; min and max are those of the sample."""

    passes: int
    minimum: float
    maximum: float
    quantiles: tuple[Quantile, ...]
    overhead: Overhead

    @property
    def median(self) -> Quantile:
        return next(q for q in self.quantiles if q.p == 0.5)


def estimate(passes: ArrayLike, overhead: Overhead | None = None, level: float = 0.95) -> DirectEstimate:
    """Quantiles of directly timed passes with order-statistic intervals.

    Args:
        passes: raw interval lengths, shape (n,), in the clock's unit, any order; overhead not yet subtracted.
        overhead: what `measure_overhead` made of the empty intervals; None subtracts nothing.

    Raises:
        MeasurementFailed: the overhead is not stable.
    """
    correction = overhead or Overhead.none(level)
    if correction.unstable:
        raise MeasurementFailed(correction.unstable)
    ordered = np.sort(samples(passes, name="passes"))
    return DirectEstimate(
        passes=ordered.size,
        minimum=float(ordered[0]) - correction.value,
        maximum=float(ordered[-1]) - correction.value,
        quantiles=tuple(
            Quantile(
                p,
                quantile(ordered, p) - correction.value,
                _difference(quantile(ordered, p), quantile_interval(ordered, p, level), correction),
            )
            for p in QUANTILES
        ),
        overhead=correction,
    )


def measure_overhead(
    empty: ArrayLike, level: float = 0.95, tolerance: float = 0.05, resolution: float = 1.0
) -> Overhead:
    """Judge the empty intervals measured beside the data.

    The overhead is stable when the middle half of its samples, and the medians of its first and second half in time,
    lie within `tolerance` of the median or within two steps of the clock, whichever is wider.

    Args:
        empty: lengths of the empty interval in arrival order, shape (n,), n >= 8.
        resolution: smallest step of the clock.
    """
    arrival = samples(empty, at_least=8, name="overhead")
    ordered = np.sort(arrival)
    median = quantile(ordered, 0.5)
    allowed = max(tolerance * abs(median), 2 * resolution)
    spread = quantile(ordered, 0.75) - quantile(ordered, 0.25)
    first, second = np.array_split(arrival, 2)
    drift = abs(quantile(np.sort(first), 0.5) - quantile(np.sort(second), 0.5))
    unstable = ""
    if spread > allowed:
        unstable = (
            f"The overhead is not stable: the middle half of its samples spans {spread:g} around {median:g} where "
            f"{allowed:g} is allowed; measure again on a quieter machine."
        )
    elif drift > allowed:
        unstable = (
            f"The overhead is not stable: its median moved by {drift:g} around {median:g} during the run where "
            f"{allowed:g} is allowed; measure again on a quieter machine."
        )
    return Overhead(median, quantile_interval(ordered, 0.5, level), unstable)


def _difference(value: float, raw: Interval, overhead: Overhead) -> Interval:
    """Interval of value - overhead from the intervals of both (Donner & Zou 2012, MOVER)."""
    corrected = value - overhead.value
    below = math.hypot(value - raw.low, overhead.interval.high - overhead.value)
    above = math.hypot(raw.high - value, overhead.value - overhead.interval.low)
    return Interval(corrected - below, corrected + above, raw.level)
