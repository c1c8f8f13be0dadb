# SPDX-License-Identifier: BSD-2-Clause
"""Who called whom: call stacks from calls, returns and traps alone, so that no frame pointer is
needed.

A return goes to just behind a call that is still open. Where it does not fit the stack at hand,
another thread runs on: the stack is put aside, and the one that it fits is taken up again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cyclometer.explain.parts import labels
from cyclometer.record.address_map import AddressMap
from cyclometer.record.instructions import matches
from cyclometer.record.trace import INTERRUPTED, TRAPPED, Steps, instruction_set

_REACH_BYTES = 15  # the longest instruction of any set we know
_ASIDE = 32  # stacks kept
_DEEP = 64  # frames kept

Path = tuple[str, ...]


@dataclass(frozen=True)
class _Frame:
    function: str
    called_at: int  # address of the call or of the trapped instruction; -1 unknown


def paths(lead: Steps, steps: Steps, places: AddressMap) -> list[Path]:
    """The functions that are open at each of `steps`, outermost first. `lead`, which ran before,
    sets the stacks up.
    """
    both = np.concatenate([lead, steps])
    known = instruction_set(both)
    functions = labels(both, places, lambda place, _privilege, _space: place.function)
    calls, returns = matches(both["insn"], known.calls), matches(both["insn"], known.returns)
    trapped = (both["flags"] & TRAPPED != 0)[:-1]
    entered = np.concatenate([[False], calls[:-1] | trapped]) | (both["flags"] & INTERRUPTED != 0)
    returned = np.concatenate([[False], returns[:-1] & ~trapped])
    walker = _Walker([_Frame(functions[0], -1)])
    found = []
    for i, (pc, function) in enumerate(zip(both["pc"].tolist(), functions, strict=True)):
        if i:
            walker.step(pc, function, bool(entered[i]), bool(returned[i]), int(both["pc"][i - 1]))
        found.append(tuple(frame.function for frame in walker.stack))
    return found[len(lead) :]


class _Walker:
    """The stack at hand, and those of threads that wait."""

    def __init__(self, stack: list[_Frame]) -> None:
        self.stack = stack
        self._aside: list[list[_Frame]] = []

    def step(self, pc: int, function: str, entered: bool, returned: bool, before: int) -> None:
        """One instruction at `pc` of `function`, after the one at `before`, which called or
        returned or neither.
        """
        if entered:
            self.stack = [*self.stack, _Frame(function, before)][-_DEEP:]
        elif returned:
            self._return(pc, function)
        # a last call, or code that runs on into the next symbol
        elif self.stack[-1].function != function:
            self.stack = [*self.stack[:-1], _Frame(function, self.stack[-1].called_at)]

    def _return(self, pc: int, function: str) -> None:
        for stack in (self.stack, *reversed(self._aside)):
            if (depth := _open_call(stack, pc, function)) is not None:
                break
        else:
            stack, depth = [_Frame(function, -1)], 1
        if stack is not self.stack:
            waiting = [other for other in self._aside if other is not stack]
            self._aside = [*waiting[-_ASIDE:], self.stack]
        self.stack = stack[:depth]


def _open_call(stack: Sequence[_Frame], pc: int, function: str) -> int | None:
    """How deep the stack is once it has returned to `pc`; None where no open call of `function`
    stands just before.
    """
    for depth in range(len(stack) - 1, 0, -1):
        if (
            0 <= pc - stack[depth].called_at <= _REACH_BYTES
            and stack[depth - 1].function == function
        ):
            return depth
    return None
