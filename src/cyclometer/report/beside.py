# SPDX-License-Identifier: BSD-2-Clause
"""One circle twice: where samples found its time, and what a turn of it executes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cyclometer.report.documents.explained import ExplainedTurn, NamedPart
from cyclometer.report.documents.sampled import SampledPart

_ALIAS = "__libc_"  # a second name of read() and others, which a static program shows


@dataclass(frozen=True)
class FunctionBeside:
    """A function in time and in instructions; None on the side that did not meet it."""

    name: str
    sampled: SampledPart | None
    executed: NamedPart | None  # of all explained turns together
    executed_share: float

    @property
    def largest_share(self) -> float:
        """Of the latency or of the instructions."""
        return max(self.sampled.share if self.sampled else 0.0, self.executed_share)


def beside(
    sampled: Sequence[SampledPart], executed: Sequence[NamedPart], exact: ExplainedTurn
) -> list[FunctionBeside]:
    """Every function of either side, the largest share first; `executed` is a view of `exact`."""
    there = {part.name.removeprefix(_ALIAS): part for part in executed}
    seen: dict[str, SampledPart | None] = {one.name: one for one in sampled}
    found = []
    for name in seen | dict.fromkeys(there):
        part = there.get(name)
        share = part.total / exact.total if part else 0.0
        found.append(FunctionBeside(name, seen.get(name), part, share))
    return sorted(found, key=lambda one: -one.largest_share)
