# SPDX-License-Identifier: BSD-2-Clause
"""Order statistics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from cyclometer.estimate.interval import Interval
from cyclometer.estimate.order import _binomial_quantile, quantile, quantile_interval

TEN = np.arange(1.0, 11.0)


@pytest.mark.parametrize(
    ("p", "value"), [(0.0, 1), (0.1, 1), (0.11, 2), (0.5, 5), (0.9, 9), (0.95, 10), (1.0, 10)]
)
def test_quantile_is_an_observed_value(p: float, value: float) -> None:
    assert quantile(TEN, p) == value


@given(st.integers(1, 400), st.floats(0.001, 0.999))
def test_quantile_agrees_with_the_inverted_distribution_function(n: int, p: float) -> None:
    ordered = np.arange(float(n))
    assert abs(quantile(ordered, p) - np.quantile(ordered, p, method="inverted_cdf")) <= (
        abs(p * n % 1 - 0.5) > 0.499
    )


def test_median_interval_of_ten_is_the_tabled_one() -> None:
    """Binomial(10, 1/2): ranks 2 and 9 enclose the median with probability 0.979, ranks 3 and 8
    only with 0.891.
    """
    assert quantile_interval(TEN, 0.5, 0.95) == Interval(2.0, 9.0, 0.95)
    assert quantile_interval(TEN, 0.5, 0.89) == Interval(3.0, 8.0, 0.89)


def test_too_few_samples_leave_an_end_open() -> None:
    assert quantile_interval(TEN, 0.99, 0.95).high == math.inf
    assert quantile_interval(TEN, 0.01, 0.95).low == -math.inf
    # 1 - 0.99^n >= 0.975 first at n = 368; below that no sample bounds the 99 % quantile from
    # above.
    assert quantile_interval(np.arange(367.0), 0.99, 0.95).high == math.inf
    assert quantile_interval(np.arange(368.0), 0.99, 0.95).high == 367.0


@given(
    st.integers(2, 3000),
    st.sampled_from([0.1, 0.5, 0.9, 0.99, 0.999]),
    st.sampled_from([0.9, 0.95, 0.99]),
)
def test_ranks_cover_and_the_next_narrower_do_not(n: int, p: float, level: float) -> None:
    """The exact binomial coverage of either end is at least (1 + level) / 2, and one rank closer
    would fall short.
    """
    interval, tail = quantile_interval(np.arange(1.0, n + 1), p, level), (1 - level) / 2
    if interval.low > 0:  # P(fewer than `low` samples below the quantile)
        assert stats.binom.cdf(interval.low - 1, n, p) <= tail + 1e-12
        assert stats.binom.cdf(interval.low, n, p) > tail
    else:
        assert stats.binom.cdf(0, n, p) > tail - 1e-12
    if interval.high < math.inf:
        assert stats.binom.sf(interval.high - 1, n, p) <= tail + 1e-12
        assert stats.binom.sf(interval.high - 2, n, p) > tail


@given(st.integers(1, 300), st.floats(0.01, 0.99), st.floats(0.001, 0.999))
def test_binomial_quantile_is_the_smallest_that_suffices(n: int, p: float, q: float) -> None:
    found = _binomial_quantile(q, n, p)
    assert stats.binom.cdf(found, n, p) >= q - 1e-12
    # a tie may fall to either side of what floating point holds
    assert stats.binom.cdf(found - 1, n, p) < q + 1e-12


@given(st.integers(1, 60), st.sampled_from([0.1, 0.25, 0.5, 0.9]), st.data())
def test_binomial_quantile_where_a_probability_is_met_exactly(
    n: int, p: float, data: st.DataObject
) -> None:
    """At the very probability of a step, where inverting the incomplete beta function rounds either
    way.
    """
    k = data.draw(st.integers(0, n))
    q = float(special.bdtr(k, n, p))
    assert special.bdtr(_binomial_quantile(q, n, p), n, p) >= q
    assert _binomial_quantile(q, n, p) <= k
