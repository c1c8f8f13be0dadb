# SPDX-License-Identifier: BSD-2-Clause
"""Checked samples and intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cyclometer.estimate.interval import Interval, critical_value, samples, student


def test_interval_knows_its_half_width_and_its_ends() -> None:
    interval = Interval(2.0, 5.0, 0.9)
    assert interval.half_width == 1.5
    assert [interval.contains(x) for x in (1.9, 2.0, 5.0, 5.1)] == [False, True, True, False]
    assert interval.scaled(2) == Interval(4.0, 10.0, 0.9)


def test_critical_values_are_the_printed_ones() -> None:
    assert round(critical_value(0.95, 4), 4) == 2.7764
    assert round(critical_value(0.90), 4) == 1.6449


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95.0])
def test_level_must_be_a_probability(level: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        critical_value(level)


def test_student_interval() -> None:
    interval = student(10.0, 2.0, 4, 0.95)
    assert (round(interval.low, 3), round(interval.high, 3), interval.level) == (
        4.447,
        15.553,
        0.95,
    )
    assert student(10.0, 2.0, 0, 0.95) == Interval(-math.inf, math.inf, 0.95)
    assert student(10.0, 2.0, 0.5, 0.95).half_width < math.inf


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([[1.0]], r"not of shape \(1, 1\)"),
        ([], "holds 0 values"),
        ([1, np.inf], "not finite"),
        (3.0, "not of shape"),
    ],
)
def test_bad_samples_are_refused(values: object, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        samples(values)  # type: ignore[arg-type]


def test_samples_become_floats() -> None:
    assert samples([1]).dtype == np.float64
    assert samples(range(3), at_least=3).tolist() == [0, 1, 2]
