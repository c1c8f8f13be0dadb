# SPDX-License-Identifier: BSD-2-Clause
"""Configurations side by side, where the published tables (test_seeds.py) have no example."""

from __future__ import annotations

import pytest

from cyclometer.compare.matrix import matrix
from cyclometer.report import matrix as report
from tests.compare.bundles import Spec, one_side


def test_zeros_have_no_ratio_and_enter_no_mean() -> None:
    before, after = (
        one_side(Spec("a", [latency] * 3), Spec("b.misses", [0, 0, 0])) for latency in (100, 121)
    )
    found = matrix({"before": before, "after": after})
    assert found.means["all rows"][1].rows == 1
    assert found.means["all rows"][1].ratio == pytest.approx(1.21)
    assert [report.row_cells(row) for row in found.rows] == [
        ["100 ticks", "121 x1.21"],
        ["0 ticks", "0 ticks"],
    ]


def test_a_rate_that_halves_costs_twice_as_much() -> None:
    before, after = (
        one_side(Spec("a", [latency] * 3), Spec("b", [rate] * 3, row={"better": "higher"}))
        for latency, rate in ((100, 1000), (200, 500))
    )
    mean = matrix({"before": before, "after": after}).means["all rows"][1]
    assert (mean.rows, mean.ratio) == (2, pytest.approx(2.0))
