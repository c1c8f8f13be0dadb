# SPDX-License-Identifier: BSD-2-Clause
"""Two sides measured in one session, visit by visit: each visit of one side has a neighbour of the
other side, a few milliseconds away.

Both sides run the same plan, so that the visits of a pair have the same run and visit number. Which
of the two comes first alternates, and with it what the order of two visits could do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cyclometer.bundle.undisturbed import undisturbed_visits
from cyclometer.record.schema import Flow
from cyclometer.targets.linux.harness import PLAIN, Launch
from cyclometer.targets.linux.measurement import Measurement
from cyclometer.targets.linux.plan import Cost

SIDES = ("before", "after")


@dataclass(frozen=True)
class Variant:
    """How the harness of a side is started. `facts` say so in the bundle's environment."""

    launch: Launch = PLAIN
    program: Path | None = None  # None: the one that this package compiles
    facts: dict[str, str] = field(default_factory=dict)


class Paired(Measurement):
    """The plan of a measurement, carried out by two measurements in turn.

    `switch` makes the machine what a side needs; it is called before anything of that side runs.
    """

    def __init__(self, halves: Sequence[Measurement], switch: Callable[[int], None]):
        first = halves[0]
        super().__init__(
            first.settings,
            first.clock,
            list(first.contracts.values()),
            first.progress,
            first.assembler,
            first.program,
        )
        self.halves, self._switch, self._pairs = halves, switch, 0
        self.sides = len(halves)
        self.cold_runs = 0  # no comparison of pairs rests on cold passes, which take a third
        for half in halves:
            # their calibrations need not be alike, and must not part the numbers of their visits
            half.calibrating = self.settings.runs + 1

    def close(self) -> None:
        for half in self.halves:
            half.close()

    def _prove(self) -> None:
        for side, half in enumerate(self.halves):
            self._switch(side)
            half._prove()

    def _calibrate_all(self) -> None:
        for side, half in enumerate(self.halves):
            self._switch(side)
            half._calibrate_all()
        first, second = (half.costs for half in self.halves)
        for key in first.keys() & second.keys():
            cost = Cost(
                turn_s=max(first[key].turn_s, second[key].turn_s),
                visit_s=max(first[key].visit_s, second[key].visit_s),
            )
            for half in self.halves:
                half.costs[key] = cost
        self.costs = {key: first[key] for key in first if key in second}

    def _timed(self, run: int, key: str, method: str, flow: Flow) -> None:
        order = [0, 1] if self._pairs % 2 else [1, 0]
        self._pairs += 1
        for side in order:
            self._switch(side)
            self.halves[side]._timed(run, key, method, flow)

    def _visit_references(self, run: int) -> None:
        """Neighbours see the core in one state; the references are pairs like all others."""

    def _undisturbed(self) -> dict[str, int]:
        """A pair takes an undisturbed visit of both sides."""
        found = [undisturbed_visits(half.assembler.bundle()) for half in self.halves]
        return {
            key: min(one[key] for one in found)
            for key in self.flows
            if all(key in one for one in found)
        }
