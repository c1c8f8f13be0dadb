# SPDX-License-Identifier: BSD-2-Clause
"""No digit that the interval does not support."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclometer.estimate import digits
from cyclometer.estimate.interval import Interval


@pytest.mark.parametrize(
    ("value", "half_width", "text"),
    [
        (4539.96, 2.5, "4540 ± 3"),
        (4539.96, 0.45, "4540.0 ± 0.5"),
        (4539.96, 0.31, "4539.96 ± 0.31"),
        (4539.96, 0.0231, "4539.960 ± 0.024"),
        (4539.96, 120, "4540 ± 120"),
        (4539.96, 355, "4500 ± 400"),
        (4539.96, 354, "4540 ± 360"),
        (4539.96, 1, "4540 ± 1"),
        (4539.96, 0.99, "4540.0 ± 1.0"),
        (4539.96, 52000, "0 ± 60000"),
        (-12.345, 0.5, "-12.3 ± 0.5"),
        (-12.345, 400, "0 ± 400"),
        (-0.02, 0.5, "0.0 ± 0.5"),
        (-0.0, 0, "0 ± 0"),
        (4540, 0, "4540 ± 0"),
        (4540.25, 0, "4540.25 ± 0"),
        (540.469387755102, 0, "540.47 ± 0"),
        (0.70271686, 0, "0.70272 ± 0"),
        (4540, math.inf, "~5000"),
        (0, math.inf, "0"),
        (4540, math.nan, "~5000"),
        (math.inf, 1, "inf"),
        (math.nan, 0, "nan ± 0"),
    ],
)
def test_value_and_half_width(value: float, half_width: float, text: str) -> None:
    assert digits.with_interval(value, half_width) == text
    assert digits.rounded(value, half_width) == text.split(" ±", maxsplit=1)[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1629, "1629"),
        (4448.927, "4448.93"),
        (1238412.5, "1238412.5"),
        (1.2566e7, "12566000"),
        (1.23456e-4, "0.00012346"),
        (-0.5, "-0.5"),
        (0, "0"),
        (math.inf, "inf"),
    ],
)
def test_a_value_that_nothing_bounds_keeps_its_units(value: float, text: str) -> None:
    assert digits.plain(value) == text


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (4539.96, 4537.46, 4542.46, "4540"),
        (4539.96, -7000, 16080, "5000"),
        (2236.0, 0.08, 61_900_000.0, "<70000000"),
        (2236.0, 0.08, 60_000_000.0, "<60000000"),
        (2.0, -18.0, 22.0, "2"),
        (2.0, -18.5, 22.5, "<30"),
        (0.0, -5.0, 5.0, "0"),
        (-2.0, -72.0, 68.0, "-2"),
        (4539.963, -math.inf, math.inf, "4539.96"),
        (4539.963, 4539.963, 4539.963, "4539.96"),
    ],
)
def test_a_figure_has_one_digit_at_least_or_is_an_upper_bound(
    value: float, low: float, high: float, text: str
) -> None:
    assert digits.figure(value, Interval(low, high, 0.95)) == text


@pytest.mark.parametrize(
    ("fraction", "half_width", "text"),
    [
        (0.0421, 0.0005, "4.21 %"),
        (-0.30319, 0.0001, "-30.319 %"),
        (0.04217, 0.005, "4.2 %"),
        (0.3, 0.04, "30 %"),
        (0.3, 0.00354, "30.00 %"),
        (1.0, 0.004, "100.0 %"),
        (-0.0001, 0.005, "0.0 %"),
    ],
)
def test_percent(fraction: float, half_width: float, text: str) -> None:
    assert digits.percent(fraction, half_width) == text


@given(st.floats(-1e7, 1e7), st.floats(1e-3, 1e5))
def test_rounding_stays_within_the_interval_and_the_half_width_never_shrinks(
    value: float, half_width: float
) -> None:
    shown, reach = digits.with_interval(value, half_width).split(" ± ")
    assert abs(Decimal(shown) - Decimal(value)) <= max(Decimal(half_width) / 2, Decimal("0.5"))
    assert Decimal(half_width) <= Decimal(reach) * Decimal("1.0000001")
    assert shown.count(".") == reach.count(".")
    if half_width >= 1:
        assert "." not in shown


@given(st.floats(1e-3, 1e5))
def test_no_more_than_two_digits_of_the_half_width(half_width: float) -> None:
    shown = digits.with_interval(0.0, half_width).split(" ± ")[1]
    assert 1 <= len(shown.replace(".", "").strip("0")) <= 2
