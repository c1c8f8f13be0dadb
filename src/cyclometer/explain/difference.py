# SPDX-License-Identifier: BSD-2-Clause
"""Two explanations of like turns: which parts carry the difference. The parts sum to it exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from cyclometer.errors import NotComparable
from cyclometer.explain.explanation import Explanation
from cyclometer.explain.footprint import only_layout
from cyclometer.explain.parts import Part
from cyclometer.record.trace import CAUSES


@dataclass(frozen=True)
class PartChange:
    """One name on both sides, in clock units per turn, and what each cause adds to the change."""

    name: str
    before: Fraction
    after: Fraction
    causes: tuple[Fraction, ...]  # in the order of record.trace.CAUSES

    @property
    def change(self) -> Fraction:
        """after - before, in clock units per turn."""
        return self.after - self.before

    @property
    def by_cause(self) -> dict[str, Fraction]:
        """Clock units per turn that each changed cause adds, the largest first."""
        named = [
            (cause, change) for cause, change in zip(CAUSES, self.causes, strict=True) if change
        ]
        return dict(sorted(named, key=lambda pair: -abs(pair[1])))


@dataclass(frozen=True)
class Difference:
    """The same views of both sides; each list sums to the change of the whole."""

    before: Explanation
    after: Explanation
    whole: PartChange
    functions: list[PartChange]
    phases: list[PartChange]
    modes: list[PartChange]
    causes: list[PartChange]
    system_calls: list[PartChange]  # empty where neither side is Linux
    subsystems: list[PartChange]  # the same; the largest change first

    @property
    def only_layout(self) -> bool:
        """Whether as many instructions retire from other lines, pages or branches."""
        return only_layout(self.before.footprint, self.after.footprint)


def difference(before: Explanation, after: Explanation) -> Difference:
    """Subtracts turn from turn. Raises NotComparable if the clocks are not alike."""
    units = before.facts.clock.unit, after.facts.clock.unit
    if units[0] != units[1]:
        raise NotComparable(
            f"one side counts {units[0]}, the other {units[1]}; trace both on the same clock"
        )
    sides = before, after
    return Difference(
        before,
        after,
        _changes(sides, ([before.whole], [after.whole]))[0],
        sorted(
            _changes(sides, (before.functions, after.functions)),
            key=lambda change: -abs(change.change),
        ),
        _changes(sides, (before.phases, after.phases)),
        _changes(sides, (before.modes, after.modes)),
        sorted(
            _changes(sides, (before.causes, after.causes)), key=lambda change: -abs(change.change)
        ),
        _changes(sides, (before.system_calls, after.system_calls)),
        sorted(
            _changes(sides, (before.subsystems, after.subsystems)),
            key=lambda change: -abs(change.change),
        ),
    )


def _changes(
    sides: tuple[Explanation, Explanation], parts: tuple[Sequence[Part[str]], Sequence[Part[str]]]
) -> list[PartChange]:
    """Every name of either side, those of the first in its order; a name that one side lacks took
    nothing there.
    """
    named = [{part.name: part for part in each} for each in parts]
    nothing = Part("", (0,) * len(CAUSES), 0)
    found = []
    for name in dict.fromkeys([*named[0], *named[1]]):
        x, y = (
            tuple(side.a_turn(count) for count in each.get(name, nothing).causes)
            for side, each in zip(sides, named, strict=True)
        )
        causes = tuple(b - a for a, b in zip(x, y, strict=True))
        found.append(PartChange(name, sum(x, Fraction(0)), sum(y, Fraction(0)), causes))
    return found
