# SPDX-License-Identifier: BSD-2-Clause
"""From runs to one estimate: the run is the unit of inference.

Whatever happens once per boot or process start (where memory landed, how caches were mapped)
is shared by all tests of a run, so tests within a run say nothing about it. The estimates of R runs
are R independent values; their spread already contains everything that varies below them, so that
resampling whole runs is all a bootstrap has to do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .interval import FloatArray, Interval, critical_value, samples, student

RUNS_TO_RESAMPLE = 8
"""From this many runs on the interval is a bootstrap-t; below, runs are too few to show the shape
they come from.
"""
RESAMPLES = 4000


@dataclass(frozen=True)
class LevelsEstimate:
    """The grand estimate over runs.

    `scope` says what the interval speaks about: the next run, or only the run or the session that
    was measured.
    Variances are those of a run's estimate, in its unit squared, and None if they cannot be
    estimated: between from three runs on, within where it was given. `spread` is the standard
    deviation of the runs as a fraction of `value`.
    """

    value: float
    interval: Interval
    scope: Literal["between sessions", "between runs", "within this session", "within this run"]
    runs: int
    between_variance: float | None
    within_variance: float | None
    spread: float
    shared: float = 0.0  # half-width of an error that all runs have in common; the interval has it


def combine(
    estimates: ArrayLike,
    within: Sequence[Interval] | None = None,
    level: float = 0.95,
    shared: float = 0.0,
) -> LevelsEstimate:
    """Combine the estimates of independent runs.

    Args:
        estimates: one estimate per run, shape (R,), in any unit, which the result has, too.
        within: the interval of each run's own estimate, R of them; needed when R is 1.
        shared: half-width, at the same level, of an error that all estimates have in common, such
            as that of one fixed cost taken off all runs. Their spread does not show it; it is added
            in squares.

    Raises:
        ValueError: one run without its own interval, or lengths that differ.
    """
    # Sorted, because the order of runs means nothing and must not reach the resampling.
    values = np.sort(samples(estimates, name="estimates"))
    if within is not None and len(within) != values.size:
        raise ValueError(
            f"{values.size} runs came with {len(within)} intervals; pass one interval for each run."
        )
    own = None if within is None else _own_variance(within)
    if values.size == 1:
        if within is None:
            raise ValueError(
                "One run has no spread between runs; pass its own interval or measure more runs."
            )
        value = float(values[0])
        return LevelsEstimate(
            value, _widened(within[0], value, shared), "within this run", 1, None, own, 0.0, shared
        )
    mean, R = float(values.mean()), values.size
    variance = float(values.var(ddof=1))
    interval = student(mean, math.sqrt(variance / R), R - 1, level)
    if R >= RUNS_TO_RESAMPLE:
        interval = _bootstrap_t(values, level) or interval
    return LevelsEstimate(
        value=mean,
        interval=_widened(interval, mean, shared),
        scope="between runs",
        runs=R,
        between_variance=max(0.0, variance - (own or 0.0)) if R >= 3 else None,
        within_variance=own,
        spread=math.sqrt(variance) / abs(mean) if mean else math.inf if variance else 0.0,
        shared=shared,
    )


def _widened(interval: Interval, value: float, shared: float) -> Interval:
    if not shared:
        return interval
    below, above = (
        math.hypot(value - interval.low, shared),
        math.hypot(interval.high - value, shared),
    )
    return Interval(value - below, value + above, interval.level)


def _bootstrap_t(values: FloatArray, level: float) -> Interval | None:
    """Studentised bootstrap over runs (Efron & Tibshirani 1993, section 12.5); None if ties
    leave it undefined.

    The seed is fixed: the same runs always give the same interval.
    """
    R, mean = values.size, values.mean()
    drawn = values[np.random.default_rng(1).integers(0, R, (RESAMPLES, R))]
    error = drawn.std(axis=1, ddof=1)
    if np.mean(error == 0) > (1 - level) / 4:
        return None
    kept = error > 0
    deviation = (drawn.mean(axis=1)[kept] - mean) / error[kept]
    below, above = np.quantile(deviation, [(1 + level) / 2, (1 - level) / 2])
    scale = values.std(ddof=1)
    return Interval(float(mean - below * scale), float(mean - above * scale), level)


def _own_variance(within: Sequence[Interval]) -> float | None:
    """Mean variance of a run's own estimate; None if an interval is open."""
    variance = float(np.mean([(i.half_width / critical_value(i.level)) ** 2 for i in within]))
    return variance if math.isfinite(variance) else None
