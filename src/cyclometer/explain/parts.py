# SPDX-License-Identifier: BSD-2-Clause
"""A turn cut into parts that sum to it exactly: whatever is labelled, every step of the clock is in
one part.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.trace import CAUSES, MACHINE, SUPERVISOR, USER, Steps

Name = TypeVar("Name", bound=Hashable)
LEVELS = {USER: "user", SUPERVISOR: "kernel", MACHINE: "monitor"}


@dataclass(frozen=True)
class Part(Generic[Name]):
    """What belongs to one name: steps of the clock by cause, and instructions."""

    name: Name
    causes: tuple[int, ...]  # in the order of record.trace.CAUSES
    instructions: int

    @property
    def total(self) -> int:
        """Steps of the clock, of all causes."""
        return sum(self.causes)

    @property
    def by_cause(self) -> dict[str, int]:
        """The causes there are, the largest first."""
        named = zip(CAUSES, self.causes, strict=True)
        return dict(
            sorted(((cause, count) for cause, count in named if count), key=lambda pair: -pair[1])
        )


def split(steps: Steps, names: Sequence[Name]) -> list[Part[Name]]:
    """One part a name, in the order of first appearance; `names` labels the steps one by one."""
    order = {name: place for place, name in enumerate(dict.fromkeys(names))}
    sums: NDArray[np.int64] = np.zeros((len(order), len(CAUSES)), np.int64)
    which = [order[name] for name in names]
    np.add.at(sums, which, steps["causes"].astype(np.int64))
    counts = np.bincount(which, minlength=len(order))
    return [Part(name, tuple(map(int, sums[i])), int(counts[i])) for name, i in order.items()]


def by_cause(steps: Steps) -> list[Part[str]]:
    """One part a cause that there is; its instructions are those that it held up."""
    causes = steps["causes"].astype(np.int64)
    sums, held = causes.sum(axis=0).tolist(), np.count_nonzero(causes, axis=0).tolist()
    alone = [
        tuple(total if i == index else 0 for i in range(len(CAUSES)))
        for index, total in enumerate(sums)
    ]
    return [Part(*part) for part in zip(CAUSES, alone, held, strict=True) if sum(part[1])]


def largest_first(parts: Sequence[Part[Name]]) -> list[Part[Name]]:
    """By size; equal ones stay in order."""
    return sorted(parts, key=lambda part: -part.total)


def together(name: Name, parts: Sequence[Part[Name]]) -> Part[Name]:
    """Several parts as one."""
    causes = tuple(map(sum, zip(*(part.causes for part in parts), strict=True)))
    return Part(name, causes, sum(part.instructions for part in parts))


def labels(steps: Steps, places: AddressMap, name: Callable[[Place, int, int], Name]) -> list[Name]:
    """`name(place, privilege, space)` of every step, asked once for all that are alike."""
    at = list(
        zip(steps["pc"].tolist(), steps["privilege"].tolist(), steps["space"].tolist(), strict=True)
    )
    known = {
        one: name(places.at(one[0], one[1] == USER), one[1], one[2]) for one in dict.fromkeys(at)
    }
    return [known[one] for one in at]


def modes(steps: Steps) -> list[str]:
    """Privilege level and address space of every step in words; spaces are numbered as they come in
    the turn.

    The monitor runs untranslated, whatever space is loaded.
    """
    pairs = list(zip(steps["privilege"].tolist(), steps["space"].tolist(), strict=True))
    spaces = dict.fromkeys(space for privilege, space in pairs if privilege != MACHINE)
    numbers = {space: number for number, space in enumerate(spaces, 1)}
    return [
        LEVELS[level] if level == MACHINE else f"{LEVELS[level]}, space {numbers[space]}"
        for level, space in pairs
    ]
