# SPDX-License-Identifier: BSD-2-Clause
"""KBench, to the digits its paper prints."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cyclometer.estimate import kbench
from tests.estimate.golden import table

APPENDIX_2 = [
    # mean A, var A, mean Y, var Y, low, high, var P, sd P, cv Y %, cv P %
    (1361987.77, 6227560.94, 4539.96, 69.20, 4537.46, 4542.46, 20758.54, 144.08, 0.18, 3.17),
    (1362333.17, 7777320.14, 4541.11, 86.41, 4538.32, 4543.90, 25924.40, 161.01, 0.20, 3.55),
    (1361994.33, 6874037.68, 4539.98, 76.38, 4537.36, 4542.61, 22913.46, 151.37, 0.19, 3.33),
]


@pytest.mark.parametrize("run", range(3))
def test_appendix_2_to_the_printed_digit(run: int) -> None:
    group = kbench.estimate(table("kbench_appendix_2")[:, run], N=300, critical="z")
    printed = (
        group.mean_A,
        group.var_A,
        group.mean_Y,
        group.var_Y,
        group.interval.low,
        group.interval.high,
        group.var_P,
        math.sqrt(group.var_P),
        100 * group.cv_Y,
        100 * group.cv_P,
    )
    assert tuple(round(x, 2) for x in printed) == APPENDIX_2[run]
    assert group.mean_P == group.mean_Y
    assert round(100 * group.relative_half_width, 2) == 0.06
    assert (group.tests, group.turns) == (30, 300)


@pytest.mark.parametrize(
    ("name", "first", "means", "sds", "variations", "per_turn"),
    [
        (
            "kbench_table_3_4",
            1,
            [5100.97, 9605.60, 14508.03, 19060.23, 23549.47],
            [461.51, 262.10, 420.36, 471.02, 389.48],
            [9.05, 2.73, 2.90, 2.47, 1.65],
            [5100.97, 4802.80, 4836.01, 4765.06, 4709.89],
        ),
        (
            "kbench_table_3_5",
            30,
            [137687.70, 142024.37, 146716.50, 151142.77, 155520.90],
            [1074.86, 765.63, 708.86, 748.74, 799.66],
            [0.78, 0.54, 0.48, 0.50, 0.51],
            [4589.59, 4581.43, 4584.89, 4580.08, 4574.14],
        ),
    ],
)
def test_tables_3_4_and_3_5(
    name: str,
    first: int,
    means: list[float],
    sds: list[float],
    variations: list[float],
    per_turn: list[float],
) -> None:
    groups = [kbench.estimate(column, N) for N, column in enumerate(table(name).T, start=first)]
    assert [round(g.mean_A, 2) for g in groups] == means
    assert [round(g.var_A**0.5, 2) for g in groups] == sds
    assert [round(100 * g.cv_A, 2) for g in groups] == variations
    assert [round(g.mean_Y, 2) for g in groups] == per_turn


def test_student_interval_is_wider_than_the_papers() -> None:
    A = table("kbench_appendix_2")[:, 0]
    t, z = kbench.estimate(A, 300), kbench.estimate(A, 300, critical="z")
    # t(0.95, 29) = 1.69913, z(0.95) = 1.64485: printed in every table of both.
    assert t.interval.half_width / z.interval.half_width == pytest.approx(
        1.69913 / 1.64485, rel=1e-5
    )


def test_required_tests_is_equation_3_3() -> None:
    A = table("kbench_table_3_4")[:, 0]
    group = kbench.estimate(A, 1)
    # ceil((461.5055 * 1.644854 / (5100.9667 * 0.02))^2 = 55.37)
    assert kbench.required_tests(group, 0.02) == 56
    assert kbench.required_tests(group, 0.5) == 1


def test_constant_values_and_a_zero_mean() -> None:
    exact = kbench.estimate([600, 600, 600], 3)
    assert (exact.mean_P, exact.var_P, exact.interval.half_width) == (200, 0, 0)
    assert kbench.required_tests(exact, 0.01) == 1
    centred = kbench.estimate([-1, 1], 1)
    assert (centred.cv_A, centred.relative_half_width) == (np.inf, np.inf)


@pytest.mark.parametrize(
    ("A", "N", "problem"),
    [
        ([1.0], 1, "at least 2"),
        ([1, 2], 0, "at least one"),
        ([1, np.nan], 1, "finite"),
        ([[1, 2]], 1, "one-dim"),
    ],
)
def test_refusals_say_what_is_wrong(A: object, N: int, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        kbench.estimate(A, N)  # type: ignore[arg-type]


@pytest.mark.parametrize(("e", "level"), [(0, 0.9), (-1, 0.9)])
def test_required_tests_needs_a_positive_fraction(e: float, level: float) -> None:
    with pytest.raises(ValueError, match="positive fraction"):
        kbench.required_tests(kbench.estimate([1, 2], 1, level), e)
