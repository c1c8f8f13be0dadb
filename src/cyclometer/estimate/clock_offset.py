# SPDX-License-Identifier: BSD-2-Clause
"""Intervals from one CPU to another: the two clocks may lie apart, which no number of tests shows.

The harness bounds the offset before and after each visit by exchanges between the CPUs. It is
below the bound on either side, and where in between is not known, so that every interval is widened
by all of it.
"""

from __future__ import annotations

from dataclasses import replace

from cyclometer.bundle.model import Contract, Identity, Row
from cyclometer.estimate import surroundings
from cyclometer.estimate.interval import Interval
from cyclometer.estimate.latencies import Latencies
from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.units import NS_PER_S

MOST = 0.05
"""The largest share of a latency that the bound on the offset may be."""


def matters(contract: Contract) -> bool:
    """Whether the ends of the circle's interval lie on two CPUs."""
    return contract.interval.kind == "one_way" and contract.params.get("placement") == "other_cpu"


def bound(identity: Identity, row: Row) -> float | None:
    """The most by which the clocks were apart in any visit of the row's circle, in units of its
    clock; None if no visit says, or the clock is none of time.
    """
    counted = surroundings.counted(identity, row.contract.key)
    bounds_ns = [one.clock_offset_ns for one in counted if one.clock_offset_ns is not None]
    hz = NS_PER_S if row.clock.unit == "ns" else row.clock.hz
    return max(bounds_ns) * hz / NS_PER_S if bounds_ns and hz else None


def widened(found: Latencies, apart: float | None) -> Latencies:
    """The latencies with intervals that hold the error of clocks which are at most `apart`; none
    if that is more than MOST of the latency, or is not known.
    """
    if found.latency is None:
        return found
    if apart is None:
        return Latencies(why="how far the clocks of its two CPUs were apart is not known")
    if apart > MOST * found.latency.value:
        return Latencies(
            why=f"the clocks of its two CPUs may be {apart:.4g} apart, more than "
            f"{100 * MOST:g} % of its {found.latency.value:.4g}"
        )
    tails = found.tails
    if tails is not None:
        quantiles = (replace(q, interval=_wider(q.interval, apart)) for q in tails.quantiles)
        tails = replace(tails, quantiles=tuple(quantiles))
    latency, base, overall = (
        _widened(one, apart) for one in (found.latency, found.base, found.overall)
    )
    return replace(found, latency=latency, base=base, overall=overall, tails=tails)


def _widened(one: LevelsEstimate | None, apart: float) -> LevelsEstimate | None:
    return one and replace(one, interval=_wider(one.interval, apart))


def _wider(interval: Interval, apart: float) -> Interval:
    return Interval(interval.low - apart, interval.high + apart, interval.level)
