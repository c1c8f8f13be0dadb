# SPDX-License-Identifier: BSD-2-Clause
"""The statistics of a comparison."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttost_ind

from cyclometer.compare import statistics
from cyclometer.compare.statistics import Change
from cyclometer.estimate.interval import FloatArray, Interval, critical_value

BEFORE, AFTER = [100.0, 101, 99, 100.5], [104.0, 103, 105, 104.5, 103.5]


def runs(mean: float, relative_sd: float, count: int, seed: int) -> FloatArray:
    sample: FloatArray = mean * np.exp(np.random.default_rng(seed).normal(0, relative_sd, count))
    return sample


def a_change(log_ratio: float, half_width: float, df: float = 8.0, level: float = 0.95) -> Change:
    """A change with this interval, and the p that belongs to it."""
    error = half_width / critical_value(level, df)
    p = float(2 * stats.t.sf(abs(log_ratio) / error, df)) if error else float(log_ratio == 0)
    return Change(
        log_ratio, error, df, Interval(log_ratio - half_width, log_ratio + half_width, level), p
    )


def test_change_is_welchs_comparison_of_logs() -> None:
    row = statistics.change(BEFORE, AFTER, level=0.9)
    oracle = stats.ttest_ind(np.log(AFTER), np.log(BEFORE), equal_var=False)
    interval = oracle.confidence_interval(0.9)
    assert row.p == pytest.approx(oracle.pvalue)
    assert row.df == pytest.approx(oracle.df)
    assert (row.interval.low, row.interval.high) == pytest.approx(
        (math.expm1(interval.low), math.expm1(interval.high))
    )
    assert row.fraction == pytest.approx(stats.gmean(AFTER) / stats.gmean(BEFORE) - 1)
    assert row.interval.level == 0.9
    assert statistics.change(BEFORE, AFTER).interval.level == 0.95


def test_change_is_relative_to_before() -> None:
    """The report on mtime: 1 306 to 910 is -30.32 %, not the -43.51 % of the other denominator."""
    assert round(100 * statistics.change([1306.0] * 2, [910.0] * 2).fraction, 2) == -30.32


@pytest.mark.parametrize(
    ("before", "after"), [([100.0], [150.0]), ([100.0], AFTER), (BEFORE, [150.0])]
)
def test_one_run_a_side_is_never_significant(before: list[float], after: list[float]) -> None:
    row = statistics.change(before, after)
    assert (row.p, row.df, row.interval) == (1.0, 0.0, Interval(-1.0, math.inf, 0.95))
    decision = statistics.decide(row, (len(before), len(after)))
    assert (decision.verdict, decision.minimum_detectable, decision.more) == (
        "undecided",
        math.inf,
        None,
    )


def test_two_runs_a_side_are_enough_for_an_interval() -> None:
    row = statistics.change([100.0, 101.0], [120.0, 121.0])
    assert row.df == pytest.approx(2, abs=0.1)
    assert 0.1 < row.interval.low < row.fraction < row.interval.high < 0.3


def test_runs_without_spread_are_as_sure_as_a_relabelling_of_them() -> None:
    same, other = (
        statistics.change([10.0] * 3, [10.0] * 3),
        statistics.change([10.0] * 3, [10.2] * 3),
    )
    assert (same.p, same.df, same.standard_error) == (1.0, 4, 0.0)
    assert statistics.change([10.0] * 2, [11.0] * 4).p == pytest.approx(2 / 15)
    assert statistics.change([10.0] * 4, [11.0] * 2).p == pytest.approx(2 / 15)
    # of the 20 ways to part six runs, two part these so well
    assert other.p == pytest.approx(2 / 20)
    assert statistics.decide(same, (3, 3)).verdict == "equivalent"
    assert statistics.decide(other, (3, 3)).verdict == "undecided"
    # on the very edge
    assert statistics.decide(a_change(math.log1p(0.01), 0.0), (3, 3)).verdict != "equivalent"


def test_a_clock_with_steps_lends_its_rounding_to_runs_without_spread() -> None:
    stepped = statistics.change([368.0] * 3, [376.0] * 3, resolution=1.0)
    assert stepped.standard_error == pytest.approx((2 / 3 / 12) ** 0.5 / 372, rel=1e-3)
    assert statistics.decide(stepped, (3, 3)).verdict == "regressed"
    coarse = statistics.change([368.0] * 3, [376.0] * 6, resolution=4.0)
    variance = [16 / 12 / value**2 / runs for value, runs in ((368, 3), (376, 6))]
    assert coarse.standard_error == pytest.approx(math.sqrt(sum(variance)))
    wide = statistics.change([300.0, 368.0, 400.0], [376.0, 200.0, 500.0], resolution=1.0)
    assert wide == statistics.change([300.0, 368.0, 400.0], [376.0, 200.0, 500.0])


@pytest.mark.parametrize(("before", "after"), [([1.0, 0.0], [1.0, 2.0]), ([1.0, 2.0], [1.0, -2.0])])
def test_an_estimate_without_a_ratio_is_refused(before: list[float], after: list[float]) -> None:
    with pytest.raises(
        ValueError, match=f"an estimate of {min(*before, *after):g}, which has no ratio"
    ):
        statistics.change(before, after)


@given(st.lists(st.floats(0, 1), max_size=30))
def test_adjusted_p_values_are_scipys(p: list[float]) -> None:
    oracle = stats.false_discovery_control(p) if p else np.array([])
    assert statistics.adjust(p).tolist() == pytest.approx(oracle.tolist())


def test_adjustment_by_hand() -> None:
    assert statistics.adjust([0.01, 0.04, 0.03, 0.5]).tolist() == pytest.approx(
        [0.04, 0.16 / 3, 0.16 / 3, 0.5]
    )


EDGE = math.log1p(0.01)


@pytest.mark.parametrize(
    ("log_ratio", "half_width", "verdict"),
    [
        (0.0, 0.5 * EDGE, "equivalent"),
        (0.5 * EDGE, 0.49 * EDGE, "equivalent"),
        (-0.5 * EDGE, 0.49 * EDGE, "equivalent"),
        (0.5 * EDGE, 0.51 * EDGE, "undecided"),
        (-0.5 * EDGE, 0.51 * EDGE, "undecided"),
        (0.9 * EDGE, 0.2 * EDGE, "undecided"),
        (1.1 * EDGE, 0.2 * EDGE, "regressed"),
        (-1.1 * EDGE, 0.2 * EDGE, "improved"),
        (5 * EDGE, 4.9 * EDGE, "regressed"),
        (-5 * EDGE, 4.9 * EDGE, "improved"),
        (5 * EDGE, 5.1 * EDGE, "undecided"),
        (-5 * EDGE, 5.1 * EDGE, "undecided"),
        (0.0, 3 * EDGE, "undecided"),
    ],
)
def test_four_verdicts(log_ratio: float, half_width: float, verdict: str) -> None:
    decision = statistics.decide(a_change(log_ratio, half_width), (5, 5))
    assert decision.verdict == verdict
    assert (decision.more == 0) == (verdict != "undecided")


def test_bounds_of_a_verdict() -> None:
    """Touching the margin is not inside it; p of alpha is significant; a change of the margin is
    not beyond it.
    """
    for centre in (-0.5 * EDGE, 0.0, 0.5 * EDGE):
        assert (
            statistics.decide(a_change(centre, EDGE - abs(centre)), (5, 5)).verdict == "undecided"
        )
    for side, verdict in ((2 * EDGE, "regressed"), (-2 * EDGE, "improved")):
        row = a_change(side, 1.5 * EDGE)
        alpha = 1 - row.log_interval.level
        assert statistics.decide(row, (5, 5), adjusted_p=alpha).verdict == verdict
        assert statistics.decide(row, (5, 5), adjusted_p=alpha + 1e-9).verdict == "undecided"
    for side in (-EDGE, EDGE):
        assert statistics.decide(a_change(side, 0.5 * EDGE), (5, 5)).verdict == "undecided"


def test_margin_is_declared() -> None:
    row = a_change(0.02, 0.01)
    assert statistics.decide(row, (5, 5)).verdict == "regressed"
    assert statistics.decide(row, (5, 5), margin=0.05).verdict == "equivalent"
    assert statistics.decide(row, (5, 5), margin=0.0).verdict == "regressed"
    assert statistics.decide(a_change(0.0, 0.001), (5, 5), margin=0.0).verdict == "undecided"
    with pytest.raises(ValueError, match="a fraction"):
        statistics.decide(row, (5, 5), margin=-0.01)


@pytest.mark.parametrize(("shift", "margin"), [(1.0, 0.01), (1.002, 0.01), (0.995, 0.015)])
def test_equivalence_is_two_one_sided_tests(shift: float, margin: float) -> None:
    """Schuirmann (1987), by another's implementation; each at half of what the interval leaves
    out.
    """
    edge, verdicts = math.log1p(margin), set()
    for seed in range(60):
        before, after = runs(100, 0.006, 6, seed), runs(100 * shift, 0.008, 9, 100 + seed)
        verdict = statistics.decide(statistics.change(before, after), (6, 9), margin).verdict
        oracle = ttost_ind(np.log(after), np.log(before), -edge, edge, usevar="unequal")[0]
        assert (verdict == "equivalent") == (oracle < 0.025)
        verdicts.add(verdict)
    assert {"equivalent", "undecided"} <= verdicts


def power(effect: float, relative_sd: float, count: int) -> float:
    """How often a true change of this fraction is found."""
    found = 0
    for seed in range(1500):
        rng = np.random.default_rng(seed)
        before, after = (
            np.exp(rng.normal(at, relative_sd, count)) for at in (0.0, math.log1p(effect))
        )
        found += (
            statistics.decide(statistics.change(before, after), (count, count)).verdict
            == "regressed"
        )
    return found / 1500


@pytest.mark.parametrize(("relative_sd", "count"), [(0.02, 5), (0.002, 5)])
def test_minimum_detectable_effect_is_found_four_times_in_five(
    relative_sd: float, count: int
) -> None:
    """Once the noise limits it and once the margin does; the promise is 0.8 at the expected error
    of a side.
    """
    row = a_change(0.0, 1.0, df=2 * count - 2)
    error = relative_sd * math.sqrt(2 / count)
    reach = critical_value(0.95, row.df) * error
    row = Change(0.0, error, row.df, Interval(-reach, reach, 0.95), 1.0)
    effect = statistics.decide(row, (count, count)).minimum_detectable
    assert power(effect, relative_sd, count) == pytest.approx(0.8, abs=0.05)


def test_minimum_detectable_effect_by_hand() -> None:
    row = a_change(0.0, 0.03, df=8)
    beyond = float(stats.t.ppf(0.8, 8)) * row.standard_error
    assert statistics.decide(row, (5, 5)).minimum_detectable == pytest.approx(
        math.expm1(0.03 + beyond)
    )
    narrow = a_change(0.0, 0.001, df=8)
    beyond = float(stats.t.ppf(0.8, 8)) * narrow.standard_error
    assert statistics.decide(narrow, (5, 5)).minimum_detectable == pytest.approx(
        math.expm1(EDGE + beyond)
    )


def clear(row: Change, now: tuple[int, int], added: int) -> float:
    """What an estimate needs to stay beyond its half-width four times in five, with so many more
    runs per side and the spread of a run unchanged.
    """
    n1, n2 = now[0] + added, now[1] + added
    error = row.standard_error * math.sqrt((1 / n1 + 1 / n2) / (1 / now[0] + 1 / now[1]))
    df = row.df * (n1 + n2 - 2) / (sum(now) - 2)
    power = 0.9 if abs(row.log_ratio) < EDGE else 0.8
    return float(stats.t.ppf(0.975, df) + stats.t.ppf(power, df)) * error


@pytest.mark.parametrize(
    ("log_ratio", "wide", "now", "target"),
    [
        (0.0, 0.03, (5, 5), EDGE),
        (0.004, 0.03, (3, 6), EDGE - 0.004),
        (-0.02, 0.03, (5, 4), 0.02),
        (-0.0255, 0.03, (2, 7), 0.0255),
        (-0.0236, 0.03, (2, 7), 0.0236),
    ],
)
def test_runs_still_needed(
    log_ratio: float, wide: float, now: tuple[int, int], target: float
) -> None:
    row = a_change(log_ratio, wide, df=sum(now) - 2)
    more = statistics.decide(row, now).more
    assert more is not None
    assert clear(row, now, more) < target <= clear(row, now, more - 1)


@pytest.mark.parametrize("truth", [0.0, 0.004, 0.018])
def test_so_many_runs_decide_the_row_three_times_in_four(truth: float) -> None:
    """The number asked for if the estimate is what the truth is."""
    rng, spread, now = np.random.default_rng(5), 0.012, 4
    error = spread * math.sqrt(2 / now)
    row = a_change(math.log1p(truth), float(stats.t.ppf(0.975, 6)) * error, df=6)
    more = statistics.decide(row, (now, now)).more
    assert more
    decided = 0
    for _ in range(400):
        sides = np.exp(spread * rng.standard_normal((2, now + more)))
        found = statistics.change(sides[0], sides[1] * (1 + truth))
        decided += statistics.decide(found, (now + more, now + more)).verdict != "undecided"
    assert decided / 400 >= 0.75


def test_runs_needed_are_out_of_reach_at_the_very_edge() -> None:
    assert statistics.decide(a_change(EDGE, 0.03), (5, 5)).more == 64
    assert statistics.decide(a_change(EDGE * 0.9999, 0.03), (5, 5)).more is None


def test_last_reachable_number_of_runs() -> None:
    row = a_change(0.0, 0.3, df=8)
    last = clear(row, (5, 5), 1000)
    reachable = statistics.decide(row, (5, 5), margin=math.expm1(last * (1 + 1e-9)))
    assert reachable.more == 1000
    assert statistics.decide(row, (5, 5), margin=math.expm1(last * (1 - 1e-6))).more is None


def needed_by_search(
    log_ratio: float,
    variances: tuple[float, float],
    runs: tuple[int, int],
    level: float,
    margin: float,
) -> tuple[int, float] | None:
    """`plan` by trying one number of runs after another, with Welch's degrees written out."""
    edge, size = math.log1p(margin), abs(log_ratio)
    for added in range(1, 1001):
        sizes = [count + added for count in runs]
        parts = [variance / count for variance, count in zip(variances, sizes, strict=True)]
        error = math.sqrt(sum(parts))
        df = sum(parts) ** 2 / sum(
            part**2 / (count - 1) for part, count in zip(parts, sizes, strict=True)
        )
        half = float(stats.t.ppf((1 + level) / 2, df)) * error
        if half < (edge - size if size < edge else size):
            return added, math.expm1(max(half, edge) + float(stats.t.ppf(0.8, df)) * error)
    return None


@pytest.mark.parametrize("log_ratio", [0.0, 0.004, -0.004, 0.05, -0.2, EDGE])
@pytest.mark.parametrize("variances", [(1e-4, 1e-4), (4e-4, 1e-6), (1e-6, 9e-4), (0.04, 0.01)])
@pytest.mark.parametrize(
    ("runs", "level", "margin"), [((1, 1), 0.95, 0.01), ((1, 5), 0.99, 0.01), ((4, 1), 0.9, 0.05)]
)
def test_a_plan_is_the_least_that_decides(
    log_ratio: float,
    variances: tuple[float, float],
    runs: tuple[int, int],
    level: float,
    margin: float,
) -> None:
    found = statistics.plan(log_ratio, variances, runs, level, margin)
    expected = needed_by_search(log_ratio, variances, runs, level, margin)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert (found.more, found.minimum_detectable) == pytest.approx(expected)
    if (level, margin) == (0.95, 0.01):
        assert statistics.plan(log_ratio, variances, runs) == found


def test_last_plan_in_reach() -> None:
    """A target just above the half-width of the last number of runs is reached with it, one just
    below is not.
    """
    runs, spread = 1 + 1000, 0.3
    last = float(stats.t.ppf(0.975, 2 * runs - 2)) * spread * math.sqrt(2 / runs)
    reached = statistics.plan(
        0.0, (spread**2, spread**2), (1, 1), margin=math.expm1(last * (1 + 1e-9))
    )
    assert reached is not None
    assert reached.more == 1000
    assert (
        statistics.plan(0.0, (spread**2, spread**2), (1, 1), margin=math.expm1(last * (1 - 1e-6)))
        is None
    )


def test_a_plan_without_spread_takes_one_more_run() -> None:
    found = statistics.plan(0.05, (0.0, 0.0), (1, 1))
    assert found is not None
    assert (found.more, found.minimum_detectable) == (1, pytest.approx(0.01))
    assert statistics.plan(0.0, (0.0, 1e-4), (1, 1)) is not None


def test_interval_within_two_single_runs_by_hand() -> None:
    """Distances to the ends, on logs, add in squares: the low end from before's high and after's
    low end.
    """
    before, after = Interval(90.0, 125.0, 0.9), Interval(180.0, 230.0, 0.9)
    found = statistics.within((100.0, before), (200.0, after))
    low = math.log(2) - math.hypot(math.log(0.9), math.log(1.25))
    high = math.log(2) + math.hypot(math.log(1.15), math.log(0.9))
    assert (found.low, found.high) == pytest.approx((math.expm1(low), math.expm1(high)))
    assert found.level == 0.9


def test_interval_within_runs_is_open_where_a_side_is() -> None:
    known, open_ended = Interval(90.0, 110.0, 0.95), Interval(-math.inf, math.inf, 0.95)
    for sides in ((known, open_ended), (open_ended, known)):
        found = statistics.within((100.0, sides[0]), (100.0, sides[1]))
        assert (found.low, found.high) == (-1.0, math.inf)
    to_zero = statistics.within((100.0, known), (100.0, Interval(0.0, 200.0, 0.95)))
    assert to_zero.low == -1.0
    assert to_zero.high == pytest.approx(math.expm1(math.hypot(math.log(2), math.log(0.9))))


@pytest.mark.parametrize(
    ("before", "after", "floor", "fraction", "verdict"),
    [
        ([100.0, 100.0], [100.0], 0.0, 0.0, "equivalent"),
        ([100.0], [101.0, 101.0], 0.0, 0.01, "regressed"),
        ([100.0], [99.0], 0.0, -0.01, "improved"),
        ([100.0], [101.0], 0.01, 0.01, "equivalent"),
        ([101.0], [100.0], 0.01, -1 / 101, "equivalent"),
        ([100.0], [99.0], 0.01, -0.01, "improved"),
        ([1000.0], [1105.0], 0.1, 0.105, "regressed"),
        ([1105.0], [1000.0], 0.1, -105 / 1105, "improved"),
        ([100.0], [102.0], 0.01, 0.02, "regressed"),
    ],
)
def test_exact_clocks_compare_exactly(
    before: list[float], after: list[float], floor: float, fraction: float, verdict: str
) -> None:
    found = statistics.decide_exact(before, after, floor)
    assert found[0] == pytest.approx(fraction)
    assert found[1] == verdict
    if not floor:
        assert statistics.decide_exact(before, after) == statistics.decide_exact(before, after, 0.0)


@pytest.mark.parametrize(
    ("before", "after", "name"), [([1.0, 3], [1.0], "before"), ([1.0], [2.0, 1, 3], "after")]
)
def test_runs_that_differ_are_not_exact(before: list[float], after: list[float], name: str) -> None:
    with pytest.raises(ValueError, match=rf"runs of {name} differ \(1 to 3\)"):
        statistics.decide_exact(before, after)


def test_same_code_is_seldom_called_changed() -> None:
    """A/A: of 2000 pairs of five runs with a spread of 3 %, at most 2.5 % each way regress or
    improve.
    """
    verdicts = []
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        row = statistics.change(np.exp(rng.normal(0, 0.03, 5)), np.exp(rng.normal(0, 0.03, 5)))
        verdicts.append(statistics.decide(row, (5, 5)).verdict)
    # 50 expected each way under Welch; four standard errors are 28.
    assert 22 <= verdicts.count("regressed") <= 78
    assert 22 <= verdicts.count("improved") <= 78


positive = st.lists(st.floats(50, 200), min_size=2, max_size=8)


@given(positive, positive)
def test_swapping_the_sides_turns_the_sign(before: list[float], after: list[float]) -> None:
    forth, back = statistics.change(before, after), statistics.change(after, before)
    assert forth.log_ratio == pytest.approx(-back.log_ratio)
    assert forth.p == pytest.approx(back.p)
    opposite = {"regressed": "improved", "improved": "regressed"}
    there = statistics.decide(forth, (len(before), len(after))).verdict
    assert statistics.decide(back, (len(after), len(before))).verdict == opposite.get(there, there)


@given(positive, positive, st.sampled_from([0.25, 64.0]))
def test_the_unit_does_not_matter(before: list[float], after: list[float], factor: float) -> None:
    one = statistics.change(before, after)
    other = statistics.change([factor * x for x in before], [factor * x for x in after])
    assert other.log_ratio == pytest.approx(one.log_ratio, abs=1e-12)
    assert other.standard_error == pytest.approx(one.standard_error, rel=1e-6, abs=1e-12)


def test_a_row_of_which_nothing_is_known_is_undecided_and_overflows_nothing() -> None:
    row = Change(0.0, 1e4, 1.0, Interval(-1e5, 1e5, 0.95), 1.0)
    found = statistics.decide(row, (1, 1), 0.01, 1.0)
    assert (found.verdict, found.minimum_detectable) == ("undecided", math.inf)
    assert row.interval.high == math.inf
