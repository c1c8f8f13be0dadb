# SPDX-License-Identifier: BSD-2-Clause
"""What the core's frequency did during a session, by the readings beside each test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cyclometer.bundle import core_cycles
from cyclometer.bundle.model import Bundle
from cyclometer.estimate.grouped import grouped
from cyclometer.estimate.reference import visits_of


@dataclass(frozen=True)
class Frequency:
    """Cycles a second: `mean` over all tests that count; `low` and `high` hold nine visits of ten
    between them.
    """

    mean_hz: float
    low_hz: float
    high_hz: float


def seen(bundle: Bundle) -> Frequency | None:
    """The frequency in a bundle that is read in core cycles; None if it is not, or the rate of the
    clock beneath is unknown.
    """
    samples, rows = bundle.samples, bundle.identity.rows
    if not rows or rows[0].clock.name != core_cycles.NAME or not rows[0].clock.hz:
        return None
    x = core_cycles.speed(bundle)
    if x is None:
        return None
    tests = np.flatnonzero((samples.kind == 0) & (samples.tags == 0) & np.isfinite(x))
    visit, visits = visits_of(samples, tests)
    of_visits = grouped(x[tests], visit, visits).medians()
    mean_hz = rows[0].clock.hz
    low, high = mean_hz * np.exp(x[tests].mean() - np.quantile(of_visits, (0.95, 0.05)))
    return Frequency(mean_hz, float(low), float(high))
