# SPDX-License-Identifier: BSD-2-Clause
"""How far two sessions differ although nothing changed: the session component of the variance.

One session cannot tell it from its own visits. The controls can, and one of the other two; the
larger is taken:

- the controls of the very pair: circles that stay in user code, which no change of the kernel
  moves (a lower bound, because they see less of the machine than system calls do);
- repeated sessions of the machine, which `calibration` keeps;
- an assumption, if nothing else is known: ASSUMED_SD, with ASSUMED_DF degrees of freedom.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cyclometer.bundle.model import Contract
from cyclometer.compare.ancova import AlignedDifference
from cyclometer.estimate.reference import CONTENTION, FLOOR
from cyclometer.estimate.session import Occasion, Session

Gap = Literal["hour", "machine"]
"""How far two sessions lie apart: the same boot within the hour, or anything further."""
ASSUMED_SD: dict[Gap, float] = {"hour": 0.003, "machine": 0.005}
"""Standard deviation of a session's mean about that of others, as a fraction: what a busy shared
machine showed; a quiet one shows less than 0.1 %."""
ASSUMED_DF = 4.0
RESTLESS = (
    "timer.*",
    "process.*",
    "memory.map_unmap.*",
    "*.bytes_1048576",
    "*.bytes_8388608",
    "*.other_cpu",
)
"""Circles whose sessions differ RESTLESS_TIMES as far: they wait for timers, wander with the page
allocator, need more than a core's own caches, or meet a second CPU, however deep that sleeps."""
RESTLESS_TIMES = 7.0
BESIDE_THE_CORE = (*CONTENTION, "memory.copy.bytes_65536")
"""Circles of user code that miss the core's own first caches: what else runs on the machine moves
them, so they tell of the caches and not of how far sessions differ in every row.
"""
FEWEST_CONTROLS = 4
_HOUR_S = 3600.0
_CONTROLLED = ("entries", "switches", "faults")


@dataclass(frozen=True)
class Component:
    """A variance that sessions add to a change, in squared logarithms, its degrees of freedom, and
    where it comes from, as a phrase about sessions.
    """

    variance: float
    df: float
    source: str


def gap(one: Occasion, other: Occasion) -> Gap:
    """How far two sessions lie apart. Where the boot is not known, an hour decides alone."""
    if one.boot != other.boot or one.began is None or other.began is None:
        return "machine"
    return "hour" if abs((one.began - other.began).total_seconds()) < _HOUR_S else "machine"


def assumed(key: str, before: Sequence[Session], after: Sequence[Session]) -> Component:
    """The component of a circle's change if nothing but the circle and the gap is known."""
    apart = {gap(a.occasion, b.occasion) for a in before for b in after}
    sd = ASSUMED_SD["machine" if "machine" in apart else "hour"]
    if is_restless(key):
        sd *= RESTLESS_TIMES
    variance = sd**2 * (1 / len(before) + 1 / len(after))
    return Component(variance, ASSUMED_DF, f"are assumed to differ by {100 * sd:.2g} %")


def is_restless(key: str) -> bool:
    """Whether sessions of this circle differ further than those of others."""
    return any(fnmatch.fnmatchcase(key, pattern) for pattern in RESTLESS)


def is_control(contract: Contract, difference: AlignedDifference) -> bool:
    """Whether nothing in the kernel or beside the core can move this circle, and it is not the
    reference itself.
    """
    stays = all(contract.expect.get(name, 0) == 0 for name in _CONTROLLED)
    counted = {"entries", "switches"} <= contract.expect.keys()
    return (
        counted
        and stays
        and not is_restless(contract.key)
        and contract.key not in BESIDE_THE_CORE
        and not (contract.key.startswith(FLOOR) and difference.by_floors)
    )


def of_controls(controls: Sequence[AlignedDifference]) -> Component | None:
    """What the controls moved beyond what their visits explain; None if they are too few.

    A tenth of them is winsorised, so that one that truly changed, as by another compiler, does not
    speak for all.
    """
    if len(controls) < FEWEST_CONTROLS:
        return None
    moved = np.array([one.value**2 for one in controls])
    explained = np.array([one.own_variance for one in controls])
    beyond = np.minimum(moved, np.quantile(moved, 0.9)) - explained
    return Component(
        max(0.0, float(beyond.mean())),
        len(controls) / 2,
        "differ as far as circles of user code do",
    )
