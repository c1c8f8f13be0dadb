# SPDX-License-Identifier: BSD-2-Clause
"""Sessions of simulated machines whose every latency is known, test by test, as the Linux harness
stores them.

A test of N turns takes (c + N b exp(z)) exp(x) ticks. x is the core's speed, which the readings
beside the test tell; z is what the session, the visit's layout and the test itself add to the
circle. A tick of the host lengthens a test now and then. Each visit is a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from cyclometer.bundle.model import (
    COLUMNS,
    SCHEMA,
    Bundle,
    Clock,
    Contract,
    Identity,
    Row,
    samples,
)
from cyclometer.estimate.interval import FloatArray

TSC = Clock("tsc", "ticks", 2.6e9)
RUNS, ROUNDS = 5, 7  # runs of a session, and visits of each circle in a run
SIZES = np.tile([0.5, 1.0, 1.5], 12)  # tests of a visit, in units of the middle size
MIDDLE_TICKS = 430_000.0  # a test of the middle size
SESSION_S = 40.0
FIXED_TICKS = 100.0  # c
TEST = 0.002
LAYOUT, VISIT = (0.0005, 0.01), (0.002, 0.02)  # from circle to circle
TICK_TICKS, TICK_S = 18_000.0, 1e-3  # what a tick of the host takes, and how often it comes
JITTER, JITTER_S = 0.009, 3e-3  # of the core's speed, beside its drift
READING = 1e-4  # relative error of a reading of the core's speed
READ_TICKS = 10_000_000

Speed = Callable[[Generator, FloatArray], FloatArray]
"""x at moments in seconds, which are in order."""


@dataclass(frozen=True)
class Machine:
    """What a machine does to its sessions. `offset` and `own` are how far sessions differ in speed,
    and in each circle by itself, as standard deviations of logarithms.
    """

    speed: Speed
    offset: float = 0.0
    own: float = 0.0


def wandering(rng: Generator, seconds: FloatArray, sd: float, memory_s: float) -> FloatArray:
    """An Ornstein-Uhlenbeck path."""
    kept = np.exp(-np.diff(seconds) / memory_s)
    steps = sd * np.sqrt(1 - kept**2) * rng.standard_normal(kept.size)
    path = np.empty(seconds.size)
    path[0] = sd * rng.standard_normal()
    for i, (share, step) in enumerate(zip(kept, steps, strict=True)):
        path[i + 1] = share * path[i] + step
    return path


def two_speeds(rng: Generator, seconds: FloatArray, apart: float, memory_s: float) -> FloatArray:
    """Two regimes that take turns, each of exponential length."""
    turns = np.cumsum(rng.exponential(memory_s, int(20 + 4 * SESSION_S / memory_s)))
    return apart * ((np.searchsorted(turns, seconds) + rng.integers(2)) % 2).astype(float)


MACHINES = {
    "drift": Machine(lambda rng, at: wandering(rng, at, 0.03, 6.0)),
    "regimes": Machine(lambda rng, at: two_speeds(rng, at, 0.05, 6.0)),
    "days apart": Machine(lambda rng, at: wandering(rng, at, 0.03, 6.0), offset=0.03, own=0.003),
    "steady": Machine(lambda _, at: np.zeros(at.size)),
}


@dataclass(frozen=True)
class Suite:
    """Circles: cycles of a turn, turns of the middle size, and how far layouts and visits differ;
    arrays of shape (circles,).
    """

    b: FloatArray
    turns: FloatArray
    layout: FloatArray
    visit: FloatArray

    @classmethod
    def drawn(cls, rng: Generator, circles: int) -> Suite:
        b, layout, visit = (
            np.exp(rng.uniform(*np.log(ends), circles)) for ends in ((300, 30_000), LAYOUT, VISIT)
        )
        return cls(b, 2 * np.round(MIDDLE_TICKS / b / 2), layout, visit)


def session(
    rng: Generator, machine: Machine, suite: Suite, created: str
) -> tuple[Bundle, FloatArray]:
    """One session, and the true latency of each circle in it in core cycles."""
    (bundle,), truth = _measured(rng, machine, suite, created, np.zeros((1, suite.b.size)))
    return bundle, truth


def taking_turns(
    rng: Generator, machine: Machine, suite: Suite, change: FloatArray
) -> list[Bundle]:
    """The two sides of one session that take turns visit by visit; `change` is the fraction by
    which each circle is slower on the second, shape (circles,).
    """
    changes = np.stack([np.zeros(change.size), change])
    return _measured(rng, machine, suite, "2026-11-01T00:00:00+00:00", changes)[0]


def _measured(
    rng: Generator, machine: Machine, suite: Suite, created: str, changes: FloatArray
) -> tuple[list[Bundle], FloatArray]:
    """The bundles of all sides, and the true latency of each circle without a change.

    Args:
        changes: fractions by which circles are slower, shape (sides, circles).
    """
    sides, circles = changes.shape
    visits = RUNS * ROUNDS * circles
    own = machine.own * rng.standard_normal(circles)
    order = np.concatenate(
        [rng.permutation(np.repeat(np.arange(circles), ROUNDS)) for _ in range(RUNS)]
    )
    circle = np.repeat(order, sides)
    side = rng.permuted(np.tile(np.arange(sides), (visits, 1)), axis=1).ravel()
    turns = suite.turns[circle, None] * SIZES
    length = turns * suite.b[circle, None]  # nearly, in ticks; what places tests in time
    begin = np.repeat(np.linspace(0, SESSION_S, visits, endpoint=False), sides) * TSC.hz
    begin += np.tile(np.arange(sides), visits) * 1.2 * length.sum(axis=1)
    at = begin[:, None] + 1.1 * (np.cumsum(length, axis=1) - length)
    seconds = at.ravel() / TSC.hz
    x = machine.offset * rng.standard_normal() + machine.speed(rng, seconds)
    x = (x + wandering(rng, seconds, JITTER, JITTER_S)).reshape(at.shape)
    z = own[circle] + np.log1p(changes)[side, circle]
    for spread in (suite.layout, suite.visit):
        z = z + spread[circle] * rng.standard_normal(circle.size)
    latency = suite.b[circle, None] * np.exp(z[:, None] + TEST * rng.standard_normal(at.shape))
    value = (FIXED_TICKS + turns * latency) * np.exp(x)
    value += TICK_TICKS * (rng.random(at.shape) < length / TSC.hz / TICK_S)
    run = np.repeat(np.arange(1, RUNS + 1), visits * sides // RUNS)
    number = np.repeat(np.arange(visits), sides)
    read = np.round(READ_TICKS / np.exp(x + READING * rng.standard_normal(x.shape)))
    columns = {
        "row": np.repeat(circle, SIZES.size),
        "run": np.repeat(run, SIZES.size),
        "visit": np.repeat(number, SIZES.size),
        "turns": turns.ravel(),
        "value": value.ravel(),
        "at": at.ravel().astype(np.int64),
    }
    whose = np.repeat(side, SIZES.size)
    plans = ({"ab": {"id": "1", "side": str(n)}} if sides > 1 else {} for n in range(sides))
    bundles = [
        _bundle(circles, created, columns, read.ravel().astype(np.int64), whose == n, plan)
        for n, plan in enumerate(plans)
    ]
    return bundles, suite.b * np.exp(own)


def _bundle(
    circles: int,
    created: str,
    columns: dict[str, FloatArray],
    read: NDArray[np.int64],
    chosen: NDArray[np.bool_],
    plan: dict[str, object],
) -> Bundle:
    rows = tuple(
        Row(Contract(f"circle.{n}", expect={"entries": 1}), TSC, "accumulated")
        for n in range(circles)
    )
    count = int(chosen.sum())
    kept = dict.fromkeys(COLUMNS, np.zeros(count)) | {
        name: column[chosen] for name, column in columns.items()
    }
    counters = {"core_ticks": np.full(count, READ_TICKS), "core_cycles": read[chosen]}
    plan = plan | {"process": "visit", "origins": {str(run): 0 for run in range(1, RUNS + 1)}}
    identity = Identity(SCHEMA, created, "linux", rows, environment={"boot_id": "1"}, plan=plan)
    return Bundle(identity, samples(kept, counters))
