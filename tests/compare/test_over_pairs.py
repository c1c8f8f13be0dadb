# SPDX-License-Identifier: BSD-2-Clause
"""Sides that took turns visit by visit: simulated machines with known truth and fixed seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cyclometer.compare import over_pairs, over_sessions, statistics
from cyclometer.compare.finding import Options
from cyclometer.compare.pairing import pairs, side
from cyclometer.compare.statistics import Change
from cyclometer.compare.verdicts import compare
from cyclometer.estimate import session
from cyclometer.estimate.session import Occasion, Session
from tests.estimate.test_session import line, made
from tests.estimate.visited import Visits

RUNS, ROUNDS = 5, 7
TOGETHER = Occasion((), "", None, "one session")


def wandering(rng: np.random.Generator, seconds: np.ndarray, sd: float, memory_s: float):
    """The logarithm of the core's speed at some moments, in order: an Ornstein-Uhlenbeck path."""
    kept = np.exp(-np.diff(seconds) / memory_s)
    path = np.empty(seconds.size)
    path[0] = sd * rng.standard_normal()
    for i, share in enumerate(kept, 1):
        path[i] = share * path[i - 1] + sd * np.sqrt(1 - share**2) * rng.standard_normal()
    return path


def two_sides(
    rng: np.random.Generator,
    change: float,
    drift: tuple[float, float] = (0.03, 6.0),
    noise: float = 0.004,
    session: float = 0.003,
) -> tuple[Session, Session]:
    """The visits of a circle whose latency changes by a fraction, on a machine that wanders, each
    5 ms from its neighbour. `noise` is of a visit; `session` is what the session adds to the row.
    """
    visits = RUNS * ROUNDS
    middle = np.sort(rng.uniform(0, 60, visits))
    speed = wandering(rng, np.sort(np.concatenate([middle, middle + 0.005])), *drift)
    speed = speed.reshape(visits, 2)
    own = session * rng.standard_normal()
    turn = rng.permuted(np.tile([0, 1], (visits, 1)), axis=1)  # which of a pair comes first
    run = np.repeat(np.arange(1, RUNS + 1), ROUNDS)
    sides = []
    for which in (0, 1):
        y = speed[np.arange(visits), turn[:, which]] + own + noise * rng.standard_normal(visits)
        values = (y + which * np.log1p(change)).tolist()
        one = made(values, run.tolist(), seconds=middle, occasion=TOGETHER)
        sides.append(replace(one, process=np.arange(visits, dtype=np.int32)))
    return sides[0], sides[1]


@pytest.mark.parametrize(
    ("drift", "noise"), [((0.03, 6.0), 0.004), ((0.03, 60.0), 0.002), ((0.0, 1.0), 0.01)]
)
def test_intervals_cover_on_a_machine_that_wanders(
    drift: tuple[float, float], noise: float
) -> None:
    rng = np.random.default_rng(1)
    found = [over_pairs.change(*two_sides(rng, 0.02, drift, noise)) for _ in range(800)]
    covered = np.mean([one.interval.contains(0.02) for one in found])
    assert 0.93 <= covered <= 0.97


def verdicts(found: list[Change]) -> list[str]:
    """The verdicts on the rows of one suite."""
    adjusted = statistics.adjust([one.p for one in found])
    return [
        statistics.decide(one, (35, 35), 0.01 / 2, float(p)).verdict
        for one, p in zip(found, adjusted, strict=True)
    ]


def test_links_planted_in_each_turn_are_found_and_no_others() -> None:
    """Every second row takes one percent more, as by so many more links of a chain in a turn."""
    rng = np.random.default_rng(2)
    planted, others = [], []
    for _ in range(20):
        suite = [over_pairs.change(*two_sides(rng, 0.01 * (i % 2), noise=0.005)) for i in range(40)]
        result = verdicts(suite)
        planted += result[1::2]
        others += result[::2]
    assert np.mean([one == "regressed" for one in planted]) >= 0.8
    assert np.mean([one in ("regressed", "improved") for one in others]) <= 0.01
    assert np.mean([one == "improved" for one in planted]) == 0


def test_what_took_turns_is_not_judged_by_the_same_visits_apart() -> None:
    """Without the pairs the drift stays in the difference: the same visits, each side by itself,
    would know the change several times worse.
    """
    rng = np.random.default_rng(3)
    before, after = two_sides(rng, 0.01)
    paired = over_pairs.change(before, after).standard_error
    apart = np.hypot(*(one.whole.std(ddof=1) / np.sqrt(one.visits) for one in (before, after)))
    assert paired < apart / 3


def test_each_pair_is_evidence_of_its_own() -> None:
    """Neighbours have lost what visits share with later ones; blocks of pairs would have fewer
    degrees of freedom and no better error.
    """
    before, after = two_sides(np.random.default_rng(6), 0.01)
    found = over_pairs.change(before, after)
    apart = session.pseudo_values(after.whole - before.whole)
    assert found.df == pytest.approx(before.visits - 1)
    assert found.standard_error == pytest.approx(np.std(apart, ddof=1) / np.sqrt(before.visits))


def test_a_cost_of_entering_tests_is_one_for_both_sides() -> None:
    """Each side's estimate of it errs by a percent of the latency, in all visits alike."""
    rng, found = np.random.default_rng(7), []
    for _ in range(300):
        sides = []
        for one in two_sides(rng, 0.01):
            error = 0.01 * rng.standard_normal()
            cost = line(2000.0 + 1e4 * error, 100.0)
            less = one.whole - error
            sides.append(replace(one, whole=one.whole + 1, less=less, fixed_cost=cost, share=1e-4))
        found.append(over_pairs.change(*sides))
    assert 0.93 <= np.mean([one.interval.contains(0.01) for one in found]) <= 0.97
    assert max(one.standard_error for one in found) < 0.003


def test_rounds_with_pauses_between_them_are_the_blocks() -> None:
    """What a round adds to one side is shared by its pairs, and not new evidence in each."""
    rng = np.random.default_rng(5)
    before, after = two_sides(rng, 0.01)
    rounds = np.repeat(np.arange(ROUNDS), RUNS)
    moved = replace(after, whole=after.whole + 0.01 * rng.standard_normal(ROUNDS)[rounds])
    spread = over_pairs.change(replace(before, stretch=rounds), moved)
    apart = moved.whole - before.whole
    means = [apart[rounds == one].mean() for one in range(ROUNDS)]
    assert spread.standard_error == pytest.approx(np.std(means, ddof=1) / np.sqrt(ROUNDS))
    assert spread.df == pytest.approx(ROUNDS - 1)


def test_visits_without_a_neighbour_are_left_out() -> None:
    before, after = two_sides(np.random.default_rng(4), 0.01)
    late = after.part(np.arange(3, after.visits))
    first, second = over_pairs.neighbours(before, late)
    np.testing.assert_array_equal(first, np.arange(3, before.visits))
    np.testing.assert_array_equal(second, np.arange(late.visits))
    swapped = late.part(np.arange(late.visits)[::-1])
    np.testing.assert_array_equal(over_pairs.neighbours(before, swapped)[1], second[::-1])


def test_a_fixed_difference_has_no_error() -> None:
    before = made([1.0, 2.0, 3.0, 4.0], occasion=TOGETHER)
    same = over_pairs.change(before, before)
    assert (same.log_ratio, same.standard_error, same.p) == (0, 0, 1)
    more = over_pairs.change(before, replace(before, whole=before.whole + 0.5))
    assert (more.log_ratio, more.p) == (0.5, 0)


def bundle(side_name: str, factor: float, together: str = "x", visits: int = 8):
    made_up = Visits()
    row = made_up.row("pipe")
    for number in range(visits):
        values = [factor * (1000 + 10 * number + i) for i in range(3)]
        made_up.add(row, 1, 10_000 * number, values)
    return made_up.bundle(ab={"id": together, "side": side_name})


def test_bundles_that_took_turns_are_compared_by_pairs() -> None:
    (found,) = compare(side([bundle("before", 1)]), side([bundle("after", 1.05)])).findings
    assert (found.scope, found.verdict) == ("between pairs", "regressed")
    assert found.change == pytest.approx(0.05)


@pytest.mark.parametrize(("together", "visits"), [("y", 8), ("x", 3)])
def test_others_are_compared_by_sessions(together: str, visits: int) -> None:
    sides = side([bundle("before", 1)]), side([bundle("after", 1.05, together, visits)])
    (pair,) = pairs(*sides)
    assert not over_pairs.have(pair)
    assert over_sessions.have(pair)
    assert compare(*sides, Options()).findings[0].scope == "between sessions"
