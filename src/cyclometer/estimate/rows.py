# SPDX-License-Identifier: BSD-2-Clause
"""A bundle's samples -> one estimate per circle: the stage that `show`, `compare` and `report` read."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import (
    MISSING,
    TAGS,
    Bundle,
    Clock,
    Contract,
    Flow,
    Problem,
    Row,
    Samples,
    Summary,
    tag_bit,
)
from cyclometer.errors import MeasurementFailed
from cyclometer.estimate import direct, kbench, levels, marginal, regimes, reported, steady
from cyclometer.estimate.interval import FloatArray, Interval, critical_value
from cyclometer.units import to_ns

_EXACT_DIGITS = 9  # what the division leaves behind a count that is exact
_MIN_STEADY = 20  # tests of a run from which its course can be judged
_MIN_OVERHEAD = 8  # empty readings from which an overhead can be judged


@dataclass(frozen=True)
class RunEstimate:
    """One run's own estimates, in the clock's unit a turn."""

    run: int
    quiet: regimes.Regime
    typical: regimes.Regime


@dataclass(frozen=True)
class Estimate:
    """Everything known about one circle in one configuration on one clock. Latencies are a turn's, in the clock's unit.

    `quiet` is what comparisons rest on; both are None where no test counts, and `reason` says why.
    """

    contract: Contract
    configuration: dict[str, str]
    clock: Clock
    method: str
    better: str
    quiet: levels.LevelsEstimate | None
    typical: levels.LevelsEstimate | None
    runs: tuple[RunEstimate, ...]
    tests: int  # that count
    set_aside: dict[str, int]  # tag -> tests
    valid: bool
    reason: str  # why it is not valid, or has no estimate
    failed: bool  # not valid for another reason than a broken contract
    flow: Flow | None
    row: int  # index of its main row in the bundle
    fixed_cost: marginal.MarginalFit | None = None
    tails: direct.DirectEstimate | None = None
    cold: float | None = None  # median of the first passes after an eviction
    steady: steady.Steadiness | None = None  # of the middle one of the runs
    sigma_turn: float | None = None  # sigma_P of design 6.1, None where independence is refuted
    sigma_reason: str = ""  # why there is no sigma_turn
    unproven: tuple[str, ...] = ()  # expected counters that were not read by any method
    assumption: str = ""  # what the interval of a foreign tool's printed figures takes for granted

    @property
    def steadiness(self) -> str:
        """The shape of a run over its time, as one word or three."""
        return "" if self.steady is None else self.steady.shape

    @property
    def ns(self) -> float | None:
        """The quiet latency in nanoseconds, where the clock has a known rate."""
        return None if self.quiet is None else to_ns(self.quiet.value, self.clock.unit, self.clock.hz)


def estimates(bundle: Bundle, level: float = 0.95, course: bool = True) -> list[Estimate]:
    """One estimate per circle, configuration and clock, in the bundle's order. Proofs and passes join their circle.

    Without `course` nothing is said about how the runs went over their time (steadiness, sigma_P), which takes as long
    as all the rest.
    """
    found = []
    printed: dict[int, list[Summary]] = {}
    for one in bundle.identity.summaries:
        printed.setdefault(one.row, []).append(one)
    for members in _circles(bundle.identity.rows):
        main = _main(bundle.identity.rows, members)
        if main is not None and main in printed and not len(picked(bundle.samples, main)):
            found.append(_reported(bundle, main, printed[main], level))
        elif main is not None:
            found.append(_estimate(bundle, main, members, level, course))
    return found


def picked(samples: Samples, row: int, kind: int = 0, untagged: bool = False) -> NDArray[np.intp]:
    """Indices of a row's samples in arrival order; `kind` 1 are the empty readings."""
    of_row = samples.of_row(row)
    mask: NDArray[np.bool_] = samples.kind[of_row] == kind
    return of_row[mask & (samples.tags[of_row] == 0)] if untagged else of_row[mask]


def _circles(rows: Sequence[Row]) -> list[list[int]]:
    """Row indices that belong to one circle in one configuration on one clock.

    A second row of one method (another flow, another interval under one name) is a circle of its own, and so are
    figures that a foreign tool only reported.
    """
    groups: dict[tuple[Any, ...], list[int]] = {}
    seen: defaultdict[tuple[Any, ...], Iterator[int]] = defaultdict(count)
    for index, row in enumerate(rows):
        circle = (row.contract.key, repr(sorted(row.configuration.items())), row.clock.name, row.method == "reported")
        groups.setdefault((circle, next(seen[circle, row.method])), []).append(index)
    return list(groups.values())


def _main(rows: Sequence[Row], members: Sequence[int]) -> int | None:
    """The row that carries the latency: accumulated before direct before passes; a proof alone carries none."""
    for method in ("accumulated", "direct", "passes", "reported", "proof"):
        for index in members:
            if rows[index].method == method:
                return index
    return None


def _estimate(bundle: Bundle, main: int, members: Sequence[int], level: float, course: bool) -> Estimate:
    row, samples = bundle.identity.rows[main], bundle.samples
    everything = picked(samples, main)
    good = everything[samples.tags[everything] == 0]
    broken = _invalid(bundle, members)
    reason = broken or _failed(bundle.identity.problems, row.contract.key)
    method = _accumulated if row.method == "accumulated" else _direct
    parts = method(samples, good, level, row.clock.exact) if len(good) and row.method != "proof" else _Parts()
    if parts.quiet is None and not reason:
        reason = parts.why or _why_none(row, len(everything))
    return Estimate(
        contract=row.contract, configuration=row.configuration, clock=row.clock, method=row.method, better=row.better,
        quiet=parts.quiet, typical=parts.typical, runs=parts.runs, tests=len(good),
        set_aside=_set_aside(samples, everything), valid=not reason, reason=reason, fixed_cost=parts.fixed_cost,
        tails=parts.tails, cold=_cold(bundle, members), unproven=_unproven(bundle, members),
        failed=bool(reason) and not broken, flow=row.flow, row=main,
        **(_steadiness(samples, good, row.method) if course else {}),
    )  # fmt: skip


def _reported(bundle: Bundle, main: int, printed: list[Summary], level: float) -> Estimate:
    """A row of printed figures alone: the foreign tool's word is all there is, quiet and typical are one."""
    row = bundle.identity.rows[main]
    known = reported.estimate(printed, row.flow, level)
    runs = tuple(RunEstimate(run, figure, figure) for run, figure in known.runs)
    value = levels.combine([r.quiet.value for r in runs], [r.quiet.interval for r in runs], level) if runs else None
    reason = known.failed or ("" if runs else "neither a mean nor a median was printed")
    return Estimate(
        contract=row.contract, configuration=row.configuration, clock=row.clock, method=row.method, better=row.better,
        quiet=value, typical=value, runs=runs, tests=sum(r.quiet.tests for r in runs), set_aside={}, valid=not reason,
        reason=reason, failed=bool(reason), assumption=known.assumption, flow=row.flow, row=main,
        sigma_reason="no samples",
    )  # fmt: skip


@dataclass(frozen=True)
class _Parts:
    quiet: levels.LevelsEstimate | None = None
    typical: levels.LevelsEstimate | None = None
    runs: tuple[RunEstimate, ...] = ()
    fixed_cost: marginal.MarginalFit | None = None
    tails: direct.DirectEstimate | None = None
    why: str = ""


def _accumulated(samples: Samples, good: NDArray[np.intp], level: float, exact: bool) -> _Parts:
    """Marginal latency: each test's A minus the fixed cost, over its turns (design 6.2), by regime and run."""
    A, N, run = samples.value[good], samples.turns[good].astype(np.float64), samples.run[good]
    fit = _fixed_cost(A, N, run, level, exact)
    if exact:
        runs = tuple(_exact_run(number, A[tests], N[tests], level) for number, tests in _split(run))
        return _combined(runs, level, _exact_fit(fit) if fit is not None else None, 0.0)
    fixed = fit.c if fit is not None and np.all(fit.c < A) else 0.0
    runs = _by_run(run, (A - fixed) / N, level)
    return _combined(runs, level, fit, _of_fixed_cost(fit, N, len(runs), level) if fit is not None and fixed else 0.0)


def _exact_run(run: int, A: FloatArray, N: FloatArray, level: float) -> RunEstimate:
    """A run by an exact clock, less the fixed cost of its own, which such a clock tells to the digit."""
    sizes = np.unique(N)
    low = np.array([regimes.quiet_exact(np.sort(A[size == N])) for size in sizes])
    fixed = _fixed_cost_of_run(sizes, low)
    Y = np.round((A - (fixed if np.all(fixed < A) else 0.0)) / N, _EXACT_DIGITS)
    found = regimes.estimate_exact(Y, level)
    return RunEstimate(run, found.quiet, found.typical)


def _fixed_cost_of_run(sizes: FloatArray, low: FloatArray) -> float:
    """Where the line through the quiet latencies of these sizes meets no turns; 0 where there is no line."""
    if sizes.size < 2 or np.any(low <= 0):
        return 0.0
    return round(marginal.fit_groups(marginal.Groups(sizes, low, low**-2.0, None, None)).c, _EXACT_DIGITS)


def _of_fixed_cost(fit: marginal.MarginalFit, N: FloatArray, runs: int, level: float) -> float:
    """Half-width that the error of c, taken off all runs alike, leaves to the latency of a turn."""
    critical = critical_value(level, runs - 1) if runs > 1 else critical_value(level)
    return critical * fit.c_standard_error * float(np.mean(1 / N))


def _exact_fit(fit: marginal.MarginalFit) -> marginal.MarginalFit:
    """The same line without what floating point left on it."""
    b, c = round(fit.b, _EXACT_DIGITS), round(fit.c, _EXACT_DIGITS)
    half_b, half_c = round(fit.b_interval.half_width, _EXACT_DIGITS), round(fit.c_interval.half_width, _EXACT_DIGITS)
    level = fit.b_interval.level
    return replace(
        fit,
        b=b,
        c=c,
        b_interval=Interval(b - half_b, b + half_b, level),
        c_interval=Interval(c - half_c, c + half_c, level),
    )


def _fixed_cost(
    A: FloatArray, N: FloatArray, run: NDArray[np.int32], level: float, exact: bool
) -> marginal.MarginalFit | None:
    """The line through the quiet A of each size, over the runs that have all sizes; None for a flow of one size.

    A single run has no spread between runs: its errors are those of its quiet estimates.
    """
    sizes = np.unique(N)
    runs = [number for number in np.unique(run) if np.unique(N[run == number]).size == sizes.size]
    if sizes.size < 2 or not runs or np.any(A <= 0):
        return None
    if len(runs) > 1:
        by_size = [_quiet_of_runs(A[size == N], run[size == N], runs, exact) for size in sizes]
        return marginal.fit_runs(sizes, np.transpose(by_size), level)
    estimate = regimes.estimate_exact if exact else regimes.estimate
    quiet = [estimate(A[(run == runs[0]) & (size == N)], level).quiet for size in sizes]
    location = np.array([one.value for one in quiet])
    error = np.array([one.interval.half_width for one in quiet]) / critical_value(level)
    df = np.array([one.tests - 1.0 for one in quiet])
    variance = np.maximum(error**2, 1 / 12) if np.isfinite(error).all() and df.all() else None
    return marginal.fit_groups(marginal.Groups(sizes, location, location**-2, variance, df), level)


def _quiet_of_runs(A: FloatArray, run: NDArray[np.int32], runs: Sequence[int], exact: bool) -> list[float]:
    """Quiet accumulated latency of each of these runs at one size."""
    if exact:
        return [regimes.quiet_exact(np.sort(A[run == number])) for number in runs]
    common = regimes.quiet_core(np.sort(A))
    return [regimes.quiet(A[run == number], common) for number in runs]


def _by_run(run: NDArray[np.int32], Y: FloatArray, level: float) -> tuple[RunEstimate, ...]:
    runs = [(number, tests) for number, tests in _split(run) if np.all(Y[tests] > 0)]
    if not runs:
        return ()
    common = regimes.quiet_core(np.sort(np.concatenate([Y[tests] for _, tests in runs])))
    estimated = [(number, regimes.estimate(Y[tests], level, common)) for number, tests in runs]
    return tuple(RunEstimate(number, one.quiet, one.typical) for number, one in estimated)


def _split(run: NDArray[np.int32]) -> list[tuple[int, NDArray[np.intp]]]:
    """Each run's number and the places of its tests, in arrival order."""
    order = np.argsort(run, kind="stable")
    numbers, first = np.unique(run[order], return_index=True)
    return list(zip(numbers.tolist(), np.split(order, first)[1:], strict=True))


def _combined(runs: tuple[RunEstimate, ...], level: float, fit: marginal.MarginalFit | None, shared: float) -> _Parts:
    """Runs to one estimate; `shared` is the half-width that the fixed cost, taken off all of them, leaves undecided."""
    if not runs:
        return _Parts(fixed_cost=fit, why="latencies of zero or less: the clock or the fixed cost is off")
    quiet = levels.combine([r.quiet.value for r in runs], [r.quiet.interval for r in runs], level, shared)
    typical = levels.combine([r.typical.value for r in runs], [r.typical.interval for r in runs], level, shared)
    return _Parts(quiet, typical, runs, fit)


def _direct(samples: Samples, good: NDArray[np.intp], level: float, exact: bool) -> _Parts:
    """Single turns: quantiles over all runs, and quiet and typical of each; the overhead is subtracted here."""
    empty = samples.value[picked(samples, int(samples.row[good[0]]), kind=1, untagged=True)]
    overhead = None
    try:
        if len(empty) >= _MIN_OVERHEAD:
            overhead = direct.measure_overhead(empty, level, resolution=_clock_step(empty))
        tails = direct.estimate(samples.value[good], overhead, level)
        values = samples.value[good] - (overhead.value if overhead else 0.0)
        runs = tuple(_direct_run(number, values[i], level, exact) for number, i in _split(samples.run[good]))
    except MeasurementFailed as refusal:
        return _Parts(why=str(refusal))
    quiet = levels.combine([r.quiet.value for r in runs], [r.quiet.interval for r in runs], level)
    typical = levels.combine([r.typical.value for r in runs], [r.typical.interval for r in runs], level)
    return _Parts(quiet, typical, runs, tails=tails)


def _clock_step(values: FloatArray) -> float:
    """The smallest difference between two readings, infinite where all are one: some clocks advance by many units."""
    return float(np.diff(np.unique(values)).min(initial=math.inf))


def _direct_run(run: int, values: FloatArray, level: float, exact: bool) -> RunEstimate:
    """Typical is the median, which tails do not move; quiet the lowest sustained regime of positive latencies."""
    middle = direct.median(values, None, level)
    typical = regimes.Regime(middle.value, middle.interval, len(values), 1.0)
    if exact:
        return RunEstimate(run, regimes.estimate_exact(values, level).quiet, typical)
    quiet = regimes.estimate(values, level).quiet if len(values) >= _MIN_STEADY and values.min() > 0 else typical
    return RunEstimate(run, quiet, typical)


def _steadiness(samples: Samples, good: NDArray[np.intp], method: str) -> dict[str, Any]:
    """How the runs went over their time, and whether sigma_P may be printed (equation 3.2 needs independence)."""
    if method not in ("accumulated", "direct"):
        return {"sigma_reason": "passes go from cold to hot"}
    A, N = samples.value[good], samples.turns[good]
    series = [A[tests[N[tests] == N[0]]] for _, tests in _split(samples.run[good])]
    long = [one for one in series if len(one) >= _MIN_STEADY]
    if not long:
        return {"sigma_reason": f"fewer than {_MIN_STEADY} tests of one size in a run"}
    middle = steady.assess(long[len(long) // 2] / N[0])
    refuted = steady.independence_refuted(middle, steady.variance_growth(A, N))
    if refuted:
        return {"steady": middle, "sigma_reason": refuted}
    variance = float(np.mean([kbench.estimate(one, int(N[0])).var_P for one in long]))
    return {"steady": middle, "sigma_turn": math.sqrt(variance)}


def _unproven(bundle: Bundle, members: Sequence[int]) -> tuple[str, ...]:
    """Counters that the contract expects and that this machine did not count in any method."""
    samples = bundle.samples
    expected = bundle.identity.rows[members[0]].contract.expect
    rows = np.concatenate([picked(samples, index) for index in members])
    counters = samples.counters
    return tuple(n for n in expected if n not in counters or not np.any(counters[n][rows] != MISSING))


def _set_aside(samples: Samples, rows: NDArray[np.intp]) -> dict[str, int]:
    """Tests by the reason they do not count; a test with two reasons counts under each."""
    counts = {tag: int(np.count_nonzero(samples.tags[rows] & tag_bit(tag))) for tag in TAGS}
    return {tag: count for tag, count in counts.items() if count}


def _invalid(bundle: Bundle, members: Sequence[int]) -> str:
    """The first broken expectation among all methods of a circle, as expected and seen."""
    samples = bundle.samples
    for index in members:
        row = bundle.identity.rows[index]
        rows = picked(samples, index)
        wrong = rows[samples.tags[rows] & tag_bit("invalid") > 0]
        for counter, per_turn in row.contract.expect.items():
            if counter not in samples.counters:
                continue
            counts = samples.counters[counter][wrong]
            off = wrong[(counts != MISSING) & (counts != per_turn * samples.turns[wrong])]
            if len(off):
                seen, turns = int(samples.counters[counter][off[0]]), int(samples.turns[off[0]])
                what = f"{counter}: expected {per_turn * turns} in {turns} turns, seen {seen}"
                return f"contract broken in {len(wrong)} of {len(rows)} tests ({row.method}; {what})"
    return ""


def _why_none(row: Row, tests: int) -> str:
    """Why a circle that did not fail has no estimate."""
    if row.method == "proof" or not tests:
        return "no test of it was timed"
    return "no test counts: all were set aside"


def _failed(problems: Sequence[Problem], key: str) -> str:
    return next((p.what for p in problems if p.where == f"circle {key}" and p.kind in ("failed", "skipped")), "")


def _cold(bundle: Bundle, members: Sequence[int]) -> float | None:
    """Median over the runs of the first pass after an eviction, raw."""
    samples = bundle.samples
    for index in members:
        if bundle.identity.rows[index].method == "passes":
            rows = picked(samples, index)
            first = rows[samples.test[rows] == 0]
            return float(np.median(samples.value[first])) if len(first) else None
    return None
