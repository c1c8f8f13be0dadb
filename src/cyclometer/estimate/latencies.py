# SPDX-License-Identifier: BSD-2-Clause
"""The tests of one row -> its latency: over the session, and of each run in the lowest regime and
over all tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import Samples
from cyclometer.errors import MeasurementFailed
from cyclometer.estimate import direct, fixed_cost, levels, marginal, regimes, session
from cyclometer.estimate.interval import FloatArray, critical_value
from cyclometer.estimate.order import quantile
from cyclometer.estimate.session import Moments, Session

_EXACT_DIGITS = 9  # what the division leaves behind a count that is exact
_MIN_REGIME = 20  # passes of a run from which a regime can be recognised
P99_TURNS = 100
"""Turns of a run from which its 99 % quantile is not merely its largest one."""
_MIN_OVERHEAD = 8  # empty readings from which an overhead can be judged


@dataclass(frozen=True)
class RunEstimate:
    """One run's own estimates, in the clock's unit per turn; see `rows.Estimate` for the words.

    others: the mean over all tests that count; of single turns `p99` (from P99_TURNS on) and `max`.
    step: by which the clock advances, as single turns show it; 0 if they show none.
    """

    run: int
    latency: regimes.Regime
    base: regimes.Regime
    overall: regimes.Regime
    others: Mapping[str, float] = field(default_factory=dict)
    step: float = 0.0


@dataclass(frozen=True)
class Latencies:
    """What the tests of one row give; `why` says why there is no latency."""

    latency: levels.LevelsEstimate | None = None
    base: levels.LevelsEstimate | None = None
    overall: levels.LevelsEstimate | None = None
    runs: tuple[RunEstimate, ...] = ()
    session: Session | None = None
    fixed_cost: marginal.MarginalFit | None = None
    tails: direct.DirectEstimate | None = None
    settled: bool = True  # by an exact clock: the lowest count of each test size repeats
    why: str = ""


def accumulated(
    samples: Samples, good: NDArray[np.intp], exact: bool, moments: Moments | None, level: float
) -> Latencies:
    """Marginal latency: each test's A minus the fixed cost, over its turns.

    Args:
        good: indices of the row's tests that count, at least one.
        exact: whether the clock repeats to the digit.
        moments: when the bundle's samples were taken; None if that is not known.
    """
    A, N, run = samples.value[good], samples.turns[good].astype(np.float64), samples.run[good]
    if exact:
        fit = fixed_cost.over_runs(A, N, run, level, exact=True)
        runs = tuple(
            _exact_run(number, A[tests], N[tests], level) for number, tests in split_by_run(run)
        )
        found = _combined(runs, level, fit and fixed_cost.without_rounding(fit))
        return replace(found, settled=_settled(A, N, run))
    visited = moments and session.session(samples, good, moments, level=level)
    if visited:
        return _of_session(visited, A, N, run, level)
    fit = fixed_cost.over_runs(A, N, run, level, exact=False)
    # Without a line, or with one that takes more off a test than it took, turns keep their share of
    # what a test costs.
    if fit is None or not np.all(fit.c < A):
        return _combined(_by_run(run, A / N, level), level, fit)
    runs = _by_run(run, (A - fit.c) / N, level)
    # The error of c is common to all runs, so that their spread does not show it.
    critical = critical_value(level, len(runs) - 1) if len(runs) > 1 else critical_value(level)
    shared = critical * fit.c_standard_error * float(np.mean(1 / N))
    return _combined(runs, level, fit, shared)


def direct_passes(
    samples: Samples, good: NDArray[np.intp], exact: bool, moments: Moments | None, level: float
) -> Latencies:
    """Single turns: quantiles over all runs; the overhead of the reading is subtracted here.

    Arguments as in `accumulated`.
    """
    empty = samples.value[samples.tests(int(samples.row[good[0]]), kind=1, untagged=True)]
    overhead = None
    try:
        if len(empty) >= _MIN_OVERHEAD:
            overhead = direct.measure_overhead(empty, level, resolution=_clock_step(empty))
        tails = direct.estimate(samples.value[good], overhead, level)
    except MeasurementFailed as refusal:
        return Latencies(why=str(refusal))
    cost = overhead.value if overhead else 0.0
    values = samples.value[good] - cost
    runs = tuple(
        _direct_run(number, values[i], level, exact)
        for number, i in split_by_run(samples.run[good])
    )
    visited = None
    if not exact and moments:
        visited = session.session(samples, good, moments, cost, level)
    found = _combined(runs, level, visited=visited)
    # each test is one turn: all are of one size
    settled = not exact or _settled(values, np.ones_like(values), samples.run[good])
    return replace(found, tails=tails, settled=settled)


def split_by_run(run: NDArray[np.int32]) -> list[tuple[int, NDArray[np.intp]]]:
    """Each run's number and the places of its tests, in arrival order.

    Args:
        run: of each test, shape (n,); the places index it.
    """
    order = np.argsort(run, kind="stable")
    numbers, first = np.unique(run[order], return_index=True)
    return list(zip(numbers.tolist(), np.split(order, first)[1:], strict=True))


def _of_session(
    visited: Session, A: FloatArray, N: FloatArray, run: NDArray[np.int32], level: float
) -> Latencies:
    fit = visited.fixed_cost
    subtracted = fit.c if fit is not None and visited.has_fixed_cost else 0.0
    runs = _by_run(run, (A - subtracted) / N, level)
    return _combined(runs, level, fit, visited=visited)


def _combined(
    runs: Sequence[RunEstimate],
    level: float,
    fit: marginal.MarginalFit | None = None,
    shared: float = 0.0,
    visited: Session | None = None,
) -> Latencies:
    """Runs to one estimate.

    Args:
        shared: half-width that an error which all runs have in common leaves undecided.
        visited: the session, which then gives the latency, of each run, too.
    """
    if not runs:
        return Latencies(
            fixed_cost=fit, why="latencies of zero or less: the clock or the fixed cost is off"
        )
    base, overall = (
        levels.combine([one.value for one in which], [one.interval for one in which], level, shared)
        for which in ([run.base for run in runs], [run.overall for run in runs])
    )
    if visited is None:
        return Latencies(base, base, overall, tuple(runs), fixed_cost=fit)
    own = session.latency_of_runs(visited, level)
    runs = [replace(run, latency=own.get(run.run, run.latency)) for run in runs]
    latency = session.latency(visited, level)
    return Latencies(latency, base, overall, tuple(runs), visited, fit)


def _exact_run(run: int, A: FloatArray, N: FloatArray, level: float) -> RunEstimate:
    """A run by an exact clock, less the fixed cost of its own, which such a clock tells to the
    digit.
    """
    fixed = fixed_cost.of_exact_run(A, N)
    Y = np.round((A - (fixed if np.all(fixed < A) else 0.0)) / N, _EXACT_DIGITS)
    found = regimes.estimate_exact(Y, level)
    return RunEstimate(run, found.base, found.base, found.overall, others(Y, single=False))


def others(Y: FloatArray, single: bool) -> dict[str, float]:
    """What a run's latencies are besides base and overall; tails only of `single` turns.

    Args:
        Y: latencies per turn in units of the clock, shape (n,) with n > 0, in any order.
    """
    found = {"mean": float(Y.mean())}
    if single and Y.size >= P99_TURNS:
        found["p99"] = float(quantile(np.sort(Y), 0.99))
    return found | ({"max": float(Y.max())} if single else {})


def _settled(A: FloatArray, N: FloatArray, run: NDArray[np.int32]) -> bool:
    """Whether in each run a count of each test size repeats, so that further tests would hardly
    give another figure. One test of a size cannot show it.
    """
    for _, tests in split_by_run(run):
        for size in np.unique(N[tests]):
            of_size = A[tests][N[tests] == size]
            if 1 < of_size.size == np.unique(of_size).size:
                return False
    return True


def _by_run(run: NDArray[np.int32], Y: FloatArray, level: float) -> tuple[RunEstimate, ...]:
    runs = [(number, tests) for number, tests in split_by_run(run) if np.all(Y[tests] > 0)]
    if not runs:
        return ()
    # which regime is quiet is seen better in all runs together than in one
    common = regimes.base_core(np.sort(np.concatenate([Y[tests] for _, tests in runs])))
    estimated = [(number, regimes.estimate(Y[tests], level, common)) for number, tests in runs]
    return tuple(
        RunEstimate(number, one.base, one.base, one.overall, others(Y[tests], single=False))
        for (number, tests), (_, one) in zip(runs, estimated, strict=True)
    )


def _direct_run(run: int, values: FloatArray, level: float, exact: bool) -> RunEstimate:
    """Overall is the median, which tails do not move; base the lowest sustained regime of positive
    latencies.
    """
    middle = direct.median(values, None, level)
    overall = regimes.Regime(middle.value, middle.interval, len(values), 1.0)
    base = overall
    if exact:
        base = regimes.estimate_exact(values, level).base
    # modes are those of logarithms
    elif len(values) >= _MIN_REGIME and values.min() > 0:
        base = regimes.estimate(values, level).base
    return RunEstimate(run, base, base, overall, others(values, single=True), _usual_step(values))


def _clock_step(values: FloatArray) -> float:
    """The smallest difference between two readings, infinite where all are one: some clocks advance
    by many units.
    """
    return float(np.diff(np.unique(values)).min(initial=math.inf))


def _usual_step(values: FloatArray) -> float:
    """The commonest difference of neighbouring readings, 0 if all are one: a clock that advances by
    26 may be corrected by less now and then.
    """
    steps, counts = np.unique(np.diff(np.unique(values)), return_counts=True)
    return float(steps[np.argmax(counts)]) if steps.size else 0.0
