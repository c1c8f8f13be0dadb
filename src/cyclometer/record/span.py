# SPDX-License-Identifier: BSD-2-Clause
"""What a machine executed from one address to another: windows of an image that marks none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cyclometer.errors import BadFile
from cyclometer.record.address_map import AddressMap
from cyclometer.record.schema import Clock
from cyclometer.record.trace import FILE_MAX_BYTES, INTERRUPTED, STEP, Steps

MOST_STEPS = FILE_MAX_BYTES // STEP.itemsize  # of all windows together


@dataclass(frozen=True)
class Wanted:
    """Where windows begin and end, as a user names it: a symbol, SYMBOL+OFFSET, or an address.
    Without `stop` a window ends where the function at `start` returns.
    """

    start: str
    stop: str | None = None
    skip: int = 0  # executions of `start` before the first window
    most: int | None = None  # windows

    @property
    def title(self) -> str:
        """From where to where, in words."""
        return f"from {self.start} to {self.stop or 'its return'}"


@dataclass(frozen=True)
class AddressSpan:
    """The same by address."""

    start: int
    stop: int | None
    skip: int
    most: int | None


@dataclass(frozen=True)
class Spanned:
    """Every window in order: the steps from the one at its first address to the one before the
    other. `ended` completes "the boot ...": why there are no more.
    """

    windows: list[Steps]
    ended: str
    clock: Clock
    places: AddressMap
    settings: Mapping[str, str]


def part(steps: Steps, span: AddressSpan, where: str) -> list[Steps]:
    """The windows of a file that a simulator wrote by `--trace-from`: of each the step before it,
    its own, and the one at its end. A last one without an end is left out.

    Raises BadFile if the file is not of that form.
    """
    found = []
    executed = steps["flags"] & INTERRUPTED == 0
    pc, at = steps["pc"], 0
    while at + 1 < len(steps):
        if pc[at + 1] != span.start:
            raise BadFile(f"{where} has a window that does not begin at {span.start:#x}")
        stop = _behind(steps[at]) if span.stop is None else span.stop
        ends = np.flatnonzero((pc[at + 2 :] == stop) & executed[at + 2 :])
        if not len(ends):
            break
        end = at + 2 + int(ends[0])
        found.append(steps[at + 1 : end])
        at = end + 1
    return found


def _behind(call: np.void) -> int:
    """Where a RISC-V call returns to."""
    return int(call["pc"]) + (4 if int(call["insn"]) & 3 == 3 else 2)
