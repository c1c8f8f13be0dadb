# SPDX-License-Identifier: BSD-2-Clause
"""Tests during which another hardware thread used the core.

Two hardware threads share the issue slots, caches and predictors of a core. Whatever the other one
runs, which on a virtual machine is mostly another guest, makes kernel code up to a third slower in
cycles, for a millisecond or for seconds, and no counter of the guest shows it. A run of independent
instructions does: a core issues as many of them per cycle as it is wide, and about half as many
while it is shared. The harness times such a run directly before and after each test.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.core_cycles import issue
from cyclometer.bundle.model import tag_bit

SHARED = 1.07
"""A reading so many times the fastest of the bundle is that of a shared core. Readings of a core
with one busy thread lie within 6 % of each other, as the clock's step and what ran before them
allow, and those of a shared core 10 to 100 % above."""
FASTEST = 0.02
"""The quantile of the undisturbed readings that stands for the fastest."""
ENOUGH = 0.1
"""Tests are set aside only if this share of the timed ones remains."""


def shared_core(
    bits: NDArray[np.int32], timed: NDArray[np.bool_], counters: Mapping[str, NDArray[np.int64]]
) -> NDArray[np.int32]:
    """`bits` of all tests of a bundle, with `shared core` on those of `timed` that had to share.
    All arrays have shape (tests,).

    If hardly any test had the core to itself, none is tagged: the bundle is one of a shared core,
    and is not compared with one that is not (`compare.surroundings`).
    """
    took = issue(counters)
    if took is None:
        return bits
    judged = timed & np.isfinite(took)
    undisturbed = judged & (bits == 0)  # a timer tick within a chain makes the ratio too small
    if not undisturbed.any():
        return bits
    with np.errstate(invalid="ignore"):
        shared = judged & (took > SHARED * np.quantile(took[undisturbed], FASTEST))
    if np.count_nonzero(shared) > (1 - ENOUGH) * np.count_nonzero(judged):
        return bits
    return np.where(shared, bits | tag_bit("shared core"), bits).astype(np.int32)
