# SPDX-License-Identifier: BSD-2-Clause
"""Which function of one kernel is which of another that calls it by a new name: by what it
executes, and by who calls it and whom it calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

from cyclometer.explain.difference import PartChange
from cyclometer.explain.explanation import Explanation

_LIKE = 0.6  # of 1: half for the body, half for the neighbours, as far as they kept their names
_BODY = 0.4  # of 1: less alike is another function whatever calls it
_SAME_BODY = 0.65  # of 1: is enough where all neighbours may have been renamed, too
_SHORTEST = 12  # instructions of a body that tells by itself
_LONGEST = 400  # instructions of a body that are compared


@dataclass
class _Known:
    """What a turn shows of a function."""

    body: list[str] = field(default_factory=list)  # names of its instructions, by address
    near: set[str] = field(default_factory=set)  # its callers and what it calls


def paired(changes: list[PartChange], before: Explanation, after: Explanation) -> list[PartChange]:
    """The changes with a function that is gone and the new one that took its place as one,
    `old -> new`; the largest first.
    """
    gone = {c.name: c for c in changes if c.before and not c.after}
    new = {c.name: c for c in changes if c.after and not c.before}
    names = _matches(_known(before, gone), _known(after, new))
    left = [c for c in changes if c.name not in names and c.name not in names.values()]
    left += [_together(gone[old], new[name]) for old, name in names.items()]
    return sorted(left, key=lambda change: -abs(change.change))


def _together(old: PartChange, new: PartChange) -> PartChange:
    causes = tuple(a + b for a, b in zip(old.causes, new.causes, strict=True))
    return replace(old, name=f"{old.name} -> {new.name}", after=new.after, causes=causes)


def _matches(old: Mapping[str, _Known], new: Mapping[str, _Known]) -> dict[str, str]:
    """Old name -> new name, the most alike first, each once."""
    scored = sorted(
        (
            (score, a, b)
            for a, x in old.items()
            for b, y in new.items()
            if (score := _likeness(x, y)) >= _LIKE
        ),
        key=lambda one: (-one[0], one[1], one[2]),
    )
    found: dict[str, str] = {}
    for _, a, b in scored:
        if a not in found and b not in found.values():
            found[a] = b
    return found


def _likeness(x: _Known, y: _Known) -> float:
    body = SequenceMatcher(None, x.body[:_LONGEST], y.body[:_LONGEST], autojunk=False).ratio()
    near = len(x.near & y.near) / max(len(x.near | y.near), 1)
    alone = body if min(len(x.body), len(y.body)) >= _SHORTEST and body >= _SAME_BODY else 0.0
    return max((body + near) / 2 if body >= _BODY else 0.0, alone)


def _known(e: Explanation, names: Mapping[str, PartChange]) -> dict[str, _Known]:
    found: dict[str, _Known] = defaultdict(_Known)
    for user, pc in sorted(e.places):
        place = e.places[user, pc]
        if place.function in names:
            found[place.function].body.append(place.text.partition(" ")[0])
    for part in e.stacks:
        for caller, called in zip(part.name, part.name[1:], strict=False):
            if called in names:
                found[called].near.add(f"from {caller}")
            if caller in names:
                found[caller].near.add(f"to {called}")
    return found
