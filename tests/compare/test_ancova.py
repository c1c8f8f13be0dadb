# SPDX-License-Identifier: BSD-2-Clause
"""The change between sessions, at one speed of the core."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm

from cyclometer.compare.ancova import SLOPES, AlignedDifference, difference
from cyclometer.estimate import session
from cyclometer.estimate.interval import FloatArray
from cyclometer.estimate.reference import Reference
from cyclometer.estimate.session import Session
from tests.estimate.test_session import line, made


def drawn(
    seed: int, level: float, speed: float = 0.0, slope: float = 1.0, visits: int = 36
) -> Session:
    """Visits of a circle that follows the core's speed with this slope."""
    rng = np.random.default_rng(seed)
    x = speed + rng.normal(0, 0.03, visits)
    y = level + slope * x + rng.normal(0, 0.002, visits)
    run = [1 + i % 5 for i in range(visits)]
    return made(y.tolist(), run, x=x, reference=Reference(np.zeros(1)))


def pooled_slope(x: list[FloatArray], y: list[FloatArray]) -> tuple[float, float]:
    """Least squares with an intercept for each session, and the variance of the slope."""
    sessions = np.repeat(np.arange(len(x)), [one.size for one in x])
    columns = (sessions[:, None] == np.arange(len(x))).astype(float)
    fit = sm.OLS(np.concatenate(y), np.column_stack([np.concatenate(x), columns])).fit()
    return fit.params[0], fit.bse[0] ** 2


@pytest.mark.parametrize("slope", [1.0, 0.4, 0.0])
def test_the_change_is_that_of_the_means_along_the_slope(slope: float) -> None:
    before, after = drawn(1, 5.0, slope=slope), drawn(2, 5.02, speed=0.05, slope=slope)
    found = difference([before], [after])
    y = [one.y(False) for one in (before, after)]
    seen, variance = pooled_slope([before.x, after.x], y)
    weight = (1 / variance) / (1 / variance + SLOPES**-2)
    beta = weight * seen + (1 - weight)
    assert found.slope == pytest.approx(beta)
    means = [
        session.mean(b - beta * one.x, one.process)
        for one, b in zip((before, after), y, strict=True)
    ]
    assert found.before == (pytest.approx(means[0].value),)
    assert found.after == (pytest.approx(means[1].value),)
    assert found.value == pytest.approx(means[1].value - means[0].value)
    assert found.value == pytest.approx(0.02, abs=0.003)
    speed = after.x.mean() - before.x.mean()
    assert found.speed == pytest.approx(speed)
    of_slope = speed**2 / (1 / variance + SLOPES**-2)
    assert found.own_variance == pytest.approx(means[0].variance + means[1].variance + of_slope)
    assert found.parts[-1] == (pytest.approx(of_slope), 1e9)


def test_a_slope_that_the_visits_tell_badly_is_taken_for_one() -> None:
    """The core's speed hardly moved within the sessions, so that only the prior says what a speed
    that differs between them did.
    """
    rng = np.random.default_rng(5)
    still = [drawn(i, 5.0) for i in (1, 2)]
    x = [rng.normal(at, 1e-6, 36) for at in (0.0, 0.05)]
    sides = [
        replace(one, x=new, whole=new + rng.normal(5, 0.002, 36))
        for one, new in zip(still, x, strict=True)
    ]
    found = difference([sides[0]], [sides[1]])
    assert found.slope == pytest.approx(1, abs=0.01)
    assert found.value == pytest.approx(0, abs=0.002)
    assert found.parts[-1][0] == pytest.approx((0.05 * SLOPES) ** 2, rel=0.02)


def test_without_a_reference_the_slope_is_one_of_nothing() -> None:
    before, after = made([1.0, 1.1, 1.2]), made([2.0, 2.1, 2.3])
    found = difference([before], [after])
    assert (found.slope, found.speed, found.by_floors) == (1, None, False)
    assert found.value == pytest.approx(sum([2.0, 2.1, 2.3]) / 3 - 1.1)
    assert found.parts[-1][0] == 0


def test_a_perfect_line_has_its_slope_for_sure() -> None:
    x = np.array([0.0, 0.1, 0.3])
    sides = [made((5 + 0.5 * x + by).tolist(), x=x + by) for by in (0.0, 0.2)]
    found = difference([sides[0]], [sides[1]])
    assert found.slope == pytest.approx(0.5)


def floors(one: Session, zero: float) -> Session:
    return replace(one, reference=Reference(zero={"floor.alu": zero}))


def test_x_of_floors_is_aligned_by_their_levels() -> None:
    """Both sessions say of themselves that the core ran as usual; their floors say that it ran 5 %
    slower after.
    """
    before, after = drawn(1, 5.0), drawn(2, 5.05)
    found = difference([floors(before, 1.0)], [floors(after, 1.05)])
    assert found.by_floors
    assert found.speed == pytest.approx(0.05 + after.x.mean() - before.x.mean())
    assert found.value == pytest.approx(0, abs=0.004)


def test_sessions_that_cannot_be_aligned_are_compared_at_their_own_speeds() -> None:
    before, after = drawn(1, 5.0), drawn(2, 5.0, speed=0.3)
    found = difference([before], [floors(after, 1.0)])
    assert found.speed is None
    assert found.value == pytest.approx(after.whole.mean() - before.whole.mean(), abs=0.01)
    assert found.parts[-1][0] == pytest.approx(0, abs=1e-12)


def test_several_sessions_a_side() -> None:
    """Each session counts once, at the speed of the first; errors fall as their number squared."""
    before = [drawn(i, 5.0 + 0.01 * i, speed=0.02 * i) for i in range(3)]
    after = [drawn(9, 5.0), drawn(8, 5.1)]
    found = difference(before, after)
    assert (len(found.before), len(found.after)) == (3, 2)
    assert np.diff(found.before) == pytest.approx([0.01, 0.01], abs=0.003)
    assert found.value == pytest.approx(5.05 - 5.01, abs=0.003)
    x = [one.x for one in (*before, *after)]
    speed = np.mean([a.mean() for a in x[3:]]) - np.mean([a.mean() for a in x[:3]])
    assert found.speed == pytest.approx(speed)
    y = [one.y(False) - found.slope * one.x for one in (*before, *after)]
    own = [session.mean(z, before[0].process).variance for z in y]
    of_slope = found.parts[-1][0]
    assert found.own_variance == pytest.approx(sum(own[:3]) / 9 + sum(own[3:]) / 4 + of_slope)


def with_cost(c: float, error: float, less: float | None = 0.5) -> Session:
    off = None if less is None else np.array([1.0, 1.1, 1.2]) - less
    return made([1.0, 1.1, 1.2], fixed_cost=line(c, error), less=off, share=0.01)


@pytest.mark.parametrize(
    ("costs", "there"),
    [
        ([(2.9, 1.0), (3.1, 1.0)], True),  # together 6 / sqrt(2) = 4.2
        ([(2.0, 1.0), (2.0, 1.0)], False),  # 2.8
        ([(3.1, 1.0), (0.0, 1.0)], False),  # 2.2
        ([(-3.0, 1.0), (-3.0, 1.0)], True),
        ([(4.0, 1.0), (0.0, 100.0)], True),  # the second knows nothing
        ([(1.0, 0.0), (0.0, 1.0)], True),  # the first knows all
        ([(0.0, 0.0), (5.0, 1.0)], False),
    ],
)
def test_a_fixed_cost_is_subtracted_on_both_sides_or_on_neither(
    costs: list[tuple[float, float]], there: bool
) -> None:
    """The sides lose one cost, the mean of theirs by what each knows; each side's own is 0.5."""
    before, after = (with_cost(*cost) for cost in costs)
    found = difference([before], [after])
    c, error = np.transpose(costs)
    common = np.average(c, weights=1 / np.maximum(error, 1e-6) ** 2)
    means = 1.1 + there * (-0.5 + 0.01 * (c - common))
    assert (found.before[0], found.after[0]) == pytest.approx(tuple(means))
    assert found.own_variance == pytest.approx(2 * 0.01 / 3)


def test_costs_that_clearly_differ_are_each_sides_own() -> None:
    """The difference of 4.3 is 3.04 errors; then the error of either cost is one of the change."""
    before, after = with_cost(20.0, 1.0), with_cost(24.3, 1.0)
    found = difference([before], [after])
    assert (found.before[0], found.after[0]) == pytest.approx((0.6, 0.6))
    assert found.own_variance == pytest.approx(2 * 0.01 / 3 + 2 * 0.01**2)
    assert found.parts[2:4] == ((pytest.approx(1e-4), 2),) * 2
    several = difference([before, before], [after])
    assert several.parts[3][0] == pytest.approx(1e-4 / 4)


def test_a_common_cost_errs_by_how_differently_the_sides_follow_it() -> None:
    before = with_cost(20.0, 1.0)
    found = difference([before], [replace(with_cost(21.0, 1.0), share=0.03)])
    assert found.before[0] == pytest.approx(0.6 + 0.01 * (20 - 20.5))
    assert found.after[0] == pytest.approx(0.6 + 0.03 * (21 - 20.5))
    assert found.parts[2] == (pytest.approx(0.02**2 / 2), 4)


def test_a_cost_that_one_side_cannot_subtract_stays_on_both() -> None:
    for after in (with_cost(90.0, 1.0, less=None), made([1.0, 1.1, 1.2])):
        found = difference([with_cost(90.0, 1.0)], [after])
        assert found.before[0] == pytest.approx(1.1)


@pytest.mark.parametrize("visits", [4, 23, 24])
def test_few_visits_that_agree_are_known_no_better_than_others(visits: int) -> None:
    """Below two visits for each of 12 blocks."""
    usual = replace(drawn(1, 5.0), x=np.zeros(36))
    same = made([5.0, 5.0 + 1e-9] * 12, x=np.zeros(24), reference=Reference(np.zeros(1)))
    few = same.part(np.arange(visits))
    found = difference([usual], [few])
    spread = np.sum((usual.y(False) - usual.y(False).mean()) ** 2) / (35 + visits - 1)
    wanted = spread / visits if visits < 24 else 0.0
    assert found.parts[-2][0] == pytest.approx(wanted, rel=0.01, abs=1e-15)


def test_own_variance_is_the_sum_of_the_parts() -> None:
    one = AlignedDifference((1.0,), (2.0,), ((0.1, 3.0), (0.2, 4.0)), 1.0, None, False)
    assert one.own_variance == pytest.approx(0.3)
