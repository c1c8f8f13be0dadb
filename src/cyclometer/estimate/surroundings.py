# SPDX-License-Identifier: BSD-2-Clause
"""What happened beside the visits of a session, as rates: whether it had the machine to itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np

from cyclometer.bundle import core_cycles
from cyclometer.bundle.model import Bundle, Identity
from cyclometer.estimate.interval import FloatArray
from cyclometer.record.schema import Surroundings
from cyclometer.units import NS_PER_S

FOREIGN, STEAL, PRESSURE, IDLE = "foreign_switches", "steal_ns", "pressure_us", "idle_us"
ISSUE = "issue"
"""What stands for the share of the core that the tests had (`issue`)."""
UNIT_PER_S = {FOREIGN: 1.0, STEAL: NS_PER_S, PRESSURE: 1e6, IDLE: 1e6}
"""What the counts are divided by, besides seconds: switches a second, and shares of the time."""


class _Visit(msgspec.Struct, frozen=True):
    circle: str
    counts: Surroundings | None = None


def rates(identity: Identity, circle: str | None = None) -> dict[str, FloatArray]:
    """Count -> its rate in each visit of `circle`, or of all circles, in order of time; without
    those of which no visit tells.

    Switches are per second; stolen time, time in which some task waited for a CPU, and time in
    which a CPU was idle, are shares.
    """
    timed = [one for one in counted(identity, circle) if one.elapsed_ns > 0]
    found = {name: _rates(timed, name) for name in UNIT_PER_S}
    return {name: values for name, values in found.items() if values.size}


def counted(identity: Identity, circle: str | None = None) -> list[Surroundings]:
    """What each visit of `circle`, or of all circles, said, in order of time."""
    visits = [v for v in _visits(identity) if circle in (None, v.circle)]
    return [v.counts for v in visits if v.counts is not None]


def idle_states(identity: Identity, circle: str) -> dict[str, int]:
    """How often the peers' CPU entered each of its idle states in all visits of a circle of two
    CPUs; empty where the kernel does not count that.
    """
    found: Counter[str] = Counter()
    for one in counted(identity, circle):
        found.update(one.idle_states or {})
    return dict(found)


def _visits(identity: Identity) -> list[_Visit]:
    try:
        return msgspec.convert(identity.plan.get("order", []), list[_Visit])
    except msgspec.ValidationError:
        return []


def _rates(counted: Sequence[Surroundings], name: str) -> FloatArray:
    known = [(getattr(one, name), one.elapsed_ns) for one in counted]
    return np.array(
        [count / UNIT_PER_S[name] / (ns / NS_PER_S) for count, ns in known if count is not None]
    )


def issue(bundle: Bundle) -> dict[str, FloatArray]:
    """Under ISSUE the logarithm of the core cycles that the independent instructions took beside
    each timed test that counts, in order of arrival; empty if that was not read.
    """
    took = core_cycles.issue(bundle.samples.counters, core_cycles.chain_cycles(bundle))
    if took is None:
        return {}
    counts = (bundle.samples.tags == 0) & (bundle.samples.kind == 0) & (took > 0)
    return {ISSUE: np.log(took[counts & np.isfinite(took)])}


def in_words(name: str, value: float) -> str:
    """A rate in words. `value` is as `rates` has it: per second, a fraction of the time, or for
    ISSUE the logarithm of cycles.
    """
    if name == ISSUE:
        return f"independent instructions took {math.exp(value):.5g} cycles"
    if name == FOREIGN:
        return f"{value:.3g} foreign switches a second"
    what = {
        STEAL: "stolen by the host",
        PRESSURE: "with tasks waiting for a CPU",
        IDLE: "in which a CPU was idle",
    }
    percent = float(f"{100 * value:.2g}")  # two digits, and 100 without an exponent
    return f"{percent:g} % of the time {what[name]}"
