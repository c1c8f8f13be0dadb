# SPDX-License-Identifier: BSD-2-Clause
"""A bundle's samples -> one estimate per circle: the stage that `show`, `compare` and `report`
read.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
from cyclometer.estimate import (
    clock_offset,
    direct,
    kbench,
    latencies,
    levels,
    marginal,
    reported,
    steady,
)
from cyclometer.estimate.interval import Interval
from cyclometer.estimate.latencies import Latencies, RunEstimate, split_by_run
from cyclometer.estimate.modes import Mode
from cyclometer.estimate.session import Moments, Session, moments_of
from cyclometer.units import to_ns

_MIN_STEADY = 20  # tests of a run from which its course can be judged


@dataclass(frozen=True)
class Estimate:
    """Everything known about one circle in one configuration on one clock. Latencies are a turn's,
    in the clock's unit.

    `latency` is what comparisons rest on: of a session that visited its circles in random order,
    the mean of the visits at the core's mean speed; by an exact clock the lowest count that
    repeats; else what the runs' `base` give. `base` is the latency in the lowest sustained regime,
    `overall` the one over all tests that count. All are None if no test counts; `reason` says why.
    """

    contract: Contract
    configuration: dict[str, str]
    clock: Clock
    method: str
    better: str
    latency: levels.LevelsEstimate | None
    base: levels.LevelsEstimate | None
    overall: levels.LevelsEstimate | None
    runs: tuple[RunEstimate, ...]
    sessions: tuple[Session, ...]  # one a bundle, if its visits can be put on one axis of time
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
    steady: steady.Steadiness | None = None  # of the session's visits, else of the middle run
    sigma_turn: float | None = None  # sigma_P of KBench, None if independence is refuted
    sigma_reason: str = ""  # why there is no sigma_turn
    unproven: tuple[str, ...] = ()  # expected counters that were not read by any method
    assumption: str = ""  # what the interval of a foreign tool's printed figures assumes
    settled: bool = True  # by an exact clock: the lowest count of each test size repeats
    maximum: float | None = None  # the largest that a foreign tool printed
    # By how much the clocks at the ends of its interval may be apart, where these are two.
    clock_offset: float | None = None
    modes: tuple[Mode, ...] = ()  # of single turns; between two CPUs of tests, too

    @property
    def drowned(self) -> bool:
        """Whether the circle did what it should, but something disturbed every test of it."""
        return self.failed and not self.tests and bool(self.set_aside.keys() - {"invalid"})

    @property
    def between_cpus(self) -> bool:
        """Whether the circle has participants on two CPUs."""
        return self.contract.params.get("placement") == "other_cpu"

    @property
    def steadiness(self) -> str:
        """The shape of the session or a run over its time, as one word or three."""
        return "" if self.steady is None else self.steady.shape

    @property
    def ns(self) -> float | None:
        """The latency in nanoseconds per turn; None if there is none, or the clock's rate is not
        known.
        """
        one = self.latency
        return None if one is None else to_ns(one.value, self.clock.unit, self.clock.hz)

    @property
    def ns_interval(self) -> Interval | None:
        """The interval of `ns`, in nanoseconds; None if there is none."""
        ns_per_unit = to_ns(1.0, self.clock.unit, self.clock.hz)
        if self.latency is None or ns_per_unit is None:
            return None
        return self.latency.interval.scaled(ns_per_unit)


def estimates(bundle: Bundle, level: float = 0.95, course: bool = True) -> list[Estimate]:
    """One estimate per circle, configuration and clock, in the bundle's order. Proofs and passes
    join their circle.

    Without `course` nothing is said about how the runs went over their time (steadiness, sigma_P),
    which takes as long as all the rest. `level` is that of all intervals, a probability. A circle
    without a latency is there, too, and says why.
    """
    found = []
    printed: dict[int, list[Summary]] = {}
    for one in bundle.identity.summaries:
        printed.setdefault(one.row, []).append(one)
    moments = moments_of(bundle)
    for members in _circles(bundle.identity.rows):
        main = _main(bundle.identity.rows, members)
        # samples say more than what a tool printed of them
        if main is not None and main in printed and not len(bundle.samples.tests(main)):
            found.append(_reported(bundle, main, printed[main], level))
        elif main is not None:
            found.append(_estimate(bundle, main, members, moments, level, course))
    return found


def _circles(rows: Sequence[Row]) -> list[list[int]]:
    """Row indices that belong to one circle in one configuration on one clock.

    A second row of one method (another flow, another interval under one name) is a circle of its
    own, and so are figures that a foreign tool only reported.
    """
    groups: dict[tuple[Any, ...], list[int]] = {}
    seen: defaultdict[tuple[Any, ...], Iterator[int]] = defaultdict(count)
    for index, row in enumerate(rows):
        circle = (
            row.contract.key,
            repr(sorted(row.configuration.items())),
            row.clock.name,
            row.method == "reported",
        )
        groups.setdefault((circle, next(seen[circle, row.method])), []).append(index)
    return list(groups.values())


def _main(rows: Sequence[Row], members: Sequence[int]) -> int | None:
    """The row that carries the latency: accumulated before direct before passes; a proof alone
    carries none.
    """
    for method in ("accumulated", "direct", "passes", "reported", "proof"):
        for index in members:
            if rows[index].method == method:
                return index
    return None


def _estimate(
    bundle: Bundle,
    main: int,
    members: Sequence[int],
    moments: Moments | None,
    level: float,
    course: bool,
) -> Estimate:
    row, samples = bundle.identity.rows[main], bundle.samples
    everything = samples.tests(main)
    good = everything[samples.tags[everything] == 0]
    broken = _invalid(bundle, members)
    reason = broken or _failed(bundle.identity.problems, row.contract.key)
    method = latencies.accumulated if row.method == "accumulated" else latencies.direct_passes
    found = (
        method(samples, good, row.clock.exact, moments, level)
        if len(good) and row.method != "proof"
        else Latencies()
    )
    apart = None
    if clock_offset.matters(row.contract):
        apart = clock_offset.bound(bundle.identity, row)
        found = clock_offset.widened(found, apart)
    if found.latency is None and not reason:
        reason = found.why or _why_none(row, len(everything))
    return Estimate(
        contract=row.contract,
        configuration=row.configuration,
        clock=row.clock,
        method=row.method,
        better=row.better,
        latency=found.latency,
        base=found.base,
        overall=found.overall,
        runs=found.runs,
        sessions=() if found.session is None else (found.session,),
        tests=len(good),
        set_aside=_set_aside(samples, everything),
        valid=not reason,
        reason=reason,
        fixed_cost=found.fixed_cost,
        tails=found.tails,
        cold=_cold(bundle, members),
        unproven=_unproven(bundle, members),
        settled=found.settled,
        failed=bool(reason) and not broken,
        flow=row.flow,
        row=main,
        clock_offset=apart,
        modes=found.tails.modes if found.tails else _modes_of_tests(row, found, samples, good),
        **(_course(samples, good, row.method, found.session) if course else {}),
    )


def _modes_of_tests(
    row: Row, found: Latencies, samples: Samples, good: NDArray[np.intp]
) -> tuple[Mode, ...]:
    """Modes of the tests' latencies where two CPUs meet, if there are several: a race may go
    one way for all turns of a test. They lose a fixed cost if the latency did.
    """
    if row.contract.params.get("placement") != "other_cpu" or found.latency is None:
        return ()
    subtracted = found.session is None or found.session.has_fixed_cost
    fixed = found.fixed_cost.c if found.fixed_cost and subtracted else 0.0
    modes = direct.modes_of(np.sort((samples.value[good] - fixed) / samples.turns[good]))
    return modes if len(modes) > 1 else ()


def _reported(bundle: Bundle, main: int, printed: list[Summary], level: float) -> Estimate:
    """A row of printed figures alone: the foreign tool's word is all there is, so that latency,
    base and overall are one.
    """
    row = bundle.identity.rows[main]
    known = reported.estimate(printed, row.flow, level)
    runs = tuple(
        RunEstimate(run, figure, figure, figure, known.others.get(run, {}))
        for run, figure in known.runs
    )
    value = (
        levels.combine([r.latency.value for r in runs], [r.latency.interval for r in runs], level)
        if runs
        else None
    )
    reason = known.failed or ("" if runs else "neither a mean nor a median was printed")
    return Estimate(
        contract=row.contract,
        configuration=row.configuration,
        clock=row.clock,
        method=row.method,
        better=row.better,
        latency=value,
        base=value,
        overall=value,
        runs=runs,
        sessions=(),
        tests=sum(r.latency.tests for r in runs),
        set_aside={},
        valid=not reason,
        reason=reason,
        failed=bool(reason),
        assumption=known.assumption,
        flow=row.flow,
        row=main,
        sigma_reason="no samples",
        maximum=max((one.maximum for one in printed if one.maximum is not None), default=None),
    )


def _course(
    samples: Samples, good: NDArray[np.intp], method: str, session: Session | None
) -> dict[str, Any]:
    """How the measurement went over its time, as `Estimate` names it: of a session by its visits,
    corrected for the core's speed, which is reported once for all circles; else by a run's tests.
    """
    found = _course_of_tests(samples, good, method)
    if session is not None and session.visits >= _MIN_STEADY:
        found["steady"] = steady.assess(np.exp(session.whole - session.x), "visits")
    return found


def _course_of_tests(samples: Samples, good: NDArray[np.intp], method: str) -> dict[str, Any]:
    """How the runs went over their time, and whether sigma_P may be printed (equation 3.2 needs
    independence).
    """
    if method not in ("accumulated", "direct"):
        return {"sigma_reason": "passes go from cold to hot"}
    A, N = samples.value[good], samples.turns[good]
    # tests of other sizes differ without any drift
    series = [A[tests[N[tests] == N[0]]] for _, tests in split_by_run(samples.run[good])]
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
    contract = bundle.identity.rows[members[0]].contract
    rows = np.concatenate([samples.tests(index) for index in members])
    counters = samples.counters
    return tuple(
        n
        for n in (*contract.expect, *contract.at_least)
        if n not in counters or not np.any(counters[n][rows] != MISSING)
    )


def _set_aside(samples: Samples, rows: NDArray[np.intp]) -> dict[str, int]:
    """Tests by the reason they do not count; a test with two reasons counts under each."""
    counts = {tag: int(np.count_nonzero(samples.tags[rows] & tag_bit(tag))) for tag in TAGS}
    return {tag: count for tag, count in counts.items() if count}


def _invalid(bundle: Bundle, members: Sequence[int]) -> str:
    """The first broken expectation among all methods of a circle, as expected and seen."""
    samples = bundle.samples
    for index in members:
        row = bundle.identity.rows[index]
        rows = samples.tests(index)
        wrong = rows[samples.tags[rows] & tag_bit("invalid") > 0]
        for what in _broken(row.contract, samples, wrong):
            return f"contract broken in {len(wrong)} of {len(rows)} tests ({row.method}; {what})"
    return ""


def _broken(contract: Contract, samples: Samples, wrong: NDArray[np.intp]) -> Iterator[str]:
    """Each expectation that one of these tests does not meet, as expected and seen."""
    exact = [(name, count, "", np.not_equal) for name, count in contract.expect.items()]
    least = [(name, count, "at least ", np.less) for name, count in contract.at_least.items()]
    for counter, per_turn, bound, differs in (*exact, *least):
        if counter not in samples.counters:
            continue
        counts = samples.counters[counter][wrong]
        off = wrong[(counts != MISSING) & differs(counts, per_turn * samples.turns[wrong])]
        if len(off):
            seen, turns = int(samples.counters[counter][off[0]]), int(samples.turns[off[0]])
            yield f"{counter}: expected {bound}{per_turn * turns} in {turns} turns, seen {seen}"


def _why_none(row: Row, tests: int) -> str:
    """Why a circle that did not fail has no estimate."""
    if row.method == "proof" or not tests:
        return "no test of it was timed"
    return "no test counts: all were set aside"


def _failed(problems: Sequence[Problem], key: str) -> str:
    return next(
        (
            p.what
            for p in problems
            if p.where == f"circle {key}" and p.kind in ("failed", "skipped")
        ),
        "",
    )


def _cold(bundle: Bundle, members: Sequence[int]) -> float | None:
    """Median over the runs of the first pass after an eviction, raw."""
    samples = bundle.samples
    for index in members:
        if bundle.identity.rows[index].method == "passes":
            rows = samples.tests(index)
            first = rows[samples.test[rows] == 0]
            return float(np.median(samples.value[first])) if len(first) else None
    return None
