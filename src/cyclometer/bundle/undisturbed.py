# SPDX-License-Identifier: BSD-2-Clause
"""How many visits of each circle met the machine undisturbed."""

from __future__ import annotations

import numpy as np

from cyclometer.bundle.core_cycles import TIMED
from cyclometer.bundle.model import Bundle

FEWEST_TESTS = 3
"""Tests that count, from which on a visit has a median that one odd test does not decide."""


def undisturbed_visits(bundle: Bundle) -> dict[str, int]:
    """The visits of each circle that was timed, by key, in which FEWEST_TESTS or more count."""
    samples = bundle.samples
    found: dict[str, int] = {}
    for index, row in enumerate(bundle.identity.rows):
        if row.method in TIMED:
            tests = samples.tests(index, untagged=True)
            visit = (samples.run[tests].astype(np.int64) << 32) + samples.visit[tests]
            _, counts = np.unique(visit, return_counts=True)
            met = int(np.count_nonzero(counts >= FEWEST_TESTS))
            found[row.contract.key] = found.get(row.contract.key, 0) + met
    return found
