# SPDX-License-Identifier: BSD-2-Clause
"""Contract check and disturbance tags: which tests count, and why the others are set aside.

A test is `invalid` when an expected counter is off although nothing disturbed the test; a disturbed
one is tagged by cause. No test is tagged because of its value.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import MISSING, Contract, tag_bit

Counts = Mapping[str, NDArray[np.int64]]

# what a governor's step is at least; below it the reading itself wanders
FREQUENCY_STEP_KHZ = 50_000
_NEARLY = 0.9  # of a pause, whose begin and end lie on timer ticks
# Relative change of a chain's time from one end of a test to the other; half of it at most is how
# far their mean lies from the speed in between.
UNSTEADY = 0.01
_UNSTEADY_UNITS = 2  # of a coarse clock, to which a chain's time is rounded at both ends
# Counters that show a disturbance when they exceed what the contract expects of them.
_EXCESS = {
    "interrupts": "interrupt",
    "steal_ns": "steal",
    "migrations": "migrated",
    "other_interrupts": "interrupt",
    "other_steal_ns": "steal",
    "rests": "preempted",  # a side waited in vain: the other one did not run
}
# Counted in circles of two CPUs: what one CPU sends the other is part of such a circle, or of the
# reading of its counters.
_SENT = {"interrupts": "ipis", "other_interrupts": "other_ipis"}


def tags(contract: Contract, turns: NDArray[np.int64], counters: Counts) -> NDArray[np.int32]:
    """Bits of `model.TAGS` per test; `turns` and every counter have shape (tests,)."""
    bits = np.zeros(len(turns), np.int32)
    for counter, tag in _EXCESS.items():
        if counter in counters:
            bits[_present(counters[counter]) & (_off(contract, counter, turns, counters) > 0)] |= (
                tag_bit(tag)
            )
    if "khz" in counters:
        moved = np.abs(counters["khz"]) >= FREQUENCY_STEP_KHZ
        bits[_present(counters["khz"]) & moved] |= tag_bit("frequency")
    bits[_preempted(contract, turns, counters)] |= tag_bit("preempted")
    bits[(bits == 0) & mismatch(contract, turns, counters)] |= tag_bit("invalid")
    bits[_unsteady(counters, len(turns))] |= tag_bit("unsteady clock")  # excuses no broken contract
    return bits


def _unsteady(counters: Counts, tests: int) -> NDArray[np.bool_]:
    """Tests about which the core's speed changed, or a reading of it was disturbed."""
    if "chain_before" not in counters or "chain_after" not in counters:
        return np.zeros(tests, bool)
    before, after = counters["chain_before"], counters["chain_after"]
    read = _present(before) & _present(after)
    one, other = np.where(read, before, 0), np.where(read, after, 0)
    allowed = np.maximum(UNSTEADY * np.minimum(one, other), _UNSTEADY_UNITS)
    unsteady: NDArray[np.bool_] = np.abs(other - one) > allowed
    return unsteady


def throttled(bits: NDArray[np.int32], value: NDArray[np.float64], gap: float) -> NDArray[np.int32]:
    """`bits` with `throttled` on preempted tests that lasted at least `gap`, the kernel's pause of
    real-time threads; `value`, like `bits` of shape (tests,), and `gap` are in clock units.

    The kernel counts its pauses nowhere. A preemption by an outsider that long is one: nothing else
    may keep a SCHED_FIFO thread off its CPU. The test is set aside already; this names the cause.
    """
    paused = (bits & tag_bit("preempted") > 0) & (value >= _NEARLY * gap)
    return np.where(paused, bits | tag_bit("throttled"), bits).astype(np.int32)


def mismatch(contract: Contract, turns: NDArray[np.int64], counters: Counts) -> NDArray[np.bool_]:
    """Tests in which a counter that the contract names, and that was read, is not exactly expect x
    turns, or is below at_least x turns. Interrupts are those that no CPU sent the other, unless the
    contract names these.

    Args:
        turns: of each test, shape (n,).
        counters: name -> counts over each whole test, shape (n,); MISSING was not read.
    """
    wrong = np.zeros(len(turns), bool)
    for counter in contract.expect:
        if counter in counters:
            wrong |= _present(counters[counter]) & (_off(contract, counter, turns, counters) != 0)
    for counter, per_turn in contract.at_least.items():
        if counter in counters:
            wrong |= _present(counters[counter]) & (counters[counter] < per_turn * turns)
    return wrong


def _present(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    present: NDArray[np.bool_] = counts != MISSING
    return present


def _off(
    contract: Contract, counter: str, turns: NDArray[np.int64], counters: Counts
) -> NDArray[np.int64]:
    """How far a counter is from what the contract expects of it."""
    off = counters[counter] - contract.expect.get(counter, 0) * turns
    if (sent := _SENT.get(counter, "")) in counters and sent not in contract.expect:
        off = off - np.where(_present(counters[sent]), counters[sent], 0)
    return off


def _preempted(contract: Contract, turns: NDArray[np.int64], counters: Counts) -> NDArray[np.bool_]:
    """The CPU switched to a thread that takes no part: its switches are not those of the
    participants.

    They are fewer where that thread ran between two readings of the counters.

    Where the CPU cannot be watched, or participants come and go, an unexpected involuntary switch
    is the sign. If the contract bounds the participants' switches from below only, as under the
    ordinary scheduler, it is none.
    """
    expect = contract.expect
    if _of_two_cpus(counters) and "cpu_switches" not in contract.at_least:
        return _strangers(contract, turns, counters)
    counted = "switches" in expect or "switches" in contract.at_least
    if "cpu_switches" in contract.at_least:
        return np.zeros(len(turns), bool)
    if counted and "cpu_switches" in counters and "switches" in counters:
        watched = _present(counters["cpu_switches"]) & _present(counters["switches"])
        idle = expect["cpu_switches"] - expect["switches"] if "cpu_switches" in expect else 0
        outside = counters["cpu_switches"] - counters["switches"] - idle * turns
        disturbed: NDArray[np.bool_] = watched & (outside != 0)
        return disturbed
    if "involuntary" in counters and expect.get("switches", 0) == 0 and not contract.at_least:
        return _present(counters["involuntary"]) & (
            _off(contract, "involuntary", turns, counters) > 0
        )
    return np.zeros(len(turns), bool)


def _of_two_cpus(counters: Counts) -> bool:
    names = ("cpu_switches", "other_cpu_switches", "switches")
    return all(name in counters and bool(_present(counters[name]).all()) for name in names)


def _strangers(contract: Contract, turns: NDArray[np.int64], counters: Counts) -> NDArray[np.bool_]:
    """Tests of a circle of two CPUs in which one of them ran a thread that takes no part.

    A participant that blocks leaves its CPU for another thread or the idle one, and comes back,
    unless the contract says how often each CPU switches. One that is made to leave comes back, too:
    that it did not block tells the two apart.
    """
    expect, own = contract.expect, counters["switches"]
    switches = counters["cpu_switches"] + counters["other_cpu_switches"]
    besides = own
    if "other_cpu_switches" in expect:
        of_cpus = expect["other_cpu_switches"] + expect.get("cpu_switches", 0)
        besides = (of_cpus - expect.get("switches", 0)) * turns
    strangers: NDArray[np.bool_] = switches != own + besides
    if "involuntary" in expect and "involuntary" in counters:
        made_to_leave = _off(contract, "involuntary", turns, counters) > 0
        strangers |= made_to_leave & _present(counters["involuntary"])
    return strangers
