# SPDX-License-Identifier: BSD-2-Clause
"""Intervals from published summaries."""

from __future__ import annotations

import math

import pytest

from cyclometer.estimate import kbench, summary
from tests.estimate.golden import table


def test_summary_equals_the_samples_it_was_made_from() -> None:
    A = table("kbench_appendix_2")[:, 0]
    result = summary.estimate(A.mean(), A.std(ddof=1), A.size, 0.90)
    own = kbench.estimate(A, 1, 0.90).interval
    assert (result.interval.low, result.interval.high) == pytest.approx((own.low, own.high))
    assert result.value == A.mean()
    assert "independent" in result.assumption


def test_default_level_and_a_single_sample() -> None:
    assert summary.estimate(10, 1, 5).interval.half_width == pytest.approx(2.776445 / math.sqrt(5))
    assert summary.estimate(10, 0, 1).interval.half_width == math.inf


@pytest.mark.parametrize(
    ("mean", "sd", "n"), [(math.nan, 1, 5), (1, math.inf, 5), (1, -1, 5), (1, 1, 0)]
)
def test_figures_that_are_no_summary(mean: float, sd: float, n: int) -> None:
    with pytest.raises(ValueError, match="not a summary"):
        summary.estimate(mean, sd, n)
