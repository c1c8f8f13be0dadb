# SPDX-License-Identifier: BSD-2-Clause
"""The marginal line: golden values from the published tables, and what its tests of curvature see."""

from __future__ import annotations

import numpy as np
from golden import table

from cyclometer.estimate import marginal


def test_joined_group_means() -> None:
    """The five means at N = 30..34 with the mean of the three runs at N = 300."""
    means = [*table("kbench_table_3_5").mean(axis=0), table("kbench_appendix_2").mean()]
    fit = marginal.fit(means, [30, 31, 32, 33, 34, 300])
    assert (round(fit.b, 2), round(fit.c, 2)) == (4535.39, 1486.44)
    assert round(100 * fit.fixed_cost_share(30), 1) == 1.1


def test_all_values_of_table_3_5() -> None:
    A = table("kbench_table_3_5")
    fit = marginal.fit(A.ravel(), np.tile(np.arange(30, 35), 30))
    assert (round(fit.b, 2), round(fit.c, 2)) == (4478.48, 3307.09)
    assert fit.line_holds()
