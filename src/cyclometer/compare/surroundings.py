# SPDX-License-Identifier: BSD-2-Clause
"""Whether one side of a comparison was measured on a busier machine, by what was counted beside its
visits: foreign work makes the kernel slower in cycles, which no reading of the core's speed sees.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cyclometer.bundle.sharing import SHARED
from cyclometer.estimate import session, surroundings
from cyclometer.estimate.session import CLEAR, Session

LEAST = {
    surroundings.FOREIGN: 50.0,
    surroundings.STEAL: 0.01,
    surroundings.PRESSURE: 0.1,
    surroundings.IDLE: 0.1,
    surroundings.ISSUE: SHARED - 1,
}
"""Differences below which two sides are alike: a switch in every tenth visit of 2 ms, shares of the
time, and what tells a shared core from one that is not."""


def busier(before: Sequence[Session], after: Sequence[Session]) -> str:
    """Why no row can be judged; empty if the rates of both sides agree, or are not known.

    A difference counts from CLEAR standard errors, those of the means of time blocks.
    """
    for name, least in LEAST.items():
        sides = [[s.beside[name] for s in side if name in s.beside] for side in (before, after)]
        means = [
            [
                session.mean(rates, np.arange(rates.size, dtype=np.int32))
                for rates in side
                if rates.size > 1
            ]
            for side in sides
        ]
        if not all(means):
            continue
        values = [sum(m.value for m in side) / len(side) for side in means]
        error = math.sqrt(sum(sum(m.variance for m in side) / len(side) ** 2 for side in means))
        if abs(values[1] - values[0]) > max(least, CLEAR * error):
            listed = " and ".join(surroundings.in_words(name, value) for value in values)
            return f"one side was measured on a busier machine: {listed}"
    return ""
