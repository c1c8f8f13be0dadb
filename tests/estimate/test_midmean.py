# SPDX-License-Identifier: BSD-2-Clause
"""The midmean and its interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from cyclometer.estimate.interval import Interval
from cyclometer.estimate.midmean import batch_variance, midmean, midmean_interval


@pytest.mark.parametrize(
    ("ordered", "middle"),
    [
        ([7], 7),
        ([1, 3], 2),
        ([1, 2, 9], 4),
        ([0, 1, 3, 100], 2),
        ([0, 1, 2, 3, 4, 5, 6, 900], 3.5),
        ([0.1] * 7, 0.1),
    ],
)
def test_midmean_is_the_mean_of_the_middle_half(ordered: list[float], middle: float) -> None:
    assert midmean(np.array(ordered, dtype=float)) == middle


def test_midmean_agrees_with_scipys_trimmed_mean() -> None:
    sample = np.sort(np.random.default_rng(1).lognormal(size=801))
    assert midmean(sample) == pytest.approx(stats.trim_mean(sample, 0.25))


def test_interval_of_independent_samples_is_tukey_mclaughlins() -> None:
    """With one sample a batch, batch means are the samples: the textbook interval of a trimmed
    mean.
    """
    arrival = np.random.default_rng(2).normal(50, 5, 20)
    interval = midmean_interval(arrival, np.sort(arrival), 0.90)
    error = stats.mstats.trimmed_stde(arrival, (0.25, 0.25))
    half_width = stats.t.ppf(0.95, 19) * error
    middle = stats.trim_mean(arrival, 0.25)
    assert (interval.low, interval.high) == pytest.approx(
        (middle - half_width, middle + half_width)
    )


def test_batches_see_wandering_that_single_samples_hide() -> None:
    slow = np.repeat(np.random.default_rng(3).normal(size=16), 10)
    variance, df = batch_variance(slow)
    assert df == 15
    assert variance == pytest.approx(np.var(slow[::10], ddof=1) / 16)


def test_batch_variance_of_a_length_that_batches_do_not_divide() -> None:
    series = np.arange(35.0)  # 17 batches of 2 and a rest of 1
    variance, df = batch_variance(series)
    assert df == 16
    assert variance == pytest.approx(np.var(np.arange(17) * 2.0, ddof=1) * 2 / 35)


def test_one_sample_has_no_interval_and_two_have_one() -> None:
    assert batch_variance(np.array([3.0])) == (math.inf, 0)
    assert midmean_interval(np.array([3.0]), np.array([3.0]), 0.9) == Interval(
        -math.inf, math.inf, 0.9
    )
    assert batch_variance(np.array([3.0, 5.0])) == (1.0, 1)
