# SPDX-License-Identifier: BSD-2-Clause
"""The direct method: quantiles of single passes, with the overhead of the clock reading taken off
in the laboratory.

Corrected values keep their sign. The overhead is the median of the identical empty sequence; its
uncertainty is carried into every interval. An overhead that is not stable refuses the result,
unless the latency is so long that it does not matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ..errors import MeasurementFailed
from . import modes
from .interval import FloatArray, Interval, samples
from .order import quantile, quantile_interval

MODE_VALLEY = 4.0
"""Depth of the valley that parts two reported modes, in standard deviations: a unimodal sample
shows a second mode in well under one case of a hundred."""
MODE_SHARE = 0.01
"""The least part of the passes that makes a reported mode."""
TOLERATED = 0.02
"""The middle half of an unstable overhead may span this part of the latency: an error of half of it
is at most the margin of a comparison."""
QUANTILES = (0.5, 0.9, 0.99, 0.999)
"""The quantiles every direct estimate reports."""


@dataclass(frozen=True)
class IntervalCost:
    """Cost of an empty interval: the median, its interval, and in what it is unstable (empty if it
    is stable). The interval of an unstable one holds the middle half of its samples.
    """

    value: float
    interval: Interval
    unstable: str

    @staticmethod
    def none(level: float = 0.95) -> IntervalCost:
        """No correction: nothing is subtracted and no uncertainty is added."""
        return IntervalCost(0.0, Interval(0.0, 0.0, level), "")


@dataclass(frozen=True)
class Quantile:
    """The corrected quantile `p`, a fraction. An infinite end of the interval means that the passes
    are too few to bound it.
    """

    p: float
    value: float
    interval: Interval


@dataclass(frozen=True)
class DirectEstimate:
    """Corrected latencies of single passes, in the unit of the clock; min and max are those of the
    sample.

    Modes are sought on a log scale and are none where a raw latency is zero or less.
    """

    passes: int
    minimum: float
    maximum: float
    quantiles: tuple[Quantile, ...]
    modes: tuple[modes.Mode, ...]
    overhead: IntervalCost

    @property
    def supported(self) -> tuple[Quantile, ...]:
        """The quantiles whose interval is finite at both ends."""
        return tuple(q for q in self.quantiles if math.isfinite(q.interval.half_width))


def estimate(
    passes: ArrayLike, overhead: IntervalCost | None = None, level: float = 0.95
) -> DirectEstimate:
    """Quantiles of directly timed passes with order-statistic intervals.

    Args:
        passes: raw interval lengths, shape (n,), in the clock's unit, any order; overhead not yet
            subtracted.
        overhead: what `measure_overhead` made of the empty intervals; None subtracts nothing.

    Raises:
        MeasurementFailed: the overhead is not stable, and its middle half spans more than TOLERATED
            of the latency.
    """
    ordered = np.sort(samples(passes, name="passes"))
    correction = _usable(overhead, ordered, level)
    return DirectEstimate(
        passes=ordered.size,
        minimum=float(ordered[0]) - correction.value,
        maximum=float(ordered[-1]) - correction.value,
        quantiles=tuple(_corrected(ordered, p, level, correction) for p in QUANTILES),
        modes=modes_of(ordered, correction.value),
        overhead=correction,
    )


def median(
    passes: ArrayLike, overhead: IntervalCost | None = None, level: float = 0.95
) -> Quantile:
    """The median alone, as `estimate` gives it: same units, same errors.

    Args:
        passes: latencies of single passes, shape (n,), in clock units.
        overhead: of the empty interval, in the same unit; None subtracts nothing.
    """
    ordered = np.sort(samples(passes, name="passes"))
    return _corrected(ordered, 0.5, level, _usable(overhead, ordered, level))


def measure_overhead(
    empty: ArrayLike, level: float = 0.95, tolerance: float = 0.05, resolution: float = 1.0
) -> IntervalCost:
    """Judge the empty intervals measured beside the data.

    The overhead is stable when the middle half of its samples spans no more than `tolerance` of the
    median or two steps of the clock, whichever is wider. An overhead that moves during the run
    spreads as well: the medians of its two halves never lie farther apart than the middle half
    spans.

    Args:
        empty: lengths of the empty interval, shape (n,), n >= 8, in the clock's unit.
        tolerance: a fraction of the median.
        resolution: smallest step of the clock, in its unit.

    Raises:
        ValueError: fewer than 8 readings, or one that is not finite.
    """
    ordered = np.sort(samples(empty, at_least=8, name="overhead"))
    median = quantile(ordered, 0.5)
    allowed = max(tolerance * abs(median), 2 * resolution)
    low, high = quantile(ordered, 0.25), quantile(ordered, 0.75)
    spread, interval, unstable = high - low, quantile_interval(ordered, 0.5, level), ""
    if spread > allowed:
        interval = Interval(min(low, interval.low), max(high, interval.high), level)
        unstable = (
            f"The overhead is not stable: the middle half of its samples spans {spread:g} around "
            f"{median:g} where "
            f"{allowed:g} is allowed; measure again on a quieter machine."
        )
    return IntervalCost(median, interval, unstable)


def _usable(overhead: IntervalCost | None, ordered: FloatArray, level: float) -> IntervalCost:
    correction = overhead or IntervalCost.none(level)
    spans = correction.interval.high - correction.interval.low
    if correction.unstable and spans > TOLERATED * (quantile(ordered, 0.5) - correction.value):
        raise MeasurementFailed(correction.unstable)
    return correction


def _corrected(ordered: FloatArray, p: float, level: float, overhead: IntervalCost) -> Quantile:
    raw = quantile(ordered, p)
    return Quantile(
        p, raw - overhead.value, _difference(raw, quantile_interval(ordered, p, level), overhead)
    )


def modes_of(ordered: FloatArray, overhead: float = 0.0) -> tuple[modes.Mode, ...]:
    """The modes that are reported of sorted latencies, shape (n,) with n > 0, less `overhead` in
    the same unit; none where one is zero or less. What one bandwidth shows as one mode, the next
    wider ones may divide.
    """
    if ordered[0] <= 0:
        return ()
    first, *wider = modes.bandwidths(ordered)
    found = list(modes.find(ordered, MODE_VALLEY, first))
    for smoothing in wider:
        found = [part for mode in found for part in _divided(ordered, mode, smoothing)]
    return tuple(
        replace(
            mode,
            position=mode.position - overhead,
            low=mode.low - overhead,
            high=mode.high - overhead,
        )
        for mode in found
        if mode.share >= MODE_SHARE
    )


def _divided(ordered: FloatArray, mode: modes.Mode, smoothing: float) -> list[modes.Mode]:
    """The modes that the samples of one are at a wider bandwidth; itself if they are one."""
    own = ordered[slice(*np.searchsorted(ordered, [mode.low, mode.high]))]
    parts = modes.find(own, MODE_VALLEY, smoothing) if own.size else ()
    if len(parts) < 2:
        return [mode]
    return [replace(part, share=part.share * own.size / ordered.size) for part in parts]


def _difference(value: float, raw: Interval, overhead: IntervalCost) -> Interval:
    """Interval of value - overhead from the intervals of both (Donner & Zou 2012, MOVER)."""
    corrected = value - overhead.value
    below = math.hypot(value - raw.low, overhead.interval.high - overhead.value)
    above = math.hypot(raw.high - value, overhead.value - overhead.interval.low)
    return Interval(corrected - below, corrected + above, raw.level)
