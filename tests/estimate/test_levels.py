# SPDX-License-Identifier: BSD-2-Clause
"""From runs to one interval."""

from __future__ import annotations

import pytest

from cyclometer.estimate import levels
from cyclometer.estimate.interval import Interval


def test_one_run_is_labelled() -> None:
    own = Interval(9.0, 11.0, 0.95)
    result = levels.combine([10.0], [own])
    assert (result.scope, result.interval, result.between_variance) == ("within this run", own, None)
    with pytest.raises(ValueError, match="more runs"):
        levels.combine([10.0])


def test_three_runs_take_student_with_two_degrees() -> None:
    result = levels.combine([9.0, 10.0, 11.0])
    assert result.interval.half_width == pytest.approx(4.302652730 / 3**0.5)
    assert (result.scope, result.value, result.between_variance) == ("between runs", 10.0, 1.0)
