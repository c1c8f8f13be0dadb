# SPDX-License-Identifier: BSD-2-Clause
"""What ran between two addresses of an image, explained like a turn; and many of such windows by
the path that each took.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from cyclometer.errors import MeasurementFailed
from cyclometer.explain.evidence import Evidence, Facts, located
from cyclometer.explain.explanation import Explanation, explain
from cyclometer.explain.parts import labels
from cyclometer.explain.turn import Turn
from cyclometer.record.address_map import AddressMap
from cyclometer.record.schema import Contract
from cyclometer.record.span import Spanned, Wanted
from cyclometer.record.trace import INTERRUPTED, Steps, Test

ROLE = "span"


@dataclass
class Path:
    """Windows that executed the same instructions in the same order."""

    first: int  # occurrence, counted from 0
    steps: Steps  # of that one
    lengths: list[int] = field(default_factory=list)  # of all, on the clock
    interrupted: bool = False


def explain_first(target: str, spanned: Spanned, wanted: Wanted) -> Explanation:
    """All views of the first window. Raises MeasurementFailed if there is none."""
    _require(spanned, wanted)
    steps = spanned.windows[0]
    length = _length(steps)
    facts = Facts(
        target,
        dict(spanned.settings),
        spanned.clock,
        Contract(f"{wanted.start}#{wanted.skip}", wanted.title),
        ROLE,
        Test(wanted.skip, wanted.start, ROLE, ROLE, 1, length),
        (length, 1),
        {},
        located(steps, spanned.places),
    )
    turn = Turn(steps, steps[:0], 1, True, True)
    return explain(Evidence(facts, steps, spanned.places), turn)


def paths(spanned: Spanned, wanted: Wanted) -> list[Path]:
    """The windows by path, the most frequent first. Raises MeasurementFailed if there is none."""
    _require(spanned, wanted)
    found: dict[bytes, Path] = {}
    for number, steps in enumerate(spanned.windows, wanted.skip):
        taken = steps["pc"].tobytes() + steps["privilege"].tobytes()
        key = hashlib.sha256(taken).digest()
        path = found.setdefault(key, Path(number, steps))
        path.lengths.append(_length(steps))
        path.interrupted |= bool((steps["flags"] & INTERRUPTED).any())
    return sorted(found.values(), key=lambda path: -len(path.lengths))


def parts_at(common: Path, other: Path, places: AddressMap) -> str:
    """Where a path leaves the common one: the function and line of the last shared instruction."""
    a, b = common.steps["pc"].tolist(), other.steps["pc"].tolist()
    shared = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    step = other.steps[max(shared - 1, 0)]
    place = places.at(int(step["pc"]), int(step["privilege"]) == 0)
    line = f" ({place.file.rpartition('/')[2]}:{place.line})" if place.file else ""
    return place.function + line


def extra(common: Path, other: Path, places: AddressMap) -> list[tuple[str, int]]:
    """By how many instructions each function differs from the common path, the largest first."""
    counts = [Counter(_functions(path.steps, places)) for path in (common, other)]
    change = {name: counts[1][name] - counts[0][name] for name in counts[0] | counts[1]}
    named = [(name, count) for name, count in change.items() if count]
    return sorted(named, key=lambda pair: (-abs(pair[1]), pair[0]))


def _functions(steps: Steps, places: AddressMap) -> Sequence[str]:
    return labels(steps, places, lambda place, _privilege, _space: place.function)


def _length(steps: Steps) -> int:
    return int(steps["causes"].sum())


def _require(spanned: Spanned, wanted: Wanted) -> None:
    if not spanned.windows:
        behind = f" after the first {wanted.skip}" if wanted.skip else ""
        raise MeasurementFailed(
            f"nothing ran {wanted.title}{behind}: the boot {spanned.ended}; a function that the "
            "compiler inlined is never reached by its name"
        )
