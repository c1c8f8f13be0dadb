# SPDX-License-Identifier: BSD-2-Clause
"""Medians and midmeans of groups, held against the same of each group alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cyclometer.estimate.grouped import grouped
from cyclometer.estimate.midmean import midmean


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 1000))
def test_each_group_as_if_alone(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    values = rng.lognormal(5, 1, group.size)
    found = grouped(values, group, len(sizes))
    alone = [np.sort(values[group == g]) for g in range(len(sizes))]
    np.testing.assert_allclose(found.medians(), [np.median(one) for one in alone])
    np.testing.assert_allclose(found.midmeans(), [midmean(one) for one in alone])
    assert [found.ordered[a:b].tolist() for a, b in zip(found.first, found.end, strict=True)] == [
        one.tolist() for one in alone
    ]
