# SPDX-License-Identifier: BSD-2-Clause
"""What to measure in which order: test sizes, tests a visit, and the randomised order of visits."""

from __future__ import annotations

import fnmatch
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from cyclometer.bundle.model import Contract
from cyclometer.errors import UsageError
from cyclometer.record.schema import Flow
from cyclometer.targets.linux.placement import PARAMETER

# A test this long is mostly free of timer ticks (4 ms apart at 250 Hz) and dwarfs what reading a
# clock costs.
TEST_S = 150e-6
# Groups a flow, so that the fixed cost can be separated from the latency, and a bend be seen.
SIZES = 3
# Of a test of TEST_S: the smaller, the better the fixed cost is known; it has to dwarf the reading.
SMALLEST = 0.25
GAP_S = 35e-6  # reading the counters between two tests
PASSES = 10  # libmicrokitco's ten, from cold to hot
REFERENCES = (
    "floor.empty",
    "floor.empty.unrolled",
    "floor.alu",
    "floor.cache",
    "floor.code",
    "syscall.null",
)
REFERENCE_EVERY = 80  # visits
REFERENCE_SHARE = 0.05  # of the time, about
_REFERENCE_TESTS = 3
AGAIN_SHARE = 0.05  # of the time, for circles of which few visits were undisturbed
_TURNS_MAX = 1 << 22
_MANY_TURNS = 1 << 8
_TESTS_MIN, _TESTS_MAX = 3, 1000
FEWEST_ROUNDS = 3
"""Rounds of five visits of which a busy machine leaves enough to tell their spread."""


@dataclass(frozen=True)
class Cost:
    """What calibration found for a circle: seconds a turn, and seconds a visit costs beyond its
    tests.
    """

    turn_s: float
    visit_s: float


def accumulated_flow(cost: Cost, tests: int) -> Flow:
    """Three sizes about the turns that fill TEST_S: SMALLEST of them, all, and as many more;
    consecutive sizes where turns are long.
    """
    turns = min(_TURNS_MAX, TEST_S / cost.turn_s)
    initial = _whole_rounds(SMALLEST * turns)
    delta = _whole_rounds((1 - SMALLEST) * turns)
    return Flow(initial, delta, groups=SIZES, tests=tests)


def _whole_rounds(turns: float) -> int:
    """The next number of turns, one at least; whole rounds of the unrolled loops of short
    circles.
    """
    step = _MANY_TURNS if turns > _MANY_TURNS else 1
    return max(1, round(turns / step) * step)


def single_flow(tests: int) -> Flow:
    """Single turns, for the direct method and for passes."""
    return Flow(initial=1, delta=0, groups=1, tests=tests)


def test_s(flow: Flow, cost: Cost) -> float:
    """Seconds that one test of each group takes, readings included."""
    turns = sum(flow.initial + g * flow.delta for g in range(flow.groups))
    return turns * cost.turn_s + flow.groups * GAP_S


def tests_within(flow: Flow, cost: Cost, share_s: float, runs: int, rounds: int) -> int:
    """Tests a group and visit, so that `runs` times `rounds` visits of a circle take `share_s`.

    With the runs given, the most precise plan within a budget is the one with most tests, so every
    circle gets the same share of the time and fills it.
    """
    visit_s = share_s / (runs * rounds)
    return max(_TESTS_MIN, min(_TESTS_MAX, int((visit_s - cost.visit_s) / test_s(flow, cost))))


def least_s(flow: Flow, cost: Cost) -> float:
    """Seconds that a visit takes with the fewest tests of each size of `flow`."""
    return cost.visit_s + _TESTS_MIN * test_s(flow, cost)


def rounds_within(left_s: float, round_s: float, most: int) -> int:
    """Rounds that fit a time if one takes `round_s` at least: `most` at most, and FEWEST_ROUNDS,
    though they take longer, unless `most` is less.

    Where time is short, fewer visits are the better measurement: what a visit costs beyond its
    tests does not shrink with them, and tests of one visit share its layout.
    """
    fits = int(left_s / round_s) if round_s > 0 else most
    return min(most, max(FEWEST_ROUNDS, fits))


def pace(left_s: float, visits: int, visit_s: float) -> float:
    """The part of the planned tests that the time left allows, 1 at most: machines slow down after
    calibration.
    """
    return max(0.0, min(1.0, left_s / (visits * visit_s))) if visit_s > 0 else 1.0


def paced(flow: Flow, share: float) -> Flow:
    """`flow` with that share of its tests, and no fewer than any flow has."""
    return Flow(
        flow.initial,
        flow.delta,
        flow.groups,
        max(min(_TESTS_MIN, flow.tests), int(flow.tests * share)),
    )


def shuffled(
    keys: Sequence[str], runs: int, rounds: int, rng: random.Random
) -> list[tuple[int, int, str]]:
    """(round, run, key) of every visit: within a round, circles and runs in one random order."""
    order: list[tuple[int, int, str]] = []
    for number in range(rounds):
        visits = [(number, run, key) for run in range(1, runs + 1) for key in keys]
        rng.shuffle(visits)
        order += visits
    return order


def again(undisturbed: Mapping[str, int], planned: int, rng: random.Random) -> list[str]:
    """The circles to visit again, in random order: those of which fewer than half of the `planned`
    visits were undisturbed, once for each that was not.
    """
    short = {key: visits for key, visits in undisturbed.items() if 2 * visits < planned}
    order = [key for key, visits in short.items() for _ in range(planned - visits)]
    rng.shuffle(order)
    return order


def reference_flow(cost: Cost) -> Flow:
    """A short look at a reference circle."""
    return accumulated_flow(cost, _REFERENCE_TESTS)


def choose(
    contracts: Sequence[Contract], only: Sequence[str], two_cpus: bool = True
) -> list[Contract]:
    """The circles that match, and the references, which every measurement of Linux needs;
    UsageError for none.

    Unless `two_cpus`, circles of two CPUs are chosen only by patterns that match no others.
    """
    matching = [c for c in contracts if any(fnmatch.fnmatchcase(c.key, one) for one in only)]
    on_one = [c for c in matching if PARAMETER not in c.params]
    chosen = {c.key for c in (matching if two_cpus else on_one or matching)}
    if not chosen:
        close = get_close_matches(only[0], [c.key for c in contracts], n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise UsageError(
            f"no circle matches {' '.join(only)}{hint}; `cyclometer list` shows them all"
        )
    return [c for c in contracts if c.key in chosen or c.key in REFERENCES]
