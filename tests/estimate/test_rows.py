# SPDX-License-Identifier: BSD-2-Clause
"""From the samples and figures of a bundle to one estimate per circle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy import stats

from cyclometer.bundle.model import (
    COLUMNS,
    MISSING,
    SCHEMA,
    Bundle,
    Clock,
    Contract,
    Flow,
    Identity,
    Problem,
    Row,
    Summary,
    no_samples,
    samples,
    tag_bit,
)
from cyclometer.estimate import (
    direct,
    fixed_cost,
    latencies,
    levels,
    marginal,
    regimes,
    rows,
    steady,
)
from cyclometer.estimate.interval import FloatArray, Interval, critical_value
from cyclometer.estimate.latencies import Latencies
from cyclometer.estimate.rows import Estimate, estimates
from cyclometer.report import brief
from tests.estimate.test_session import line, made
from tests.estimate.visited import Visits

TSC = Clock("tsc", "ticks", 2e9)
ICOUNT = Clock("icount", "instructions", exact=True)
CYCLES = Clock("cycle counter", "cycles")
SWITCHES = Contract("pipe.round_trip", expect={"switches": 2})


@dataclass
class Store:
    """A bundle in the making: rows, and samples added to the last of them."""

    rows: list[Row] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    counts: dict[str, list[int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)

    def row(
        self,
        method: str = "accumulated",
        contract: Contract = SWITCHES,
        clock: Clock = TSC,
        **other: Any,
    ) -> Store:
        self.rows.append(Row(contract, clock, method, **other))
        return self

    def add(
        self,
        values: Sequence[float] | FloatArray,
        turns: int = 1,
        run: int = 1,
        tags: int = 0,
        kind: int = 0,
        **counters: int,
    ) -> Store:
        """Samples of one size and run; a counter is read as this for each of them."""
        n, done = len(values), len(self.columns["row"])
        one = {"row": len(self.rows) - 1, "run": run, "turns": turns, "tags": tags, "kind": kind}
        for name, column in self.columns.items():
            column.extend(
                range(n)
                if name == "test"
                else values
                if name == "value"
                else [one.get(name, 0)] * n
            )
        for name in {**self.counts, **counters}:
            column = self.counts.setdefault(name, [MISSING] * done)
            column.extend([counters.get(name, MISSING)] * n)
        return self

    def bundle(self) -> Bundle:
        identity = Identity(
            SCHEMA,
            "2026-11-01T00:00:00+00:00",
            "",
            tuple(self.rows),
            tuple(self.summaries),
            tuple(self.problems),
        )
        counters = {name: np.array(column) for name, column in self.counts.items()}
        return Bundle(
            identity, samples(self.columns, counters) if self.columns["row"] else no_samples()
        )

    def estimates(self, level: float = 0.95, course: bool = True) -> list[Estimate]:
        return estimates(self.bundle(), level, course)

    def estimate(self, level: float = 0.95, course: bool = True) -> Estimate:
        (only,) = self.estimates(level, course)
        return only


def noise(sd: float, n: int, seed: int) -> FloatArray:
    sample: FloatArray = np.random.default_rng(seed).lognormal(0, sd, n)
    return sample


def flow(
    store: Store, runs: Sequence[float], sizes: Sequence[int] = (10, 20, 40), c: float = 700.0
) -> Store:
    """30 tests of each size in every run: c and turns of so much, with noise of a tenth of a
    percent.
    """
    for run, turn in enumerate(runs, start=1):
        for size in sizes:
            store.add((c + turn * size) * noise(0.001, 30, 100 * run + size), size, run)
    return store


RUNS = (100.0, 101.0, 99.0, 100.5)


def base_of_runs(store: Store, size: int) -> list[float]:
    """The base A of one size in each run, by the estimator that is held to be right."""
    s = store.bundle().samples
    here = s.turns == size
    common = regimes.base_core(np.sort(s.value[here]))
    return [regimes.base(s.value[here & (s.run == run)], common) for run in np.unique(s.run)]


@pytest.mark.parametrize(("runs", "level"), [(4, 0.95), (4, 0.8), (2, 0.95)])
def test_a_turn_is_what_is_left_after_the_fixed_cost(runs: int, level: float) -> None:
    """Line through the base A of the sizes, c off every test, and c's error shared by all runs."""
    store = flow(Store().row(), RUNS[:runs])
    e = store.estimate(level)
    fit = marginal.fit_repeated(
        [10, 20, 40], np.transpose([base_of_runs(store, size) for size in (10, 20, 40)]), level
    )
    assert e.fixed_cost == fit
    s = store.bundle().samples
    Y = (s.value - fit.c) / s.turns
    common = regimes.base_core(np.sort(Y))
    own = [regimes.estimate(Y[s.run == run], level, common) for run in range(1, runs + 1)]
    assert [(r.run, r.latency, r.overall) for r in e.runs] == [
        (run, one.base, one.overall) for run, one in enumerate(own, start=1)
    ]
    shared = (
        stats.t.ppf((1 + level) / 2, runs - 1) * fit.c_standard_error * float(np.mean(1 / s.turns))
    )
    for found, figures in (
        (e.latency, [o.base for o in own]),
        (e.overall, [o.overall for o in own]),
    ):
        expected = levels.combine(
            [f.value for f in figures], [f.interval for f in figures], level, shared
        )
        assert found is not None
        assert (found.interval.low, found.interval.high) == pytest.approx(
            (expected.interval.low, expected.interval.high)
        )
        assert (found.value, found.within_variance) == (expected.value, expected.within_variance)
    assert e.latency is not None
    assert e.latency.value == pytest.approx(100, rel=0.01)
    assert e.ns == e.latency.value / 2
    assert (e.tests, e.valid, e.reason, e.failed, e.set_aside, e.row) == (
        90 * runs,
        True,
        "",
        False,
        {},
        0,
    )


def test_by_default_the_level_is_95_and_the_course_is_judged() -> None:
    bundle = flow(Store().row(), RUNS).bundle()
    assert estimates(bundle) == estimates(bundle, 0.95, True)
    (e,) = estimates(bundle)
    assert e.latency is not None
    assert e.latency.interval.level == 0.95
    assert e.steadiness == "flat"
    (without,) = estimates(bundle, course=False)
    assert (without.steady, without.steadiness, without.latency) == (None, "", e.latency)


def test_one_run_has_the_errors_of_its_base_estimates() -> None:
    store = flow(Store().row(), RUNS[:1])
    e = store.estimate(0.9)
    s = store.bundle().samples
    quiet = [regimes.estimate(s.value[s.turns == size], 0.9).base for size in (10, 20, 40)]
    location = np.array([q.value for q in quiet])
    variance = np.array([(q.interval.half_width / critical_value(0.9)) ** 2 for q in quiet])
    assert variance.min() > 1 / 12
    df = np.array([q.tests - 1.0 for q in quiet])
    groups = marginal.Groups(np.array([10.0, 20, 40]), location, location**-2, variance, df)
    expected = marginal.fit_groups(groups, 0.9)
    assert e.fixed_cost is not None
    assert (e.fixed_cost.b, e.fixed_cost.c) == (expected.b, expected.c)
    assert e.fixed_cost.b_interval.half_width == pytest.approx(
        expected.b_interval.half_width, rel=1e-12
    )
    assert e.fixed_cost.c_standard_error == pytest.approx(expected.c_standard_error, rel=1e-12)
    assert e.latency is not None
    own = regimes.estimate((s.value - expected.c) / s.turns, 0.9).base
    shared = critical_value(0.9) * expected.c_standard_error * float(np.mean(1 / s.turns))
    assert (e.latency.value, e.latency.scope) == (own.value, "within this run")
    assert e.latency.interval.high - own.value == pytest.approx(
        math.hypot(own.interval.high - own.value, shared)
    )


def test_one_run_without_scatter_errs_by_its_rounding() -> None:
    store = Store().row()
    for size in (10, 30):
        store.add([40.0 + 60 * size] * 20, size)
    fit = store.estimate().fixed_cost
    assert fit is not None
    assert fit.b_standard_error == pytest.approx(math.sqrt(2 / 12) / 20)


def test_one_test_a_size_leaves_the_errors_to_the_scatter_about_the_line() -> None:
    store = Store().row()
    for size, value in ((10, 100.0), (20, 200.0), (30, 310.0)):
        store.add([value], size)
    fit = store.estimate().fixed_cost
    assert fit is not None
    assert fit == marginal.fit_groups(
        marginal.Groups(
            np.array([10.0, 20, 30]),
            np.array([100.0, 200, 310]),
            np.array([100.0, 200, 310]) ** -2.0,
            None,
            None,
        )
    )


def test_only_runs_that_have_all_sizes_bear_the_line() -> None:
    """A run that was interrupted before its last size has estimates, but no line of its own."""
    store = flow(Store().row(), RUNS[:3])
    store.add(40 * 5000.0 * noise(0.001, 30, 9), 20, run=4)
    fit = store.estimate().fixed_cost
    assert fit == flow(Store().row(), RUNS[:3]).estimate().fixed_cost
    assert [r.run for r in store.estimate().runs] == [1, 2, 3, 4]
    one_each = Store().row().add([100.0] * 20, 10, run=1).add([200.0] * 20, 20, run=2)
    assert one_each.estimate().fixed_cost is None


def test_a_line_of_two_sizes_and_none_of_one() -> None:
    assert flow(Store().row(), RUNS, sizes=(10, 20)).estimate().fixed_cost is not None
    e = flow(Store().row(), RUNS, sizes=(10,), c=0.0).estimate()
    assert e.fixed_cost is None
    assert e.latency is not None
    plain = levels.combine([r.latency.value for r in e.runs], [r.latency.interval for r in e.runs])
    assert e.latency == plain


def test_a_fixed_cost_above_a_test_is_not_taken_off() -> None:
    """A line that says so does not describe the tests: then A/N stands, and no error of c with
    it.
    """
    store = Store().row()
    for run in (1, 2, 3):
        store.add(1000 * noise(0.001, 30, run), 10, run).add(
            1010 * noise(0.001, 30, 50 + run), 20, run
        )
        store.add([900.0], 20, run)
    e = store.estimate()
    assert e.fixed_cost is not None
    assert e.fixed_cost.c > 900
    s = store.bundle().samples
    assert e.runs[0].overall == regimes.estimate((s.value / s.turns)[s.run == 1]).overall
    assert e.overall == levels.combine(
        [r.overall.value for r in e.runs], [r.overall.interval for r in e.runs]
    )


def test_a_fixed_cost_of_all_that_a_test_takes_is_not_taken_off() -> None:
    """A latency that does not grow with the turns: c is every A, and nothing would be left of a
    turn.
    """
    store = Store().row(clock=ICOUNT)
    for run in (1, 2):
        store.add([1000.0] * 25, 10, run).add([1000.0] * 25, 20, run)
    e = store.estimate()
    assert e.fixed_cost is not None
    assert (e.fixed_cost.b, e.fixed_cost.c) == (0.0, 1000.0)
    assert e.overall is not None
    assert e.overall.value == 75.0


def test_nor_is_it_by_a_clock_that_is_not_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    line = marginal.MarginalFit(
        0.0, 0.1, Interval(0, 0, 0.95), 1000.0, 0.1, Interval(1000, 1000, 0.95), 2, None
    )
    monkeypatch.setattr(fixed_cost, "over_runs", lambda *_, **__: line)
    store = Store().row()
    for run in (1, 2):
        store.add([1000.0] * 25, 10, run).add([1000.0] * 25, 20, run)
    e = store.estimate()
    assert e.overall is not None
    assert e.overall.value == pytest.approx(75.0)


def exact_turn(*tests: tuple[int, float]) -> float:
    """Quiet latency of a turn in one run by an exact clock, of two tests of each of these sizes and
    latencies.
    """
    N = np.repeat([float(size) for size, _ in tests], 2)
    return latencies._exact_run(
        1, np.repeat([latency for _, latency in tests], 2), N, 0.95
    ).latency.value


def test_a_run_by_an_exact_clock_has_a_fixed_cost_of_its_own() -> None:
    assert exact_turn((10, 41.0 + 610.0), (20, 41.0 + 1220.0)) == 61.0
    assert exact_turn((1, 1.0), (2, 1.5)) == 0.5
    assert exact_turn((10, 30.0)) == 3.0  # a line needs two sizes
    assert exact_turn((10, 0.0), (20, 30.0)) == 0.0  # and locations that can be weighted


@pytest.mark.parametrize(
    ("small", "large", "clock", "settled"),
    [
        ([6823.0, 6707.0, 6707.0], [13326.0, 13326.0], ICOUNT, True),
        ([6823.0, 6707.0], [13326.0, 13326.0], ICOUNT, False),
        ([6707.0], [13326.0], ICOUNT, True),  # one test of a size cannot show it
        ([6823.0, 6707.0], [13326.0, 13327.0], TSC, True),
    ],
)
def test_an_exact_clock_has_settled_where_a_count_of_each_size_repeats(
    small: list[float], large: list[float], clock: Clock, settled: bool
) -> None:
    store = Store().row(clock=clock, contract=Contract("a"))
    e = store.add(small, 16).add(large, 32).estimate()
    assert e.settled == settled
    assert ("n" in brief._marks(e)) != settled


def test_its_line_weighs_each_size_by_the_inverse_square_of_its_latency() -> None:
    sizes, latencies = [10, 20, 40], [1000.0, 1500.0, 3000.0]
    _, c = np.polyfit(sizes, latencies, 1, w=1 / np.array(latencies))
    wanted = min((A - c) / N for N, A in zip(sizes, latencies, strict=True))
    assert exact_turn(*zip(sizes, latencies, strict=True)) == pytest.approx(wanted, abs=1e-9)


def test_each_run_has_its_own_base_latency_on_an_exact_clock() -> None:
    A, run = np.array([5.0, 5.0, 7.0, 7.0, 9.0, 9.0]), np.repeat([1, 2, 3], 2).astype(np.int32)
    assert fixed_cost._base_of_runs(A, run, [1, 2, 3], True) == [5.0, 7.0, 9.0]


def test_one_base_test_a_size_tells_the_line_but_not_how_well() -> None:
    A, N = np.array([650.0, 655.0, 1260.0, 1266.0]), np.array([10.0, 10.0, 20.0, 20.0])
    fit = fixed_cost.over_runs(A, N, np.ones(4, np.int32), 0.95, exact=True)
    assert fit is not None
    assert (fit.b, fit.c) == pytest.approx((61.0, 40.0))
    assert fit.b_interval.half_width == np.inf


def test_an_exact_clock_has_an_exact_line() -> None:
    store = Store().row(clock=ICOUNT)
    for run in (1, 2):
        for size in (300, 700, 1100):
            store.add([41.0 + 61.0 * size] * 5, size, run)
    e = store.estimate()
    assert e.fixed_cost is not None
    assert (e.fixed_cost.b, e.fixed_cost.c) == (61.0, 41.0)
    assert e.fixed_cost.b_interval == Interval(61.0, 61.0, 0.95)
    assert e.latency is not None
    assert (e.latency.value, e.latency.interval.low, e.latency.interval.high) == (61.0, 61.0, 61.0)
    assert e.latency == e.overall
    assert e.ns is None


def test_sizes_whose_tests_all_differ_leave_the_error_of_an_exact_line_open() -> None:
    """Two tests a size, as in a quick run: the quiet one is one test, whose variance nobody
    knows.
    """
    store = Store().row(clock=ICOUNT).add([78.0, 55.0], 16, 1).add([102.0, 95.0], 32, 1)
    e = store.estimate()
    assert e.fixed_cost is not None
    assert (e.fixed_cost.b, e.fixed_cost.c) == (2.5, 15.0)
    assert math.isinf(e.fixed_cost.b_interval.half_width)


def test_floating_point_is_taken_off_an_exact_line_to_nine_digits() -> None:
    b, c = Interval(59.0000000004, 61.0000000004, 0.9), Interval(37.0000000004, 43.0000000004, 0.9)
    exact = fixed_cost.without_rounding(
        marginal.MarginalFit(60.0000000004, 0.1, b, 40.0000000004, 0.2, c, 3, None)
    )
    assert (exact.b, exact.c) == (60.0, 40.0)
    assert (exact.b_interval, exact.c_interval) == (
        Interval(59.0, 61.0, 0.9),
        Interval(37.0, 43.0, 0.9),
    )
    assert (exact.b_standard_error, exact.sizes) == (0.1, 3)
    kept = fixed_cost.without_rounding(
        marginal.MarginalFit(60.000000001, 0.1, b, 40.0, 0.2, c, 3, None)
    )
    assert kept.b == 60.000000001


def test_a_run_with_a_latency_that_is_not_positive_is_left_out() -> None:
    store = (
        Store().row().add([0.5] * 25, run=1).add([0.0, *[0.5] * 24], run=2).add([0.5] * 25, run=3)
    )
    assert [r.run for r in store.estimate().runs] == [1, 3]
    none = Store().row().add([0.0] * 25).estimate()
    assert (none.latency, none.failed) == (None, True)
    assert none.reason == "latencies of zero or less: the clock or the fixed cost is off"
    backwards = Store().row().add([-5.0] * 25, 10).add([100.0] * 25, 20).estimate()
    assert backwards.fixed_cost is None
    still = Store().row().add([0.0] * 25, 10).add([100.0] * 25, 20).estimate()
    assert still.fixed_cost is None
    small = Store().row().add([0.5] * 25, 10).add([0.9] * 25, 20).estimate()
    assert small.fixed_cost is not None


EMPTY = [20.0, 21, 20, 22, 20, 20, 21, 20]


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_single_turns_lose_their_overhead(level: float) -> None:
    store = Store().row("direct")
    for run in (1, 2, 3):
        store.add((1000 + run) * noise(0.01, 200, run), run=run)
    store.add(EMPTY, kind=1)
    e = store.estimate(level)
    s = store.bundle().samples
    overhead = direct.measure_overhead(EMPTY, level)
    measured = s.kind == 0
    assert e.tails == direct.estimate(s.value[measured], overhead, level)
    Y = s.value - 20.0
    own = [Y[measured & (s.run == run)] for run in (1, 2, 3)]
    assert [r.latency for r in e.runs] == [regimes.estimate(values, level).base for values in own]
    medians = [direct.median(values, None, level) for values in own]
    assert [r.overall for r in e.runs] == [
        regimes.Regime(m.value, m.interval, 200, 1.0) for m in medians
    ]
    assert e.overall == levels.combine(
        [m.value for m in medians], [m.interval for m in medians], level
    )
    assert e.latency == levels.combine(
        [r.latency.value for r in e.runs], [r.latency.interval for r in e.runs], level
    )
    assert (e.fixed_cost, e.tests, e.steady) == (
        None,
        600,
        steady.assess(s.value[measured & (s.run == 2)]),
    )
    assert e.sigma_turn == pytest.approx(10.0, rel=0.1)  # of single turns: their own spread


def test_eight_empty_readings_make_an_overhead_and_tagged_ones_do_not_count() -> None:
    def median(empty: Sequence[float], tagged: Sequence[float] = ()) -> float:
        store = (
            Store().row("direct").add([100.0] * 30).add(empty, kind=1).add(tagged, kind=1, tags=2)
        )
        e = store.estimate()
        assert e.overall is not None
        return e.overall.value

    assert median([20.0] * 8) == 80
    assert median([20.0] * 7) == 100
    assert median([20.0] * 7, [20.0]) == 100
    assert median([]) == 100


def test_an_unstable_overhead_refuses_and_a_coarse_clock_may_step() -> None:
    def reason(empty: Sequence[float]) -> str:
        return Store().row("direct").add([1000.0] * 30).add(empty, kind=1).estimate().reason

    assert reason([20.0] * 4 + [46.0] * 4) == ""  # one step of 26
    assert "not stable" in reason([20.0, 21, 20, 21, 46, 46, 46, 46])


@pytest.mark.parametrize(
    ("values", "sought"), [([0.5] * 20, True), ([0.5] * 19, False), ([0.0] + [0.5] * 20, False)]
)
def test_a_regime_is_sought_among_twenty_positive_turns(values: list[float], sought: bool) -> None:
    e = Store().row("direct").add(values).estimate()
    assert (e.runs[0].latency is not e.runs[0].overall) == sought
    assert e.runs[0].overall.value == 0.5


def test_a_negative_corrected_latency_is_shown() -> None:
    e = Store().row("direct").add([18.0]).add([20.0] * 8, kind=1).estimate()
    assert e.latency is not None
    assert (e.latency.value, e.valid, e.tests) == (-2.0, True, 1)


def test_methods_of_one_circle_join_and_the_first_in_rank_carries_the_latency() -> None:
    store = Store().row("proof").add([7.0] * 5, 10)
    store.row("passes").add([900.0, 300, 200], run=1).add([700.0, 300, 200], run=2)
    store.row("direct").add([210.0] * 30)
    store.row("accumulated").add([2000.0] * 30, 10)
    e = store.estimate()
    assert (e.method, e.row, e.cold) == ("accumulated", 3, 800.0)
    assert e.latency is not None
    assert e.latency.value == 200
    del store.rows[3]
    short = Store(store.rows).row("reported")
    assert [x.method for x in short.estimates()] == ["direct", "reported"]


def test_passes_alone_and_a_proof_alone() -> None:
    passes = Store().row("passes").add([900.0, 300, 200]).estimate()
    assert (passes.method, passes.cold) == ("passes", 900.0)
    assert passes.overall is not None
    assert passes.overall.value == 300
    proof = Store().row("proof").add([7.0] * 5, 10).estimate()
    assert (proof.latency, proof.valid, proof.reason) == (None, False, "no test of it was timed")
    assert Store().row().estimate().reason == "no test of it was timed"
    assert proof.cold is None


def test_no_cold_value_without_a_first_pass() -> None:
    store = Store().row("passes").add([900.0, 300, 200])
    store.columns["test"] = [1, 2, 3]
    assert store.estimate().cold is None


@pytest.mark.parametrize(
    "other",
    [
        {"contract": Contract("other")},
        {"clock": CYCLES},
        {"configuration": {"mcs": "on"}},
        {"method": "accumulated"},
    ],
)
def test_unlike_rows_are_circles_of_their_own(other: dict[str, Any]) -> None:
    found = Store().row().row(**other).estimates()
    assert [e.row for e in found] == [0, 1]
    assert (
        len(
            Store()
            .row(configuration={"a": "1", "b": "2"})
            .row("proof", configuration={"b": "2", "a": "1"})
            .estimates()
        )
        == 1
    )


def test_disturbed_tests_are_set_aside_by_cause() -> None:
    store = Store().row().add([100.0] * 30)
    store.add([900.0] * 3, tags=tag_bit("interrupt")).add(
        [900.0] * 2, tags=tag_bit("interrupt") | tag_bit("steal")
    )
    e = store.estimate()
    assert (e.tests, e.set_aside) == (30, {"interrupt": 5, "steal": 2})
    assert e.overall is not None
    assert e.overall.value == 100
    nothing = Store().row().add([900.0] * 3, tags=tag_bit("steal")).estimate()
    assert (nothing.latency, nothing.valid, nothing.failed) == (None, False, True)
    assert nothing.reason == "no test counts: all were set aside"


def test_a_broken_contract_says_what_was_expected_and_seen() -> None:
    invalid = tag_bit("invalid")
    store = Store().row().add([100.0] * 30, 10, switches=20, entries=5)
    store.add([100.0], 10, tags=invalid, switches=MISSING).add(
        [100.0], 10, tags=invalid, switches=20
    )
    store.add([100.0], 10, tags=invalid, switches=23).add([100.0], 10, tags=invalid, switches=24)
    e = store.estimate()
    assert (
        e.reason
        == "contract broken in 4 of 34 tests (accumulated; switches: expected 20 in 10 turns, seen "
        "23)"
    )
    assert (e.valid, e.failed) == (False, False)
    assert e.latency is not None


def test_the_first_broken_expectation_of_any_method_is_told() -> None:
    contract = Contract("c", expect={"uncounted": 1, "switches": 2, "wakes": 1})
    store = Store().row(contract=contract).add([100.0] * 30, 10, switches=20, wakes=10)
    store.row("proof", contract).add([50.0], 5, tags=tag_bit("invalid"), switches=10, wakes=6)
    e = store.estimate()
    assert (
        e.reason == "contract broken in 1 of 1 tests (proof; wakes: expected 5 in 5 turns, seen 6)"
    )
    assert e.unproven == ("uncounted",)


def test_a_counter_that_was_never_read_is_unproven() -> None:
    store = Store().row("accumulated", SWITCHES).add([100.0] * 30, 10, switches=MISSING)
    assert store.estimate().unproven == ("switches",)
    store.row("proof", SWITCHES).add([100.0], 10, switches=20)
    assert store.estimate().unproven == ()


def test_a_circle_that_failed_says_why() -> None:
    def reason(*problems: Problem) -> str:
        store = Store().row().add([100.0] * 30)
        store.problems.extend(problems)
        e = store.estimate()
        assert e.failed == bool(e.reason)
        return e.reason

    here = "circle pipe.round_trip"
    assert reason(Problem("hung", here, "failed")) == "hung"
    assert reason(Problem("no perf", here, "skipped")) == "no perf"
    assert reason(Problem("odd", here, "note"), Problem("hung", "circle pipe", "failed")) == ""
    broken = Store().row().add([100.0] * 30, 10, switches=20).add([1.0], 10, tags=1, switches=21)
    broken.problems.append(Problem("hung", here, "failed"))
    assert "contract broken" in broken.estimate().reason
    assert not broken.estimate().failed
    absent = Store().row()
    absent.problems.append(Problem("hung", here, "failed"))
    assert absent.estimate().reason == "hung"


def test_sigma_of_a_turn_is_the_mean_variance_of_the_runs() -> None:
    """Equation 3.2 on the tests of the first size, every run with its own mean."""
    store = Store().row()
    for run in range(1, 6):
        short, long = (
            np.random.default_rng(run).normal(100.0 * n, math.sqrt(n), 50 + run) for n in (10, 40)
        )
        store.add(short[:1], 10, run).add(long, 40, run).add(short[1:], 10, run)
    e = store.estimate()
    s = store.bundle().samples
    own = [s.value[(s.run == run) & (s.turns == 10)] / 10 for run in range(1, 6)]
    assert e.steady == steady.assess(own[2])
    assert e.sigma_reason == ""
    assert e.sigma_turn == pytest.approx(math.sqrt(np.mean([np.var(Y, ddof=1) for Y in own]) * 10))
    assert e.sigma_turn == pytest.approx(1.0, rel=0.15)


def test_sigma_is_refused_where_turns_are_not_independent() -> None:
    store = Store().row()
    for run in (1, 2):
        store.add(1000 + np.where(np.arange(60) < 20, 50.0, 0) + noise(0.1, 60, run), 10, run)
    e = store.estimate()
    assert (e.steadiness, e.sigma_turn, e.sigma_reason) == (
        "warm-up",
        None,
        "the run is not flat (warm-up)",
    )
    growth = Store().row()
    for size in (10, 160):
        growth.add(np.random.default_rng(size).normal(100 * size, size, 60), size)
    assert growth.estimate().sigma_reason.startswith("var(A) grows")


@pytest.mark.parametrize(("tests", "judged"), [(20, True), (19, False)])
def test_a_course_is_judged_from_twenty_tests_on(tests: int, judged: bool) -> None:
    e = Store().row().add(1000 * noise(0.01, tests, 1), 10).add([2000.0] * 30, 20).estimate()
    assert (e.steady is not None) == judged
    assert (e.sigma_reason == "fewer than 20 tests of one size in a run") != judged


def test_passes_have_no_course() -> None:
    e = Store().row("passes").add(1000 * noise(0.01, 40, 1)).estimate()
    assert (e.steady, e.sigma_turn, e.sigma_reason) == (None, None, "passes go from cold to hot")


def of(rows: list[Row], *summaries: Summary) -> list[Estimate]:
    return estimates(
        Bundle(
            Identity(SCHEMA, "2026-11-01T00:00:00+00:00", "", tuple(rows), summaries), no_samples()
        )
    )


def test_runs_of_printed_means_give_an_interval_between_runs() -> None:
    (e,) = of(
        [Row(Contract("a"), CYCLES, "reported")],
        *(Summary(0, run=r, mean=m) for r, m in enumerate((9.0, 10, 11))),
    )
    assert e.valid
    assert e.latency is not None
    assert e.latency == e.overall
    assert (e.latency.value, e.latency.scope, len(e.runs)) == (10.0, "between runs", 3)
    assert e.latency.interval.half_width == pytest.approx(4.302652730 / 3**0.5)


def test_a_failed_row_is_a_row() -> None:
    (e,) = of([Row(Contract("a"), CYCLES, "reported")], Summary(0, status="failed", note="FAILED"))
    assert (e.valid, e.failed, e.latency, e.reason) == (
        False,
        True,
        None,
        "the tool reports it as failed: FAILED",
    )


def test_a_row_without_figures_says_so() -> None:
    (e,) = of([Row(Contract("a"), CYCLES, "reported")], Summary(0, minimum=1.0))
    assert (e.failed, e.reason) == (True, "neither a mean nor a median was printed")


def test_flows_of_one_circle_are_circles_of_their_own() -> None:
    rows = [Row(Contract("a"), CYCLES, "accumulated", flow=Flow(n, 0, 1, 3)) for n in (30, 300)]
    found = of(rows, Summary(0, mean=100.0), Summary(1, mean=200.0))
    assert [(e.flow and e.flow.initial, e.row, e.latency and e.latency.value) for e in found] == [
        (30, 0, 100.0),
        (300, 1, 200.0),
    ]


def test_modes_of_tests_lose_a_fixed_cost_only_if_the_latency_does() -> None:
    """A line through the modes of a race has any fixed cost, and none is clear."""
    visits = Visits()
    row = visits.row("lock", params={"placement": "other_cpu"})
    turns = [10, 40] * 50
    values = [n * (100.0 if i % 4 < 2 else 300.0) for i, n in enumerate(turns)]
    bundle = visits.add(row, 1, 0, values, turns).bundle()
    unclear = line(-1e6, 1e6)
    found = Latencies(
        latency=levels.combine([100.0], [Interval(99.0, 101.0, 0.95)]),
        session=made([1.0, 1.0], fixed_cost=unclear),
        fixed_cost=unclear,
    )
    good = bundle.samples.tests(row)
    modes = rows._modes_of_tests(bundle.identity.rows[row], found, bundle.samples, good)
    assert [mode.position for mode in modes] == pytest.approx([100, 300], rel=0.01)
