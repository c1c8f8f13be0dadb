# SPDX-License-Identifier: BSD-2-Clause
"""Published summaries: an interval from mean, standard deviation and count, with what it takes for
granted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .interval import Interval, student

ASSUMPTION = (
    "samples independent, mean near normal, and the next run like this one: none can be "
    "checked from a summary"
)


@dataclass(frozen=True)
class SummaryEstimate:
    """A mean whose samples are not at hand; `assumption` must be printed beside the interval."""

    value: float
    interval: Interval
    assumption: str


def estimate(mean: float, sd: float, n: int, level: float = 0.95) -> SummaryEstimate:
    """Student's interval of a published mean, all in its own unit; n samples, sd with n - 1.

    Raises:
        ValueError: n < 1, a negative sd, or a figure that is not finite.
    """
    if not (math.isfinite(mean) and math.isfinite(sd)) or sd < 0 or n < 1:
        raise ValueError(
            f"mean {mean:g}, sd {sd:g}, n {n} is not a summary of samples; correct the figures."
        )
    return SummaryEstimate(mean, student(mean, sd / math.sqrt(n), n - 1, level), ASSUMPTION)
