# SPDX-License-Identifier: BSD-2-Clause
"""Comparison of two sides that took turns visit by visit in one session (`cyclometer ab`).

Neighbouring visits see one core at one speed and one state of the machine. Their differences hold
nothing of how sessions differ, so that neither a reference nor a session component is needed. Nor
do they hold the drift within the session, so that a pair is as good as independent of the next.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cyclometer.compare.ancova import subtracted_costs
from cyclometer.compare.finding import Basis, Options, both, elsewhere
from cyclometer.compare.pairing import Pair
from cyclometer.compare.statistics import Change, two_sided
from cyclometer.estimate.interval import FloatArray, student
from cyclometer.estimate.rows import Estimate
from cyclometer.estimate.session import FEWEST_BLOCKS, Session, mean, pseudo_values, satterthwaite


def have(pair: Pair) -> bool:
    """Whether the visits of both sides are neighbours, and enough for blocks of time."""
    sessions = [e.sessions for e in both(pair)]
    if pair.on != "latency" or any(len(one) != 1 for one in sessions):
        return False
    (before,), (after,) = sessions
    if not before.occasion.paired or before.occasion.paired != after.occasion.paired:
        return False
    return neighbours(before, after)[0].size >= FEWEST_BLOCKS


def neighbours(before: Session, after: Session) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of the visits of either side that make pairs, in order of time, shapes (pairs,)."""
    names = (_names(before), _names(after))
    _, first, second = np.intersect1d(*names, assume_unique=True, return_indices=True)
    order = np.argsort(before.seconds[first], kind="stable")
    return first[order], second[order]


def _names(one: Session) -> NDArray[np.int64]:
    """A number for each visit of a session that its neighbour shares."""
    return (one.run.astype(np.int64) << 32) | one.number


def basis(pair: Pair, options: Options) -> Basis:
    """What the pairs of visits say about a circle."""
    b, a = both(pair)
    pairs = neighbours(b.sessions[0], a.sessions[0])[0].size
    found, overall = change(b.sessions[0], a.sessions[0], options.level), _overall(b, a)
    return Basis(
        change=found,
        units=(pairs, pairs),
        unit="pair",
        overall=overall,
        disagreement=elsewhere(overall, found.log_interval, options),
    )


def change(before: Session, after: Session, level: float = 0.95) -> Change:
    """The mean difference of neighbouring visits, as log(after / before), with the error that the
    pairs show; the pairs of rounds with pauses between them share a minute, and such rounds show
    it. There must be two pairs at least.
    """
    first, second = neighbours(before, after)
    costs = subtracted_costs([before], [after])
    y = [
        _y(one, costs.subtract) + by for one, by in zip((before, after), costs.shifts, strict=True)
    ]
    apart = pseudo_values(y[1][second] - y[0][first])
    stretch = None if before.stretch is None else before.stretch[first]
    # each pair is a block of its own, for no drift is left in it that the next one shares
    average = mean(apart, before.process[first], stretch, blocks=apart.size)
    variance, df = satterthwaite((*average.parts, *costs.parts))
    value, error = average.value, math.sqrt(variance)
    p = two_sided(value, error, df) if error else float(not value)
    return Change(value, error, df, student(value, error, df, level), p)


def _y(one: Session, subtract: bool) -> FloatArray:
    """The visits, at one speed of the core if that was read beside each test; floor circles follow
    it no closer than the neighbour does.
    """
    y = one.plain(subtract)
    return y - one.x if one.reference and one.reference.tests is not None else y


def _overall(b: Estimate, a: Estimate) -> float:
    """The change of the overall latency, as a logarithm."""
    before, after = (np.mean(np.log([run.overall.value for run in e.runs])) for e in (b, a))
    return float(after - before)
