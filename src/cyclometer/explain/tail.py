# SPDX-License-Identifier: BSD-2-Clause
"""The turns of one test that differ from the common one: how often they come, and what they do
that it does not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from cyclometer.errors import MeasurementFailed
from cyclometer.explain import turn as turns
from cyclometer.explain.difference import Difference, difference
from cyclometer.explain.evidence import Evidence
from cyclometer.explain.explanation import explain
from cyclometer.record.schema import Flow

# four times the 48 system calls between two refills of random numbers
FLOW = Flow(initial=1, delta=195, groups=2, tests=1)
_FEWEST = 3  # turns of which one can be common


@dataclass(frozen=True)
class Tail:
    """All turns of a test but the last. Those at `at` are far from the common one: by more than
    half of what the farthest is.
    """

    lengths: tuple[int, ...]  # in the unit of the clock, of each turn in order
    each: int  # turns that a length is of, more than one where the loop is unrolled
    common: int
    at: tuple[int, ...]
    difference: Difference  # from a common turn to the farthest one

    @property
    def gaps(self) -> tuple[int, ...]:
        """Turns between one that differs and the next."""
        return tuple(b - a for a, b in zip(self.at, self.at[1:], strict=False))

    @property
    def period(self) -> int | None:
        """Turns after which one differs again; None if that varies or was not seen twice."""
        known = set(self.gaps)
        return known.pop() if len(self.gaps) > 1 and len(known) == 1 else None


def tail(evidence: Evidence) -> Tail:
    """The turns of the evidence's test. Raises MeasurementFailed if there are too few."""
    found = turns.every(evidence)
    if len(found) < _FEWEST:
        raise MeasurementFailed(
            f"the trace of {evidence.facts.contract.key} has {len(found)} whole turns, of which "
            "none can be called common; choose a circle with shorter turns"
        )
    lengths = tuple(one.length for one in found)
    common, _ = Counter(lengths).most_common(1)[0]
    far = [abs(length - common) for length in lengths]
    at = tuple(i for i, distance in enumerate(far) if distance > max(far) / 2)
    usual = len(lengths) - 1 - lengths[::-1].index(common)  # the last, where all has settled
    sides = explain(evidence, found[usual]), explain(evidence, found[far.index(max(far))])
    return Tail(lengths, found[0].turns, common, at, difference(*sides))
