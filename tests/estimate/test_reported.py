# SPDX-License-Identifier: BSD-2-Clause
"""Printed statistics as estimates: runs, visits, groups, and what the tool itself called failed."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from cyclometer.bundle.model import Flow, Summary
from cyclometer.estimate import reported


def test_a_summary_has_students_interval() -> None:
    ((run, figure),) = reported.estimate([Summary(0, mean=518.94, sd=9.35, n=16)], None).runs
    low, high = stats.t.interval(0.95, 15, 518.94, 9.35 / 4)
    assert (run, figure.value, figure.tests, figure.share) == (0, 518.94, 16, 1.0)
    assert (figure.interval.low, figure.interval.high) == pytest.approx((low, high))


@pytest.mark.parametrize("known", [{}, {"sd": 9.35}, {"n": 16}, {"sd": 9.35, "n": 1}])
def test_without_spread_or_number_the_interval_is_open(known: dict[str, float]) -> None:
    found = reported.estimate([Summary(0, mean=518.94, **known)], None)  # type: ignore[arg-type]
    assert math.isinf(found.runs[0][1].interval.half_width)
    assert found.runs[0][1].tests == known.get("n", 0)
    assert found.assumption == ""


def test_the_assumption_is_told_of_one_run_and_needless_for_several() -> None:
    one = Summary(0, mean=100.0, sd=1.0, n=9)
    assert "independent" in reported.estimate([one], None).assumption
    assert (
        reported.estimate([one, Summary(0, run=1, mean=101.0, sd=1.0, n=9)], None).assumption == ""
    )


def test_a_median_stands_in_for_a_mean_and_has_no_interval() -> None:
    figure = reported.estimate([Summary(0, median=7.0, sd=1.0, n=9)], None).runs[0][1]
    assert figure.value == 7.0
    assert math.isinf(figure.interval.high)


def test_visits_of_a_run_are_averaged_and_show_its_spread() -> None:
    visits = [
        Summary(0, visit=i, mean=mean, sd=0.1, n=100)
        for i, mean in enumerate((100.0, 104.0, 102.0))
    ]
    ((_, figure),) = reported.estimate(visits, None).runs
    assert (figure.value, figure.tests, figure.share) == (102.0, 300, 1.0)
    assert figure.interval.half_width == pytest.approx(stats.t.ppf(0.975, 2) * 2 / 3**0.5)


def test_a_figure_of_a_group_is_of_its_whole_test() -> None:
    flow = Flow(initial=30, delta=2, groups=3, tests=30)
    figure = reported.estimate([Summary(0, group=2, mean=3400.0, sd=34.0, n=30)], flow).runs[0][1]
    assert figure.value == 100.0
    assert figure.interval.half_width == pytest.approx(stats.t.ppf(0.975, 29) / 30**0.5)
    assert reported.estimate([Summary(0, group=0, mean=3000.0)], flow).runs[0][1].value == 100.0
    assert reported.estimate([Summary(0, mean=3000.0)], flow).runs[0][1].value == 3000.0


def test_a_figure_over_all_runs_counts_only_alone() -> None:
    whole = Summary(0, run=-1, mean=50.0)
    assert [(run, f.value) for run, f in reported.estimate([whole], None).runs] == [(-1, 50.0)]
    both = reported.estimate([whole, Summary(0, run=3, mean=60.0)], None)
    assert [(run, f.value) for run, f in both.runs] == [(3, 60.0)]


def test_what_the_tool_calls_failed_is_failed() -> None:
    good = Summary(0, mean=1.0)
    found = reported.estimate(
        [good, Summary(0, run=1, status="inconclusive", note="too noisy")], None
    )
    assert found.failed == "the tool reports it as inconclusive in 1 of 2 figures: too noisy"
    assert reported.estimate([good], None).failed == ""
