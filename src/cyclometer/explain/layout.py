# SPDX-License-Identifier: BSD-2-Clause
"""The code that a turn touches in two bundles which kept traces: other instructions, or the same
number from other places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclometer.errors import BadFile, MeasurementFailed
from cyclometer.explain import sources
from cyclometer.explain import turn as turns
from cyclometer.explain.footprint import Footprint, footprint, only_layout
from cyclometer.record.trace import of_turn


@dataclass(frozen=True)
class FootprintChange:
    """The footprints of the steady turn of one circle."""

    key: str
    before: Footprint
    after: Footprint

    @property
    def only_layout(self) -> bool:
        """Whether as many instructions retire from other lines, pages or branches."""
        return only_layout(self.before, self.after)


@dataclass(frozen=True)
class FootprintChanges:
    """Those of all circles of two bundles."""

    circles: list[FootprintChange]
    untraced: list[str]  # circles of which not both bundles have a trace
    unread: list[str]  # circles that have traces, and why no turn is found in them


def kept(before: Path, after: Path, keys: Sequence[str]) -> FootprintChanges:
    """Of the circles `keys`, which both bundles have."""
    both = sources.traced(before) & sources.traced(after)
    found = FootprintChanges([], [key for key in keys if key not in both], [])
    for key in keys:
        if key not in both:
            continue
        try:
            sides = [_footprint(bundle, key) for bundle in (before, after)]
            found.circles.append(FootprintChange(key, *sides))
        except (BadFile, MeasurementFailed) as error:
            found.unread.append(f"{key}: {error}")
    return found


def _footprint(bundle: Path, key: str) -> Footprint:
    evidence = sources.steady(bundle, key)
    turn = turns.find(evidence)
    return footprint(turn, evidence.places, of_turn(turn.lead).name)
