# SPDX-License-Identifier: BSD-2-Clause
"""Changes of intervals from one CPU to another: each boot may set the two clocks anew."""

from __future__ import annotations

import math
from dataclasses import replace

from cyclometer.compare.finding import both
from cyclometer.compare.pairing import Pair
from cyclometer.compare.statistics import Change, two_sided
from cyclometer.estimate.interval import Interval
from cyclometer.estimate.rows import Estimate


def between_boots(pair: Pair, change: Change) -> Change:
    """The change with what the clocks' offsets of two boots leave open; within one boot, whose
    sessions share the offset, as it is.

    Both latencies may be off by their bound, and in opposite directions: the interval is wider by
    the sum, and only what exceeds it counts against no change.
    """
    open_log = _open_log(*both(pair))
    if not open_log:
        return change
    log, error = change.log_interval, change.standard_error
    sure = max(0.0, abs(change.log_ratio) - open_log)
    return replace(
        change,
        log_interval=Interval(log.low - open_log, log.high + open_log, log.level),
        p=two_sided(sure, error, change.df) if math.isfinite(error) else change.p,
    )


def _open_log(before: Estimate, after: Estimate) -> float:
    boots = {one.occasion.boot for e in (before, after) for one in e.sessions}
    one_boot = before.sessions and after.sessions and len(boots) == 1 and "" not in boots
    if one_boot:
        return 0.0
    return sum(
        math.log1p(e.clock_offset / e.latency.value)
        for e in (before, after)
        if e.clock_offset and e.latency
    )
