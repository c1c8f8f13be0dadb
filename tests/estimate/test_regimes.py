# SPDX-License-Identifier: BSD-2-Clause
"""Quiet and typical."""

from __future__ import annotations

import numpy as np
import pytest

from cyclometer.estimate import regimes


def test_exact_clock_quiet_is_typical_is_the_value() -> None:
    both = regimes.estimate(np.full(500, 60.0))
    assert both.quiet == both.typical
    assert (both.quiet.value, both.quiet.share, both.gap) == (60.0, 1.0, 0.0)


def test_lowest_sustained_regime_not_the_lowest_value() -> None:
    rng = np.random.default_rng(4)
    low, high = rng.normal(1000, 1, 300), rng.normal(1100, 1, 690)
    both = regimes.estimate(rng.permutation([*low, *high, *rng.uniform(500, 600, 10)]))
    assert both.quiet.value == pytest.approx(np.median(low), abs=0.5)
    assert both.quiet.share == pytest.approx(0.30, abs=0.01)
    assert 1080 < both.typical.value < 1100  # a tenth of the middle half is still `low`
