# SPDX-License-Identifier: BSD-2-Clause
"""The hardware's floor of a turn: what its crossings, space switches and timer reads cost at least
on this board.

Each costs what its floor circle measured. What programs run themselves is theirs; the rest is the
kernel's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cyclometer.explain.evidence import Evidence
from cyclometer.explain.parts import labels
from cyclometer.explain.turn import Turn
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.trace import SUPERVISOR, TRAP, TRAPPED, USER, Steps

_TIME_FILE = "kernel/timeout.h"


@dataclass(frozen=True)
class FloorShare:
    """One line of the sum, per turn: `count` times `each`, in clock units."""

    name: str
    count: Fraction
    each: Fraction

    @property
    def total(self) -> Fraction:
        """Clock units per turn."""
        return self.count * self.each


def floor(evidence: Evidence, turn: Turn) -> list[FloorShare]:
    """The lines, which sum to the turn; none where the board has no floor circles in this boot."""
    costs, length = _costs(evidence), Fraction(turn.length, turn.turns)
    counts = {
        "protection-level crossing, there and back": Fraction(
            crossings(turn.steps, turn.lead), 2 * turn.turns
        ),
        "address-space switch": Fraction(space_switches(turn.steps, turn.lead), turn.turns),
        "timer read": Fraction(timer_reads(turn.steps, evidence.places), turn.turns),
    }
    if not costs:
        return []
    hardware = [
        FloorShare(name, count, costs[name])
        for name, count in counts.items()
        if count and name in costs
    ]
    user = FloorShare(
        "code of the programs", Fraction(1), Fraction(_own_user(turn.steps), turn.turns)
    )
    rest = length - user.total - sum((share.total for share in hardware), Fraction(0))
    return [*hardware, user, FloorShare("the kernel's own", Fraction(1), rest)]


def crossings(steps: Steps, lead: Steps) -> int:
    """How often user mode was entered or left."""
    user = np.concatenate([lead[-1:], steps])["privilege"] == USER
    return int(np.count_nonzero(user[1:] != user[:-1]))


def space_switches(steps: Steps, lead: Steps) -> int:
    """How often the next instruction ran in another space."""
    space = np.concatenate([lead[-1:], steps])["space"]
    return int(np.count_nonzero(space[1:] != space[:-1]))


def timer_reads(steps: Steps, places: AddressMap) -> int:
    """How often the kernel read the time: `rdtime`, or the load of mtime where the reference kernel
    has it.

    The file that holds that load counts readings, too: a load from a line that stores is of the
    counter.
    """
    here = [place for place in places.kernel.values() if place.file == _TIME_FILE]
    counting = {place.line for place in here if place.text.startswith("sd ")}
    loads = {place for place in here if place.text.startswith("ld ") and place.line not in counting}
    read = labels(
        steps,
        places,
        lambda place, level, _: level == SUPERVISOR and (place in loads or _rdtime(place)),
    )
    return sum(read)


def _rdtime(place: Place) -> bool:
    return place.text.startswith("rdtime")


def _own_user(steps: Steps) -> int:
    """User mode without what the crossings cost there: the instruction that traps, and the return's
    latency.
    """
    own = steps[(steps["privilege"] == USER) & (steps["flags"] & TRAPPED == 0)]["causes"].astype(
        np.int64
    )
    return int(own.sum() - own[:, TRAP].sum())


def _costs(evidence: Evidence) -> Mapping[str, Fraction]:
    """What each costs by its circle, the circle's own loop taken off."""
    found, known = {}, evidence.others
    loop = known.get("floor.empty.kernel")
    flush = ".flush" if evidence.facts.configuration.get("asid") == "off" else ""
    two, spaces = (
        known.get("hardware.crossing.two"),
        known.get(f"hardware.crossing.two.satp_2{flush}"),
    )
    if loop is not None and "hardware.crossing.one" in known:
        found["protection-level crossing, there and back"] = known["hardware.crossing.one"] - loop
    if two is not None and spaces is not None:
        found["address-space switch"] = (spaces - two) / 2
    if loop is not None and "timer.read.kernel" in known:
        found["timer read"] = known["timer.read.kernel"] - loop
    return found
