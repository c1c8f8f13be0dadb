# SPDX-License-Identifier: BSD-2-Clause
"""What the visits of one session say about a circle."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from cyclometer.bundle.model import Bundle, Clock, tag_bit
from cyclometer.estimate import marginal, session, steady
from cyclometer.estimate.interval import Interval
from cyclometer.estimate.rows import estimates
from cyclometer.estimate.session import Moments, Occasion, Session
from tests.compare.recorded import recorded
from tests.estimate.visited import KHZ, Visits

OCCASION = Occasion((), "", None)


def made(values: list[float], run: list[int] | None = None, **members: object) -> Session:
    """A session of visits a second apart."""
    visits = len(values)
    runs = np.array(run or [1] * visits, np.int32)
    return Session(
        **{  # type: ignore[arg-type]
            "occasion": OCCASION,
            "seconds": np.arange(float(visits)),
            "run": runs,
            "number": np.arange(visits, dtype=np.int32),
            "process": runs,
            "whole": np.array(values),
            "less": None,
            "x": np.zeros(visits),
            "reference": None,
            "fixed_cost": None,
            "share": 0.01,
        }
        | members
    )


def line(c: float, error: float) -> marginal.MarginalFit:
    nothing = Interval(0, 0, 0.95)
    return marginal.MarginalFit(10, 1, nothing, c, error, nothing, 3, None)


def of(bundle: Bundle, row: int, overhead: float = 0.0) -> Session | None:
    moments = session.moments_of(bundle)
    assert moments is not None
    tests = bundle.samples.tests(row, untagged=True)
    return session.session(bundle.samples, tests, moments, overhead)


def test_a_visit_is_the_median_of_its_tests() -> None:
    visits = Visits()
    a = visits.row("a")
    visits.add(a, 1, 0, [10, 40, 20], 2).add(a, 2, 0, [60], 3).add(a, 1, 200, [10, 14], 2)
    found = of(visits.bundle(), a)
    assert found is not None
    assert np.exp(found.whole) == pytest.approx([10, 20, 6])
    assert found.run.tolist() == [1, 2, 1]
    assert (found.less, found.fixed_cost, found.reference) == (None, None, None)
    assert found.x.tolist() == [0, 0, 0]
    # 1/N is 1/2 five times and 1/3 once; the median visit takes 10


def test_visits_stand_in_order_of_time_not_of_their_runs() -> None:
    visits = Visits()
    a = visits.row("a")
    visits.add(a, 2, 5, [10]).add(a, 1, 1000, [20]).add(a, 2, 505, [30]).add(a, 1, 1900, [40])
    found = of(visits.bundle(), a)
    assert found is not None
    assert np.exp(found.whole) == pytest.approx([10, 20, 30, 40])
    assert np.all(np.diff(found.seconds) > 0)
    assert found.run.tolist() == [2, 1, 2, 1]
    assert found.process.tolist() == [2, 1, 2, 1]
    alone = of(visits.bundle(process="visit"), a)
    assert alone is not None
    assert np.unique(alone.process).size == 4
    assert alone.run.tolist() == [2, 1, 2, 1]


def test_tagged_tests_overheads_and_what_has_no_time_are_left_out() -> None:
    visits = Visits()
    a = visits.row("a", "direct")
    visits.add(a, 1, 0, [15]).add(a, 1, 50, [99], tags=tag_bit("interrupt"))
    visits.add(a, 3, 0, [77]).add(a, 1, 200, [25])
    del visits.order[2]
    found = of(visits.bundle(), a, overhead=5.0)
    assert found is not None
    assert np.exp(found.whole) == pytest.approx([10, 20])


@pytest.mark.parametrize("values", [[10], [10, 0], [10, -3]])
def test_one_visit_or_no_positive_latency_is_no_session(values: list[float]) -> None:
    visits = Visits()
    a = visits.row("a")
    for at, value in enumerate(values):
        visits.add(a, 1, 100 * at, [value])
    assert of(visits.bundle(), a) is None


def flow(visits: Visits, row: int, costs: list[float], turn: float = 7.0) -> Visits:
    """A visit for each fixed cost, of two tests of each of three sizes."""
    sizes = [10, 10, 20, 20, 30, 30]
    for number, cost in enumerate(costs):
        values = [round(1000 * (cost + turn * size)) for size in sizes]
        visits.add(row, 1, 2_000_000 * number, values, sizes)
    return visits


def test_the_fixed_cost_comes_from_the_sizes_within_each_visit() -> None:
    visits = Visits()
    a = visits.row("a")
    costs = [5.0, 6.0, 4.0, 5.5, 4.5]
    found = of(flow(visits, a, costs).bundle(), a)
    assert found is not None
    assert found.fixed_cost is not None
    assert found.fixed_cost.c == pytest.approx(5000)
    # MAD 0.5, times 1.4826 and 1.206 for five values, and a median's error
    error = 500 * 1.4826 * 1.206 * math.sqrt(math.pi / 2 / 5)
    assert found.fixed_cost.c_standard_error == pytest.approx(error)
    assert found.less is not None
    # the cost of each visit is off by 0, 1, -1, .5 and -.5; the median size is 20
    assert np.exp(found.less) == pytest.approx(7000 + (np.array(costs) - 5) * 1000 / 20, rel=1e-4)
    # so do the visits follow the cost, by a median: the middle size alone counts
    assert found.share == pytest.approx(1 / 20 / 7000, rel=0.01)
    # 4.5 errors from zero, which the MAD of five values does not know well enough
    assert not found.has_fixed_cost


def test_a_cost_that_exceeds_a_test_is_not_subtracted() -> None:
    visits = Visits()
    a = visits.row("a")
    for at in range(3):
        visits.add(a, 1, 10_000 * at, [1000, 1001, 1002], [1, 2, 3])
    visits.add(a, 1, 50_000, [500, 1001, 1002], [1, 2, 3])
    found = of(visits.bundle(), a)
    assert found is not None
    assert found.fixed_cost is not None
    assert found.fixed_cost.c == pytest.approx(999, abs=1)
    assert (found.less, found.has_fixed_cost) == (None, False)
    assert found.y(True).tolist() == found.y(False).tolist()
    assert found.cost_error(True) == 0


@pytest.mark.parametrize("visits", [2, 36, 1000])
def test_a_cost_is_there_where_noise_of_its_mad_seldom_reaches(visits: int) -> None:
    """As seldom as normal noise is three standard errors from zero, by either sign."""
    clear = float(stats.t.ppf(stats.norm.cdf(3), max(1, 0.37 * (visits - 1))))
    less = np.zeros(visits)
    for factor, there in ((0.99, False), (1.01, True), (-1.01, True)):
        cost = line(factor * clear, 1.0)
        assert made(less.tolist(), fixed_cost=cost, less=less).has_fixed_cost is there


def test_no_cost_is_there_without_a_line_or_a_way_to_subtract_it() -> None:
    less = np.zeros(2)
    c = 1e4
    assert made([1.0, 2.0], fixed_cost=line(c, 1.0)).has_fixed_cost is False
    assert made([1.0, 2.0], less=less).has_fixed_cost is False


def test_a_subtracted_cost_errs_in_all_visits_alike() -> None:
    one = made([1.0, 2.0], fixed_cost=line(5.0, 0.3), less=np.array([0.5, 1.5]), share=0.02)
    assert one.cost_error(True) == pytest.approx(0.006)
    assert one.cost_error(False) == 0
    assert made([1.0, 2.0], less=np.zeros(2)).cost_error(True) == 0
    assert (one.y(True).tolist(), one.y(False).tolist()) == ([0.5, 1.5], [1.0, 2.0])


def test_the_mean_of_pseudo_values_is_hubers() -> None:
    """A visit four robust deviations off is one whose speed does not explain it: it pulls the mean
    by two of them.
    """
    x = np.array([0.0, 0.1, 0.2, 0.3, 0.4])
    z = np.array([0.01, -0.01, 0.0, 0.02, 1.0])
    found = made((x + z).tolist(), x=x).y(False) - x
    reach = 2 * 1.4826 * 0.01
    middle = float(found.mean())
    assert middle == pytest.approx((z[:4].sum() + reach) / 4)
    assert found == pytest.approx(middle + np.clip(z - middle, -reach, reach) / 0.8)
    assert session.pseudo_values(-found).mean() == pytest.approx(
        -session.pseudo_values(found).mean()
    )
    same = np.array([1.0, 1.0, 1.0, 5.0])
    assert session.pseudo_values(same).tolist() == same.tolist()


@pytest.mark.parametrize("disturbed", [0.0, 0.1])
def test_a_mean_over_visits_of_which_some_were_disturbed_covers(disturbed: float) -> None:
    """A tenth of the visits spreads five times as far: that widens the intervals by a quarter."""
    rng = np.random.default_rng(3)
    spread = np.where(rng.random((2000, 36)) < disturbed, 5.0, 1.0)
    alone = np.arange(36, dtype=np.int32)
    found = [session.mean(session.pseudo_values(z), alone) for z in rng.normal(0, spread)]
    width = np.sqrt([one.variance for one in found])
    covered = np.abs([one.value for one in found]) <= stats.t.ppf(0.975, 11) * width
    assert 0.93 <= covered.mean() <= 0.97
    assert width.mean() * 6 == pytest.approx(1.25 if disturbed else 1.0, abs=0.05)


@pytest.mark.parametrize(
    ("visits", "blocks"),
    [(2, 2), (3, 3), (4, 4), (7, 4), (9, 4), (10, 5), (23, 11), (24, 12), (90, 12)],
)
def test_the_error_is_that_of_blocks_of_time(visits: int, blocks: int) -> None:
    values = np.random.default_rng(visits).normal(5, 1, visits)
    means = [block.mean() for block in np.array_split(values, blocks)]
    found = session.mean(values, np.ones(visits, np.int32))
    assert found.value == pytest.approx(np.mean(means))
    assert found.parts == (pytest.approx((np.var(means, ddof=1) / blocks, blocks - 1)),)
    assert found.variance == found.parts[0][0]


def test_processes_add_what_their_visits_do_not_explain() -> None:
    """The variance component of an unbalanced one-way layout, by least squares."""
    rng = np.random.default_rng(3)
    process = np.repeat([5, 8, 9, 12], [6, 7, 8, 7]).astype(np.int32)
    order = rng.permutation(28)
    drawn = {5: 0.0, 8: 2.0, 9: -1.0, 12: 3.0}
    values = np.array([drawn[p] for p in process]) + rng.normal(0, 0.5, 28)
    members = process[:, None] == np.array(list(drawn))
    within = sm.OLS(values, members.astype(float)).fit().mse_resid
    own = [values[process == p].mean() for p in drawn]
    sizes = np.array([6, 7, 8, 7])
    found = session.mean(values[order], process[order])
    added = (np.var(own, ddof=1) - within * np.mean(1 / sizes)) / 4
    assert found.parts[1] == pytest.approx((added, 3))
    assert found.variance == pytest.approx(found.parts[0][0] + added)


def test_processes_that_differ_by_nothing_add_nothing() -> None:
    values = np.array([1.0, 2.0, 1.0, 2.0])
    assert session.mean(values, np.array([1, 1, 2, 2], np.int32)).parts[1] == (0, 1)
    each = session.mean(values, np.arange(4, dtype=np.int32))
    assert len(each.parts) == 1


def test_rounds_with_pauses_are_the_blocks() -> None:
    """Visits of a round agree, and rounds do not: blocks of two visits would not know."""
    rounds = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 8)
    stretch = np.repeat(np.arange(6), 8)
    found = session.mean(rounds, np.arange(48, dtype=np.int32), stretch)
    assert found.value == 3.5
    assert found.parts == ((pytest.approx(3.5 / 6), 5.0),)
    few = session.mean(rounds, np.arange(48, dtype=np.int32), stretch // 2)
    assert few == session.mean(rounds, np.arange(48, dtype=np.int32))


def test_rounds_of_a_spread_session_begin_behind_its_pauses() -> None:
    visits = Visits()
    a, b = visits.row("a"), visits.row("b")
    for number in range(4):
        visits.add(a, 1, 60_000 * number, [10, 10]).add(b, 1, 60_000 * number + 2000, [10, 10])
    spread = {"settings": {"spread_s": 240.0, "rounds": 4}}
    one = of(visits.bundle(**spread), a)
    assert one is not None
    assert one.stretch is not None
    assert one.stretch.tolist() == [0, 1, 2, 3]
    part = one.part(np.array([1, 3])).stretch
    assert part is not None
    assert part.tolist() == [1, 3]
    other = of(visits.bundle(settings={"spread_s": 0.0, "rounds": 4}), a)
    assert other is not None
    assert other.stretch is None


def test_degrees_of_freedom_of_a_sum() -> None:
    total, df = session.satterthwaite(((2.0, 4.0), (1.0, 9.0), (0.0, 1.0)))
    assert (total, df) == pytest.approx((3, 9 / (4 / 4 + 1 / 9)))
    assert session.satterthwaite(((0.0, 4.0), (0.0, 9.0))) == (0, 4)


def test_the_latency_is_that_at_the_mean_speed() -> None:
    """Blocks of y - x; back at the mean x; the error of a subtracted cost in squares."""
    rng = np.random.default_rng(1)
    x = rng.normal(0.5, 0.05, 30)
    y = 8 + x + rng.normal(0, 0.01, 30)
    cost = line(9.0, 1.0)
    one = made((y + 0.1).tolist(), x=x, less=y, fixed_cost=cost, share=0.005)
    found = session.latency(one, 0.9)
    z = session.pseudo_values(y - x)
    average = session.mean(z, one.process)
    variance, df = session.satterthwaite((*average.parts, (0.005**2, 29)))
    reach = stats.t.ppf(0.95, df) * math.sqrt(variance)
    middle = math.exp(average.value + x.mean())
    assert found.value == pytest.approx(middle)
    assert found.interval.low == pytest.approx(middle * math.exp(-reach))
    assert found.interval.high == pytest.approx(middle * math.exp(reach))
    assert (found.interval.level, found.scope, found.runs) == (0.9, "within this session", 1)
    assert (found.between_variance, found.within_variance, found.spread) == (None, None, 0)


def test_runs_have_latencies_of_their_own_visits() -> None:
    one = made([1.0, 2.0, 1.2, 2.4, 1.1], run=[1, 2, 1, 2, 1], x=np.full(5, 0.25))
    found = session.latency_of_runs(one, 0.9)
    assert sorted(found) == [1, 2]
    first = found[1]
    assert first.value == pytest.approx(math.exp(1.1))
    reach = stats.t.ppf(0.95, 2) * 0.1 / math.sqrt(3)
    assert first.interval.high == pytest.approx(math.exp(1.1 + reach))
    assert (first.tests, first.share) == (3, 0.6)
    logs = np.log([found[1].value, found[2].value])
    assert session.latency(one).spread == pytest.approx(np.std(logs, ddof=1))
    assert session.latency(one).runs == 2
    lone = session.latency_of_runs(made([1.0, 2.0], run=[1, 2]))
    assert lone[1].interval.high == math.inf
    assert lone[1].interval.low == 0


def test_where_and_when_a_session_took_place() -> None:
    visits = Visits(
        environment={"cpu_model": "X", "boot_id": "b1", "load": [1.0], "build": {"a": 1}}
    )
    a = visits.row("a")
    visits.add(a, 1, 0, [10]).add(a, 1, 50, [10])
    bundle = visits.bundle()
    moments = session.moments_of(bundle)
    assert moments is not None
    occasion = moments.occasion
    assert occasion.machine == (
        ("build", "{'a': 1}"),
        ("cpu_model", "X"),
        ("target", "linux"),
        ("tool", ""),
    )
    assert (occasion.boot, occasion.began) == ("b1", datetime(2026, 11, 1, tzinfo=UTC))


def test_an_exact_clock_or_no_axis_has_no_moments() -> None:
    visits = Visits()
    a = visits.row("a", clock=Clock("icount", "instructions", 1e9, exact=True))
    proof = visits.row("b", "proof")
    visits.add(a, 1, 0, [10]).add(a, 1, 50, [10]).add(proof, 1, 90, [5])
    assert session.moments_of(visits.bundle()) is None
    other = Visits()
    b = other.row("b", clock=KHZ)
    other.add(b, 1, 0, [10]).add(b, 1, 50, [10])
    assert session.moments_of(other.bundle(ordered=False)) is None
    assert session.moments_of(other.bundle()) is not None


def test_moments_carry_the_reference() -> None:
    visits = Visits()
    floor, a = visits.row("floor.alu"), visits.row("a")
    visits.add(floor, 1, 0, [10]).add(a, 1, 20, [30]).add(floor, 1, 60, [20]).add(a, 1, 90, [50])
    found = of(visits.bundle(), a)
    assert found is not None
    assert found.reference is not None
    assert found.reference.zero == {"floor.alu": pytest.approx(math.log(200) / 2)}
    assert found.x[0] < 0 < found.x[1]


def test_estimates_of_a_session() -> None:
    """Latency over the session, base and overall over runs with the same cost subtracted."""
    rng = np.random.default_rng(2)
    visits = Visits()
    a, b = visits.row("a"), visits.row("b", "direct")
    now = 0
    for number in range(40):
        run = 1 + number % 2
        values = [round(50_000 + 9000 * n * (1 + 0.001 * rng.normal())) for n in (10, 20, 30)]
        visits.add(a, run, now, values, [10, 20, 30])
        now += sum(values) + 10
        single = rng.normal(7000, 20, 5).astype(int).tolist()
        visits.add(b, run, now, single)
        now += sum(single) + 10
    first, second = estimates(visits.bundle())
    (one,) = first.sessions
    assert first.fixed_cost == one.fixed_cost
    assert one.has_fixed_cost
    assert first.latency == session.latency(one)
    assert [run.latency for run in first.runs] == list(session.latency_of_runs(one).values())
    for level in (first.latency, first.base, first.overall):
        assert level is not None
        assert level.value == pytest.approx(9000, rel=0.002)
    assert second.latency == session.latency(second.sessions[0])
    assert second.latency.value == pytest.approx(7000, rel=0.002)
    assert second.tails is not None


@pytest.mark.parametrize("name", ["aa1", "aa2"])
def test_visits_are_steady_although_the_core_wanders(name: str) -> None:
    """The core of these sessions wandered by percents in seconds, and nothing else changed."""
    found = [e for e in estimates(recorded(name)) if e.steady is not None]
    assert len(found) > 140
    assert all(e.steady.of == "visits" for e in found if e.steady)
    flat = sum(e.steadiness == "flat" for e in found)
    of_tests = sum(steady.assess(np.exp(e.sessions[0].whole)).shape == "flat" for e in found)
    assert of_tests < 0.1 * len(found) < 0.9 * len(found) < flat


def test_a_circle_that_warms_up_says_so_on_a_core_that_wanders() -> None:
    made, clock = Visits(), Clock("tsc", "ticks", 1e9)
    row, floor = made.row("a.b", clock=clock), made.row("floor.alu", clock=clock)
    rng = np.random.default_rng(3)
    for visit in range(40):
        speed = 1 + 0.05 * np.sin(visit / 20)
        for one, turn in ((row, 1000 * (1.03 if visit < 15 else 1.0)), (floor, 24.0)):
            values = [turn * turns * speed * rng.normal(1, 0.001) for turns in (100, 400, 700)]
            made.add(one, 1, 10**8 * (2 * visit + one), values, turns=[100, 400, 700])
    found = {e.contract.key: e.steadiness for e in estimates(made.bundle())}
    assert found == {"a.b": "warm-up", "floor.alu": "flat"}


def test_no_session_gives_the_latency_of_runs() -> None:
    visits = Visits()
    a = visits.row("a")
    for number in range(8):
        visits.add(a, 1 + number % 2, 1000 * number, [100 + number] * 30)
    (found,) = estimates(visits.bundle(ordered=False))
    assert (found.sessions, found.latency) == ((), found.base)
    assert found.latency is not None
    assert found.latency.scope == "between runs"


def test_moments_without_a_reference_leave_x_at_zero() -> None:
    occasion = Occasion((("a", "b"),), "", None)
    visits = Visits()
    a = visits.row("a")
    bundle = visits.add(a, 1, 0, [10]).add(a, 1, 90, [20]).bundle()
    moments = Moments(occasion, np.array([0.0, 1.0]), None)
    found = session.session(bundle.samples, np.arange(2), moments)
    assert found is not None
    assert (found.occasion, found.x.tolist()) == (occasion, [0, 0])
