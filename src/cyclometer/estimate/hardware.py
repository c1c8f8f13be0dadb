# SPDX-License-Identifier: BSD-2-Clause
"""What the processor counted per turn, from proof visits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cyclometer.bundle.model import MISSING, Bundle

COUNTERS = (
    "instructions_user",
    "instructions_kernel",
    "cycles",
    "branch_misses",
    "l1d_misses",
    "itlb_misses",
    "dtlb_misses",
    "llc_misses",
)
"""Counters of the processor by the names of FORMAT.md."""
BETWEEN_CPUS = (
    "switches",
    "wakeups",
    "other_wakeups",
    "cpu_switches",
    "other_cpu_switches",
    "ipis",
    "other_ipis",
    "idle_exits",
    "other_idle_exits",
)
"""What happens on either CPU in a circle of two; `other_` ones on the peers' CPU."""


def per_turn(bundle: Bundle, key: str, names: Sequence[str] = COUNTERS) -> dict[str, float]:
    """Each of these counters that proofs of the circle `key` have, per turn.

    Reading the counters adds events of its own to every test, as many to a small one as to a large
    one. So it is the slope between the medians of the smallest and the largest test size; tests
    that something disturbed do not count.
    """
    samples, found = bundle.samples, {}
    rows = [
        samples.tests(index, untagged=True)
        for index, row in enumerate(bundle.identity.rows)
        if row.contract.key == key and row.method == "proof"
    ]
    tests = np.concatenate(rows) if rows else np.empty(0, np.intp)
    for name in names:
        if name not in samples.counters:
            continue
        there = tests[samples.counters[name][tests] != MISSING]
        turns = samples.turns[there]
        if len(there) and turns.min() < turns.max():
            ends = (turns.min(), turns.max())
            low, high = (
                float(np.median(samples.counters[name][there[turns == end]])) for end in ends
            )
            found[name] = (high - low) / float(ends[1] - ends[0])
    return found


def instructions_per_cycle(counted: dict[str, float]) -> float | None:
    """IPC of user and kernel together; None if either is not counted."""
    if not {"instructions_user", "instructions_kernel", "cycles"} <= counted.keys():
        return None
    if counted["cycles"] <= 0:
        return None
    return (counted["instructions_user"] + counted["instructions_kernel"]) / counted["cycles"]
