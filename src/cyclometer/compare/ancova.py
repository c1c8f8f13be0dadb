# SPDX-License-Identifier: BSD-2-Clause
"""Two sides of sessions -> the change of one circle, with the core's speed taken off.

The visits of both sides are regressed on the reference x, as in an analysis of covariance. The true
slope is one for nearly every circle, and a minute's visits tell it badly; so their slope is shrunk
towards one by how well they tell it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cyclometer.estimate.interval import FloatArray
from cyclometer.estimate.marginal import MarginalFit
from cyclometer.estimate.reference import shift
from cyclometer.estimate.session import BLOCKS, CLEAR, Mean, Session, mean

SLOPES = 0.15
"""Standard deviation of the circles' true slopes about one."""
_LEAST = 1e-12  # of a variance in squared clock units that counts as 0
_CERTAIN = 1e9  # degrees of freedom of a variance that is as good as known

Parts = tuple[tuple[float, float], ...]
"""(variance, degrees of freedom) of what an error is the sum of."""


@dataclass(frozen=True)
class AlignedDifference:
    """What the visits say about log(after / before).

    before, after: the mean of each session's visits at the speed of the first session, as logs.
    parts: what the error of `value` consists of, as far as the sessions' own visits know it.
    plain: the same by plain means over the visits, and its error by single visits.
    speed: by how much x is higher after; None if nothing aligns the sides.
    by_floors: whether x comes from the floor circles.
    """

    before: tuple[float, ...]
    after: tuple[float, ...]
    parts: Parts
    slope: float
    speed: float | None
    by_floors: bool
    plain: tuple[float, float] = (0.0, math.inf)

    @property
    def value(self) -> float:
        """log(after / before), each the mean over its sessions; without a unit."""
        return float(np.mean(self.after) - np.mean(self.before))

    @property
    def own_variance(self) -> float:
        """The variance of `value`, in squared logarithms, as far as the sessions' own visits show
        it.
        """
        return sum(variance for variance, _ in self.parts)


def difference(before: Sequence[Session], after: Sequence[Session]) -> AlignedDifference:
    """The change from the sessions of one side, at least one, to those of the other.

    A fixed cost is subtracted on both sides or on neither: taken off one alone it would be a
    change.
    """
    sessions = [*before, *after]
    costs = subtracted_costs(before, after)
    shifts = [shift(sessions[0].reference, one.reference) for one in sessions]
    aligned = None not in shifts
    # Without a common zero only the drift within each session can be taken off.
    x = [
        one.x + (by or 0.0) if aligned else one.x - one.x.mean()
        for one, by in zip(sessions, shifts, strict=True)
    ]
    y = [one.y(costs.subtract) + by for one, by in zip(sessions, costs.shifts, strict=True)]
    slope, variance = _slope(x, y)
    z = [b - slope * a for a, b in zip(x, y, strict=True)]
    means = [
        _widened(mean(one, s.process, s.stretch), one.size, z)
        for one, s in zip(z, sessions, strict=True)
    ]
    cut = len(before)
    speed = float(np.mean([a.mean() for a in x[cut:]]) - np.mean([a.mean() for a in x[:cut]]))
    parts = [
        (variance / len(side) ** 2, df)
        for side in (means[:cut], means[cut:])
        for average in side
        for variance, df in average.parts
    ]
    return AlignedDifference(
        before=tuple(m.value for m in means[:cut]),
        after=tuple(m.value for m in means[cut:]),
        # an error of the slope moves the change in proportion to how far the speeds lie apart
        parts=(*parts, *costs.parts, (speed**2 * variance, _CERTAIN)),
        slope=slope,
        speed=speed if aligned else None,
        by_floors=any(one.reference and one.reference.zero is not None for one in sessions),
        plain=_by_plain_means(
            [
                one.plain(costs.subtract) + by - slope * own
                for one, by, own in zip(sessions, costs.shifts, x, strict=True)
            ],
            cut,
        ),
    )


def _by_plain_means(z: Sequence[FloatArray], before: int) -> tuple[float, float]:
    """The change of the means over sessions of `z`, of which so many are before, and its error."""
    sides = z[:before], z[before:]
    mean_of = [float(np.mean([one.mean() for one in side])) for side in sides]
    variance = sum(
        float(one.var(ddof=1)) / one.size / len(side) ** 2
        for side in sides
        for one in side
        if one.size > 1
    )
    return mean_of[1] - mean_of[0], math.sqrt(variance)


@dataclass(frozen=True)
class SubtractedCosts:
    """What of fixed costs is taken off two sides: whether any is; what each session's visits, which
    have lost its own cost, take on top so that all have lost the same; and `parts` of the error
    that this leaves in the change.
    """

    subtract: bool
    shifts: tuple[float, ...]
    parts: Parts


def subtracted_costs(before: Sequence[Session], after: Sequence[Session]) -> SubtractedCosts:
    """One cost for both sides, whose error they share, unless their costs clearly differ.

    What a test costs to enter and to leave is the rig's, and mostly the same on both sides: if each
    side had its own estimate of it, the errors of both would be a change.
    """
    sessions = [*before, *after]
    own = SubtractedCosts(fixed_cost_is_there(sessions), (0.0,) * len(sessions), ())
    if not own.subtract:
        return own
    sides = [[one.fixed_cost for one in side if one.fixed_cost] for side in (before, after)]
    common = [_together(side) for side in sides]
    apart = abs(common[0][0] - common[1][0])
    if apart > CLEAR * math.sqrt(common[0][1] + common[1][1]):
        parts = [
            (one.cost_error(True) ** 2 / len(side) ** 2, one.visits - 1.0)
            for side in (before, after)
            for one in side
        ]
        return replace(own, parts=tuple(parts))
    c, variance = _together([*sides[0], *sides[1]])
    shifts = [(one.fixed_cost.c - c) * one.share for one in sessions if one.fixed_cost]
    share = np.mean([one.share for one in after]) - np.mean([one.share for one in before])
    df = sum(one.visits - 1.0 for one in sessions)
    return SubtractedCosts(True, tuple(shifts), ((float(share) ** 2 * variance, df),))


def _together(costs: Sequence[MarginalFit]) -> tuple[float, float]:
    """The mean of some fixed costs by what each knows, and its variance; one that is known for sure
    decides.
    """
    weight = np.array([1 / max(cost.c_standard_error**2, _LEAST) for cost in costs])
    c = np.array([cost.c for cost in costs])
    return float(weight @ c / weight.sum()), float(1 / weight.sum())


def fixed_cost_is_there(sessions: Sequence[Session]) -> bool:
    """Whether all sessions together show a fixed cost, and each of them can subtract it."""
    costs = [one.fixed_cost for one in sessions if one.less is not None and one.fixed_cost]
    if len(costs) < len(sessions):
        return False
    c = np.array([cost.c for cost in costs])
    error = np.array([cost.c_standard_error for cost in costs])
    # no weight is large enough for a cost that is known for sure: it decides alone
    if not error.all():
        return bool(np.any(c[error == 0]))
    return abs(float(np.sum(c / error**2))) > CLEAR * math.sqrt(float(np.sum(error**-2)))


def _slope(x: Sequence[FloatArray], y: Sequence[FloatArray]) -> tuple[float, float]:
    """The slope of y on x within the sessions, shrunk towards one, and its variance."""
    dx = np.concatenate([one - one.mean() for one in x])
    dy = np.concatenate([one - one.mean() for one in y])
    square, df = float(dx @ dx), dx.size - len(x) - 1
    if not square or df < 1:
        return 1.0, SLOPES**2
    seen = float(dx @ dy) / square
    error = float(np.sum((dy - seen * dx) ** 2)) / df / square
    if not error:
        return seen, 0.0
    # that slopes lie about one counts as a measurement with the error SLOPES
    precision = 1 / error + SLOPES**-2
    return (seen / error + SLOPES**-2) / precision, 1 / precision


def _widened(found: Mean, visits: int, z: Sequence[FloatArray]) -> Mean:
    """The mean over the visits of one of the sessions `z`. Few visits may agree by chance: if there
    are not two for each block, their variance is at least what visits of all sessions have.
    """
    if visits >= 2 * BLOCKS:
        return found
    squares = sum(float(np.sum((one - one.mean()) ** 2)) for one in z)
    usual = squares / sum(one.size - 1 for one in z) / visits
    (own, df), *rest = found.parts
    return replace(found, parts=((max(own, usual), df), *rest))
