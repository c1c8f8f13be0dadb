# SPDX-License-Identifier: BSD-2-Clause
"""How fast the core ran about each test, and a bundle with its latencies in the core's cycles.

A harness with the clock `referenced` keeps two readings beside each test: how many cycles the core
counted and how long that took (`core_cycles`, `core_ticks`), or what a chain of instructions of
known length took directly before and after it (`chain_before`, `chain_after`; the length is
`environment.chain_cycles`). A run of independent instructions, timed at both ends (`issue_before`,
`issue_after`), shows whether another hardware thread used the core then. Stored is what the clock
said; who reads a bundle sees core cycles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import MISSING, Bundle, Clock, Identity, Samples
from cyclometer.units import NS_PER_S

FloatArray = NDArray[np.float64]

NAME = "core"
"""The clock of a bundle whose values are in core cycles by its own readings."""
TIMED = ("accumulated", "direct")
"""The methods whose tests are timed for their latency."""
_READINGS = (
    "core_cycles",
    "core_ticks",
    "chain_before",
    "chain_after",
    "issue_before",
    "issue_after",
)
_BEYOND = math.log(1e6)  # no clock's unit is so many cycles, or a cycle so many units


def speed(bundle: Bundle) -> FloatArray | None:
    """x of every sample: the logarithm of the clock units that a cycle lasted beside it, NaN if it
    was not read, shape (samples,). None unless every timed test that counts has it.
    """
    samples, rows = bundle.samples, bundle.identity.rows
    chain = (_counter(samples, "chain_before") + _counter(samples, "chain_after")) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        core = np.log(_counter(samples, "core_ticks") / _counter(samples, "core_cycles"))
        x = np.where(np.isnan(core), np.log(chain / chain_cycles(bundle)), core)
    timed = np.array([row.method in TIMED for row in rows], bool)[samples.row]
    timed &= (samples.kind == 0) & (samples.tags == 0)
    with np.errstate(invalid="ignore"):
        return x if timed.any() and np.all(np.abs(x[timed]) < _BEYOND) else None


def chain_cycles(bundle: Bundle) -> float:
    """Length of the chain beside each test in core cycles; NaN if the bundle states none."""
    stated = bundle.identity.environment.get("chain_cycles")
    return float(stated) if isinstance(stated, int | float) and stated > 0 else math.nan


def issue(
    counters: Mapping[str, NDArray[np.int64]], chain_cycles: float = 1.0
) -> FloatArray | None:
    """Core cycles that the independent instructions took beside each test, the longer of the two
    readings, shape (tests,). NaN where something was not read, None if it never was.

    Args:
        chain_cycles: length of the chain; without it the result is right up to one factor, unless
            the core counted its cycles.
    """
    if not {"issue_before", "issue_after"} <= counters.keys():
        return None
    read = {name: _present(column) for name, column in counters.items() if name in _READINGS}
    with np.errstate(divide="ignore", invalid="ignore"):
        if {"core_cycles", "core_ticks"} <= read.keys():
            before = after = read["core_ticks"] / read["core_cycles"]
        elif {"chain_before", "chain_after"} <= read.keys():
            before, after = read["chain_before"] / chain_cycles, read["chain_after"] / chain_cycles
        else:
            return None
        longer: FloatArray = np.maximum(read["issue_before"] / before, read["issue_after"] / after)
    return longer


def in_core_cycles(bundle: Bundle) -> Bundle:
    """The bundle with values in core cycles, if its clock counts other units and every test that
    counts has the readings; else the bundle as it is.

    The clock becomes `core`, its rate the mean one that was seen. Times since the origin become
    cycles of that rate, so that they stay as many seconds.
    """
    clocks = {row.clock for row in bundle.identity.rows}
    clock = next(iter(clocks), None)
    if clock is None or len(clocks) > 1 or clock.exact or clock.unit not in ("ticks", "ns"):
        return bundle
    x = speed(bundle)
    if x is None:
        return bundle
    samples = bundle.samples
    usable = (np.abs(x) < _BEYOND) & (samples.tags == 0) & (samples.kind == 0)
    mean = float(x[usable].mean())
    # An empty reading is a few steps of the clock, and stays so many of one size.
    own = np.where((np.abs(x) < _BEYOND) & (samples.kind == 0), x, mean)
    at = np.where(samples.at < 0, samples.at, samples.at * math.exp(-mean)).astype(np.int64)
    seen = replace(samples, value=samples.value * np.exp(-own), at=at)
    return replace(bundle, identity=_renamed(bundle.identity, clock, mean), samples=seen)


def _renamed(identity: Identity, clock: Clock, mean: float) -> Identity:
    hz = NS_PER_S if clock.unit == "ns" else clock.hz
    core = Clock(NAME, "cycles", hz * math.exp(-mean))
    rows = tuple(msgspec.structs.replace(row, clock=core) for row in identity.rows)
    plan = identity.plan | _origins(identity.plan, math.exp(-mean))
    return msgspec.structs.replace(identity, rows=rows, plan=plan)


def _origins(plan: dict[str, Any], cycles: float) -> dict[str, Any]:
    stated = plan.get("origins")
    if not isinstance(stated, dict) or not all(isinstance(o, int) for o in stated.values()):
        return {}
    return {"origins": {run: int(origin * cycles) for run, origin in stated.items()}}


def _counter(samples: Samples, name: str) -> FloatArray:
    """A counter of every sample as floating point; NaN if it was not read."""
    if name not in samples.counters:
        return np.full(len(samples), np.nan)
    return _present(samples.counters[name])


def _present(counted: NDArray[np.int64]) -> FloatArray:
    return np.where(counted == MISSING, np.nan, counted)
