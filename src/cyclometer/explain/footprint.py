# SPDX-License-Identifier: BSD-2-Clause
"""How much code a turn touches: what its instructions alone do not tell about caches and TLBs."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cyclometer.explain.turn import Turn
from cyclometer.record.address_map import AddressMap
from cyclometer.record.trace import USER

LINE_BYTES, FETCH_BYTES, PAGE_BYTES = 64, 16, 4096
_LONGEST_BYTES = {"x86_64": 15}  # of an instruction; elsewhere 4


@dataclass(frozen=True)
class Footprint:
    """Distinct lines of 64 bytes, aligned windows of 16 bytes, as which cores fetch, and pages of
    4 KiB in which the instructions of a turn begin, user and kernel apart, and the branches that a
    turn takes. Of the distinct functions that are entered, how many begin a line. Virtual
    addresses: a page that two programs map at one address counts once. `instructions` are those
    that retire in one turn.
    """

    instructions: Fraction
    lines: int
    fetches: int
    pages: int
    branches: Fraction
    entered: int
    aligned: int


def footprint(turn: Turn, places: AddressMap, instruction_set: str) -> Footprint:
    """Of all explained turns; `branches` and `instructions` are those of one.

    A branch is taken where the next instruction in the same mode does not follow: it stands
    before, farther on than the longest instruction reaches, or behind another known one. So on
    x86-64 a jump over less than 16 bytes of code that no one has executed is not seen.
    """
    user, pc = turn.steps["privilege"] == USER, turn.steps["pc"].astype(np.uint64)
    lines, fetches, pages = (
        len(np.unique(pc[user] // np.uint64(size))) + len(np.unique(pc[~user] // np.uint64(size)))
        for size in (LINE_BYTES, FETCH_BYTES, PAGE_BYTES)
    )
    longest = _LONGEST_BYTES.get(instruction_set, 4)
    known = {False: sorted(places.kernel), True: sorted(places.user)}
    levels, at = turn.steps["privilege"].tolist(), pc.tolist()
    taken = 0
    for i in range(len(at) - 1):
        # between modes it is a trap or the return from one
        if levels[i] == levels[i + 1]:
            there, here = at[i + 1], at[i]
            starts = known[levels[i] == USER]
            nearest = bisect_right(starts, here)
            skips = nearest < len(starts) and starts[nearest] < there
            taken += there <= here or there > here + longest or skips
    executed = set(zip(at, user.tolist(), strict=True))
    entries = [address for address, mode in executed if places.at(address, mode).starts]
    aligned = sum(address % LINE_BYTES == 0 for address in entries)
    branches, instructions = Fraction(taken, turn.turns), Fraction(len(at), turn.turns)
    return Footprint(instructions, lines, fetches, pages, branches, len(entries), aligned)


def only_layout(before: Footprint, after: Footprint) -> bool:
    """Whether as many instructions retire from other lines, pages or branches."""
    return before.instructions == after.instructions and before != after
