# SPDX-License-Identifier: BSD-2-Clause
"""The verdict on a pair, on a suite, and what a gate makes of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from cyclometer import errors
from cyclometer.bundle.model import Problem
from cyclometer.compare import statistics
from cyclometer.compare.exact import LAYOUT_FLOORS
from cyclometer.compare.finding import Finding, Options
from cyclometer.compare.pairing import Side, side
from cyclometer.compare.verdicts import Comparison, compare, compare_code, gate_code
from cyclometer.estimate.interval import Interval
from cyclometer.report import cells
from tests.compare.bundles import ICOUNT, RTL, Spec, bundle, measured, one_side
from tests.estimate.visited import Visits

QUIET = [1000.1, 1001.3, 999.2, 1000.7, 1000.2]


def times(factor: float) -> list[float]:
    return [factor * value for value in QUIET]


def judged(
    before: list[float], after: list[float], options: Options | None = None, **spec: Any
) -> Finding:
    one, other = (one_side(Spec("a", runs, **spec)) for runs in (before, after))
    return compare(one, other, options).findings[0]


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.05, "regressed"), (0.95, "improved"), (1.001, "equivalent"), (1.0098, "undecided")],
)
def test_runs_decide_against_the_margin(factor: float, verdict: str) -> None:
    found = judged(QUIET, times(factor))
    assert found.verdict == verdict
    assert found.change == pytest.approx(factor - 1)
    assert found.interval is not None
    assert found.interval.contains(factor - 1)
    assert found.scope == "between runs"


@pytest.mark.parametrize(("after", "verdict"), [(1.5, "equivalent"), (5.9, "regressed")])
def test_an_amount_is_a_margin_for_what_takes_few_cycles(after: float, verdict: str) -> None:
    """3 to 4.5 cycles are 50 %, and within 2 cycles."""
    few = [3.0, 3.01, 2.99, 3.0]
    options = Options(margin=0.01, amounts={"ticks": 2.0})
    there = [x + after for x in few]
    assert judged(few, there, options).verdict == verdict
    assert judged(few, there, Options(margin=0.01, amounts={"ns": 2.0})).verdict == "regressed"
    back = judged(there, few, options).verdict
    assert back == ("equivalent" if verdict == "equivalent" else "improved")


@pytest.mark.parametrize(("count", "verdict"), [(102.0, "equivalent"), (103.0, "over margin")])
def test_an_amount_holds_for_exact_counts(count: float, verdict: str) -> None:
    options = Options(margin=0.0, exact_margin=0.0, amounts={"instructions": 2.0})
    assert judged([100.0], [count], options, clock=ICOUNT).verdict == verdict


def test_change_is_a_fraction_of_before() -> None:
    found = judged([4540.81] * 2, [3237.36] * 2)
    assert found.change == pytest.approx(-0.2871, abs=5e-5)


def test_more_is_better_for_rates() -> None:
    assert judged(QUIET, times(1.05), row={"better": "higher"}).verdict == "improved"
    assert judged(QUIET, times(0.95), row={"better": "higher"}).verdict == "regressed"
    assert judged([100.0], [101.0], clock=RTL, row={"better": "higher"}).verdict == "equivalent"
    assert judged([100.0], [120.0], clock=RTL, row={"better": "higher"}).verdict == "improved"


def test_an_undecided_row_says_what_would_decide_it() -> None:
    found = judged([1000, 1010, 990, 1005], [1010, 1022, 1000, 1015])
    assert found.verdict == "undecided"
    assert found.more is not None
    assert f"about {found.more} more runs per side" in found.reason
    assert found.minimum_detectable is not None
    assert 0.01 < found.minimum_detectable < 0.05


@pytest.mark.parametrize("runs", [(1, 1), (1, 5), (5, 1)])
@pytest.mark.parametrize("after", [1.0, 3.0])
def test_one_run_decides_nothing_however_far_it_lies(runs: tuple[int, int], after: float) -> None:
    found = judged(times(1)[: runs[0]], times(after)[: runs[1]], summary={"sd": 0.1, "n": 1000})
    assert found.verdict == "undecided"
    assert found.reason.startswith("one run of ")
    assert found.more is not None
    assert found.more >= 1
    assert found.minimum_detectable is not None
    assert found.minimum_detectable >= 0.0099
    assert found.scope == "these runs"


def test_one_run_of_printed_statistics_has_an_interval_within_these_runs() -> None:
    """Change and interval of two means: Fieller-like limits, here held against a simulation of the
    two means.
    """
    found = judged([1000.0], [900.0], summary={"sd": 50.0, "n": 25})
    assert found.interval is not None
    rng = np.random.default_rng(5)
    before, after = (
        mean + 10 * stats.t.rvs(24, size=200_000, random_state=rng) for mean in (1000, 900)
    )
    low, high = np.quantile(after / before - 1, (0.025, 0.975))
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=0.001)


def test_a_mean_alone_has_no_interval() -> None:
    found = judged([1000.0], [900.0])
    assert (found.verdict, found.interval, found.more) == ("undecided", None, 1)
    assert "spread unknown" in found.reason


def test_a_plan_for_one_run_a_side_holds_when_it_is_carried_out() -> None:
    """As many more runs as the reason asks for decide the row about as often as not, or better."""
    rng = np.random.default_rng(3)
    found = judged([1000.0], [1030.0], summary={"sd": 20.0, "n": 1})
    assert found.more == 1
    found = judged([1000.0], [1030.0], summary={"sd": 100.0, "n": 16})
    assert found.more is not None
    runs = 1 + found.more
    decided = 0
    for _ in range(200):
        draws = [list(mean * np.exp(0.025 * rng.standard_normal(runs))) for mean in (1000, 1030)]
        decided += judged(draws[0], draws[1]).verdict == "regressed"
    assert decided >= 70


def test_exact_clocks_compare_exactly() -> None:
    for after, verdict, word in (
        ([1014], "changed", "+14 instructions"),
        ([999] * 2, "changed", "-1 instructions"),
        ([1000.25], "changed", "+0.25 instructions"),
        ([1000], "equivalent", "same count"),
    ):
        counted = judged([1000] * 2, after, clock=ICOUNT)
        assert (counted.verdict, counted.word) == (verdict, word)
    assert judged([1000], [1000 + 1e-11], clock=ICOUNT).verdict == "equivalent"
    found = judged([1000], [1004], Options(layout_floor=0.005), clock=ICOUNT)
    assert (found.verdict, found.change, found.scope) == ("equivalent", 0.004, "exact")


def test_a_margin_holds_for_counts_where_one_is_given() -> None:
    given = Options(exact_margin=0.1)
    within, beyond = (judged([1000], [n], given, clock=ICOUNT) for n in (1068, 1101))
    assert (within.verdict, beyond.verdict) == ("equivalent", "over margin")
    assert (within.word, beyond.word) == ("+68 instructions", "+101 instructions")
    assert judged([1101], [1000], given, clock=ICOUNT).verdict == "changed"
    assert judged([1000], [1001], Options(exact_margin=0.0), clock=ICOUNT).verdict == "over margin"
    assert within.reason == "exact clock, margin 10 %"
    # without one a single instruction shows
    assert judged([1000], [1001], Options(margin=0.1), clock=ICOUNT).verdict == "changed"


def test_a_margin_holds_for_exact_cycles_too() -> None:
    moved = timed("accumulated", 4, 1000), timed("accumulated", 4, 1150)
    for margin, verdict in ((None, "regressed"), (0.05, "regressed"), (0.2, "equivalent")):
        found = compare(*moved, Options(exact_margin=margin)).findings[0]
        assert (found.verdict, found.word) == (verdict, verdict)


def timed(method: str, tests: int, cycles: float) -> Side:
    """A circle on the simulated core that was timed so, in one run of so many tests or passes."""
    one = one_side(Spec("a", [cycles], clock=RTL))
    estimate = one.circles[0].estimate
    runs = tuple(replace(run, overall=replace(run.overall, tests=tests)) for run in estimate.runs)
    return replace(
        one,
        circles=(replace(one.circles[0], estimate=replace(estimate, method=method, runs=runs)),),
    )


@pytest.mark.parametrize(
    ("method", "tests", "floor"),
    [
        ("accumulated", 4, "turns"),
        ("direct", 10, "passes"),
        ("direct", 9, "few passes"),
        ("reported", 1, "passes"),
    ],
)
def test_exact_cycles_have_the_layout_floor_that_was_measured(
    method: str, tests: int, floor: str
) -> None:
    share, before = LAYOUT_FLOORS[floor], timed(method, tests, 1000)
    for factor, verdict in (
        (0.9, "equivalent"),
        (1.1, "regressed"),
        (-0.9, "equivalent"),
        (-1.1, "improved"),
    ):
        cycles = 1000 * (1 + abs(factor) * share) ** math.copysign(1, factor)
        found = compare(before, timed(method, tests, cycles)).findings[0]
        assert found.verdict == verdict
        assert found.reason == f"exact clock, layout floor {100 * share:.2g} %"
    moved = compare(before, timed(method, tests, 1001), Options(layout_floor=0.0)).findings[0]
    assert moved.verdict == "regressed"


def test_the_side_with_few_passes_sets_the_floor() -> None:
    found = compare(timed("direct", 10, 1000), timed("direct", 4, 1200)).findings[0]
    assert (found.verdict, found.minimum_detectable) == ("equivalent", LAYOUT_FLOORS["few passes"])


def test_an_exact_clock_whose_runs_differ_is_judged_as_noisy() -> None:
    found = judged([1000, 1001, 1000], [1020, 1021, 1022], clock=ICOUNT)
    assert found.verdict == "changed"
    assert found.reason.startswith("the runs differ although the clock is exact")


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ([1000] * 5, [1050] * 5, "equivalent"),
        ([1000, 1001, 1000, 1000, 1001], [1050, 1051, 1050, 1050, 1051], "equivalent"),
        ([1050, 1051, 1050, 1050, 1051], [1000, 1001, 1000, 1000, 1001], "equivalent"),
        ([1000, 1001, 1000, 1000, 1001], [1200, 1201, 1200, 1200, 1201], "regressed"),
    ],
)
def test_boots_that_differ_by_a_cycle_do_not_lift_the_layout_floor(
    before: list[float], after: list[float], verdict: str
) -> None:
    found = judged(before, after, clock=RTL)
    assert found.verdict == verdict
    assert "layout floor" in found.reason


def test_two_states_of_a_boot_are_no_change() -> None:
    """Two boots per side, in either of two states: the split falls between the sides in one case of
    three.
    """

    def boots(key: str, instructions: float) -> Side:
        return one_side(Spec(key, [instructions] * 2, clock=ICOUNT))

    found = compare(boots("timer.timerfd", 3796), boots("timer.timerfd", 3799))
    assert found.findings[0].reason == "exact clock, boots of one image differ by up to 1 %"
    assert gate_code(found) == errors.PASS
    for key, after in (("pipe", 3799), ("timer.x", 3896)):
        sides, strict = (boots(key, 3796), boots(key, after)), Options(exact_margin=0.0)
        assert gate_code(compare(*sides)) == errors.PASS
        assert gate_code(compare(*sides, strict)) == errors.REGRESSED


def test_runs_that_agree_are_as_sure_as_a_relabelling_whatever_their_logarithms() -> None:
    assert statistics.change([5.0] * 3, [6.0] * 3).p == pytest.approx(0.1)
    assert statistics.change([26.5] * 5, [27.03] * 5).p == pytest.approx(2 / 252)


def test_one_step_of_a_clock_that_advances_by_many_ticks_is_hardly_a_change() -> None:
    """Five runs agree on 1040 ticks and five on 1066, by a clock that advances by 26, but for
    readings that are corrected by less: they are known to no better than half of that.
    """

    def stepped(middle: int) -> Side:
        made = Visits()
        row = made.row("a.b", "direct")
        for run in range(1, 6):
            made.add(row, run, 0, [middle + 26 * n for n in (0, 0, 0, -1, 1, 0, 2)] + [middle + 3])
        return side([made.bundle(ordered=False)])

    (found,) = compare(stepped(1040), stepped(1066)).findings
    assert found.change == pytest.approx(0.025)
    error = math.sqrt(26**2 / 12 * (1040**-2 + 1066**-2) / 5)
    p = 2 * stats.t.sf(math.log(1066 / 1040) / error, 8)
    assert found.p == pytest.approx(p, rel=0.05)
    assert found.p > 1e-4


def test_what_a_suite_would_find_is_found_four_times_in_five() -> None:
    """A change of the size that rows state, planted in one row of forty; the others stay."""
    rng, runs, spread, found = np.random.default_rng(6), 6, 0.006, 0
    for _ in range(100):
        logs = spread * rng.standard_normal((2, 40, runs))
        quiet = compare(*map(_rows, logs)).findings
        size = float(np.median([f.minimum_detectable or 0.0 for f in quiet]))
        logs[1, 0] += math.log1p(size)
        found += compare(*map(_rows, logs)).findings[0].verdict == "regressed"
    assert 0.7 <= found / 100 <= 0.92


def _rows(logs: np.ndarray) -> Side:
    return one_side(*(Spec(f"c{i}", list(1000.5 * np.exp(row))) for i, row in enumerate(logs)))


Layouts = dict[str, list[float]]  # image: latency in each boot of it


def over_layouts(before: Layouts, after: Layouts, options: Options | None = None) -> Finding:
    """A circle on the simulated core, one bundle per image."""
    bundles = (
        [bundle(Spec("a", runs, clock=RTL), image=image) for image, runs in layouts.items()]
        for layouts in (before, after)
    )
    return compare(*map(side, bundles), options).findings[0]


def test_layouts_are_judged_by_their_own_spread_and_not_by_the_floor() -> None:
    """A change of 5 % is a third of the floor, and ten times what these layouts differ by."""
    before = {"0": [1000.0], "4": [1004.0], "64": [996.0]}
    found = over_layouts(before, {"0": [1050.0], "4": [1056.0], "64": [1049.0]})
    assert (found.verdict, found.scope) == ("regressed", "between images")
    assert found.reason.startswith("3 against 3 images; beyond the margin")
    wide = over_layouts(before, {"0": [1000.0], "4": [1100.0], "64": [1050.0]})
    assert wide.verdict == "undecided"
    assert judged([1000.0], [1050.0], clock=RTL).verdict == "equivalent"


def test_another_boot_of_an_image_is_not_another_layout() -> None:
    once = over_layouts(
        {"0": [1000], "4": [1010], "64": [990]}, {"0": [1030], "4": [1020], "64": [1022]}
    )
    for boots in (2, 5):
        sides = (
            {"0": [1000.0], "4": [1010.0], "64": [990.0]},
            {"0": [1030.0], "4": [1020.0], "64": [1022.0]},
        )
        again = over_layouts(
            *({image: runs * boots for image, runs in of_side.items()} for of_side in sides)
        )
        assert (again.interval, again.p, again.verdict) == (once.interval, once.p, once.verdict)
    assert again.pair.before is not None
    assert len(again.pair.before.estimate.runs) == 3


def test_boots_of_an_image_that_differ_stay_apart() -> None:
    found = over_layouts({"0": [1000, 1004], "4": [1010, 1010]}, {"0": [1030], "4": [1020]})
    assert found.pair.before is not None
    assert [run.latency.value for run in found.pair.before.estimate.runs] == [1000, 1004, 1010]


def test_one_image_has_no_spread_however_often_it_was_booted() -> None:
    found = over_layouts({"0": [1000, 1000, 1000]}, {"0": [1030], "4": [1020], "64": [1022]})
    assert found.verdict == "undecided"
    assert found.reason.startswith("one image of before; needed: at least ")


@pytest.mark.parametrize(
    ("count", "after", "verdict"),
    [
        (3, 1000.0, "equivalent"),
        (3, 1030.0, "regressed"),
        (2, 1030.0, "equivalent"),
        (3, 1200.0, "regressed"),
        (3, 1005.0, "equivalent"),
    ],
)
def test_layouts_that_agree_on_either_side_need_no_floor(
    count: int, after: float, verdict: str
) -> None:
    """Three that agree show that the row has no layout effect above a cycle; with two the floor
    holds.
    """
    images = [str(n) for n in range(count)]
    found = over_layouts({i: [1000.0] for i in images}, {i: [after] for i in images})
    assert found.verdict == verdict
    assert ("layout floor" in found.reason) == (count < 3 or after in (1000.0, 1200.0))


def test_builds_whose_instructions_agree_compare_exactly() -> None:
    sides = (
        side([bundle(Spec("a", [count], clock=ICOUNT), image=image) for image in "xyz"])
        for count in (1000, 1001)
    )
    assert compare(*sides).findings[0].word == "+1 instructions"


def test_zeros_on_both_sides_have_not_changed() -> None:
    assert judged([0, 0], [0, 0, 0]).verdict == "equivalent"
    alone = judged([0], [0])
    assert (alone.verdict, alone.reason) == (
        "undecided",
        "0 on both sides, but one run of either side",
    )
    assert judged([0], [0, 0]).reason.endswith("one run of before")
    assert judged([0], [0], clock=ICOUNT).verdict == "equivalent"


@pytest.mark.parametrize(
    ("before", "after", "name"), [([0, 1], [1, 2], "before"), ([1, 2], [3, -1], "after")]
)
def test_a_latency_without_ratio_is_not_comparable(
    before: list[float], after: list[float], name: str
) -> None:
    found = judged(before, after)
    assert found.verdict == "not comparable"
    assert found.reason.startswith(f"the latency of {name} is ")


def test_the_suite_is_adjusted_as_scipy_does() -> None:
    rng = np.random.default_rng(11)
    before = [Spec(str(i), rng.normal(1000, 5, 4)) for i in range(20)]
    after = [Spec(str(i), rng.normal(1000 + 2 * i, 5, 5)) for i in range(20)]
    alone = Spec("alone", [1000.0])
    found = compare(one_side(*before, alone), one_side(*after, alone)).findings
    raw = [
        stats.ttest_ind(np.log(b.runs), np.log(a.runs), equal_var=False).pvalue
        for b, a in zip(before, after, strict=True)
    ]
    assert [f.p for f in found] == pytest.approx([*stats.false_discovery_control(raw), None])


def with_overall(one: Side, factor: float) -> Side:
    """The same side, its overall latencies times `factor`."""
    circle = one.circles[0]
    runs = tuple(
        replace(r, overall=replace(r.overall, value=factor * r.overall.value))
        for r in circle.estimate.runs
    )
    return replace(one, circles=(replace(circle, estimate=replace(circle.estimate, runs=runs)),))


def test_nothing_improves_whose_overall_latency_rises() -> None:
    """The lowest regime became cheaper, and is met in fewer tests."""
    before, after = one_side(Spec("a", QUIET)), one_side(Spec("a", times(0.9)))
    assert compare(before, after).findings[0].verdict == "improved"
    found = compare(before, with_overall(after, 1.5)).findings[0]
    assert found.verdict == "undecided"
    assert "but overall moved by +35.00 %" in found.reason


def test_overall_is_shown_and_its_disagreement_said() -> None:
    """The tests of `after` left the lowest regime more often: it stays, overall moves."""
    before = one_side(Spec("a", QUIET))
    found = compare(before, with_overall(before, 1.2)).findings[0]
    assert found.verdict == "undecided"
    assert found.reason == "the latency stays, but overall moved by +20.00 %"
    assert found.overall_change == pytest.approx(0.2)
    assert found.disagreement == "overall moved by +20.00 %"
    assert judged(QUIET, times(1.05)).disagreement == ""


def test_a_side_that_is_not_known_to_an_order_of_magnitude_gives_no_verdict() -> None:
    before, after = one_side(Spec("a", QUIET)), one_side(Spec("a", times(2)))
    assert compare(before, after).findings[0].verdict == "regressed"
    (circle,) = after.circles
    assert circle.estimate.latency is not None
    unknown = replace(circle.estimate.latency, interval=Interval(0.1, 5e7, 0.95))
    after = replace(
        after, circles=(replace(circle, estimate=replace(circle.estimate, latency=unknown)),)
    )
    (found,) = compare(before, after).findings
    assert found.verdict == "undecided"
    assert found.reason == "the latency after is not known to an order of magnitude"
    assert cells.latencies(found) == ("1000.3", "<50000000")


def test_failed_and_invalid_rows_are_shown_as_such() -> None:
    good = measured({"a": QUIET, "b": QUIET})
    bad = measured({"a": QUIET, "b": QUIET}, broken=["b"])
    fine, broken = compare(side([good]), side([bad])).findings
    assert (fine.verdict, broken.verdict) == ("equivalent", "invalid")
    assert "after: contract broken in 300 of 300 tests" in broken.reason
    failed = judged([1000.0], [1000.0], summary={"status": "failed", "note": "FAILED"})
    assert failed.verdict == "failed"
    assert (
        failed.reason
        == "before: the tool reports it as failed: FAILED; after: the tool reports it as failed: "
        "FAILED"
    )


def test_a_circle_that_could_not_run_is_failed_not_removed() -> None:
    problem = Problem("no such system call", "circle b", "skipped")
    before, after = (
        one_side(Spec("a", QUIET), Spec("b", QUIET)),
        one_side(Spec("a", QUIET), problems=[problem]),
    )
    found = compare(before, after)
    assert [f.verdict for f in found.findings] == ["equivalent", "failed"]
    assert found.findings[1].reason == "after: no such system call"
    assert gate_code(found) == errors.FAILED


def gated(before: list[Spec], after: list[Spec]) -> Comparison:
    return compare(one_side(*before), one_side(*after))


FAILED = {"summary": {"status": "failed"}}
SAME, WORSE, UNSURE = Spec("a", QUIET), Spec("b", times(1.1)), Spec("c", times(1.0098))
GOOD_B, GOOD_C = Spec("b", QUIET), Spec("c", QUIET)


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ([SAME], [SAME], errors.PASS),
        ([WORSE], [GOOD_B], errors.PASS),
        ([SAME, GOOD_B, GOOD_C], [WORSE, UNSURE], errors.REGRESSED),
        ([SAME, GOOD_C], [SAME, UNSURE], errors.UNDECIDED),
        ([SAME, GOOD_C], [UNSURE], errors.NOT_COMPARABLE),
        ([SAME, GOOD_C], [SAME, Spec("c", QUIET, clock=ICOUNT)], errors.NOT_COMPARABLE),
        ([SAME, GOOD_C], [SAME, Spec("c", QUIET, **FAILED)], errors.FAILED),
        ([SAME], [SAME, Spec("c", QUIET, **FAILED)], errors.FAILED),
        ([SAME, Spec("c", QUIET, **FAILED)], [SAME, Spec("c", QUIET, **FAILED)], errors.FAILED),
        ([SAME, Spec("c", QUIET, **FAILED)], [SAME, GOOD_C], errors.PASS),
        ([SAME], [SAME, GOOD_C], errors.PASS),
        ([SAME], [GOOD_C], errors.NOT_COMPARABLE),
        ([Spec("c", QUIET, **FAILED)], [Spec("c", QUIET, **FAILED)], errors.NOTHING),
        ([], [], errors.NOTHING),
    ],
)
def test_gate_codes(before: list[Spec], after: list[Spec], code: int) -> None:
    found = gated(before, after)
    assert gate_code(found) == code
    assert compare_code(found) in (errors.PASS, code)


def test_what_is_bad_on_both_sides_is_allowed_only_if_it_is_said() -> None:
    bad = Spec("c", QUIET, **FAILED)
    assert gate_code(gated([SAME, bad], [SAME, bad]), allow_invalid=True) == errors.PASS
    assert gate_code(gated([SAME], [SAME, bad]), allow_invalid=True) == errors.FAILED
    hung = one_side(SAME, problems=[Problem("did not finish", "circle c", "failed")])
    assert gate_code(compare(hung, hung)) == errors.FAILED
    assert gate_code(compare(hung, hung), allow_invalid=True) == errors.PASS
    absent = one_side(SAME, problems=[Problem("no such call", "circle c", "skipped")])
    assert gate_code(compare(absent, absent)) == errors.PASS


def test_counts_and_order_put_first_what_must_be_seen() -> None:
    found = gated(
        [GOOD_B, SAME, GOOD_C, Spec("d", times(1))], [Spec("d", times(1.3)), UNSURE, WORSE]
    )
    assert list(found.counts().items()) == [("regressed", 2), ("removed", 1), ("undecided", 1)]
    assert [f.key for f in found.of("regressed")] == ["d", "b"]


def test_a_tighter_discovery_rate_widens_the_intervals() -> None:
    wide, narrow = (judged(QUIET, times(1.05), Options(fdr=fdr)).interval for fdr in (0.01, 0.2))
    assert wide is not None
    assert narrow is not None
    assert wide.half_width > narrow.half_width
    assert math.isclose(wide.level, 0.99)
