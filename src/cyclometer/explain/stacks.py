# SPDX-License-Identifier: BSD-2-Clause
"""Who called whom, without frame pointers: by the stack pointer where a call pushes its return
address and the trace has the pointer, else by calls, returns and traps.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Protocol

import numpy as np

from cyclometer.explain import by_pointer, by_returns
from cyclometer.explain.frames import Move, Path, StackFrame, path
from cyclometer.explain.parts import labels
from cyclometer.record.address_map import AddressMap
from cyclometer.record.instructions import InstructionSet, matches
from cyclometer.record.trace import INTERRUPTED, TRAPPED, USER, Steps, of_turn


def paths(lead: Steps, steps: Steps, places: AddressMap) -> list[Path]:
    """The functions that are open at each of `steps`, outermost first. `lead`, which ran before,
    sets the stacks up.
    """
    both = np.concatenate([lead, steps])
    known = of_turn(lead)
    moves = _moves(both, places, known)
    by_stack = known.pushes and both["stack"].all()
    begin = by_pointer.PointerWalker if by_stack else by_returns.ReturnWalker
    open_at = list(_walk(begin, moves, known.switches))
    found: dict[tuple[StackFrame, str], Path] = {}
    for at in open_at[len(lead) :]:
        if at not in found:
            found[at] = path(*at)
    return [found[at] for at in open_at[len(lead) :]]


class _Walker(Protocol):
    """Follows the moves; `top` is the innermost frame after the last one."""

    top: StackFrame

    def step(self, move: Move, switches: Container[str], /) -> None: ...


def _walk(
    begin: Callable[[Move], _Walker], moves: Iterator[Move], switches: Container[str]
) -> Iterator[tuple[StackFrame, str]]:
    """The innermost frame at each move, and the function that it runs."""
    first = next(moves, None)
    if first is None:
        return
    walker = begin(first)
    yield walker.top, first.function
    for move in moves:
        walker.step(move, switches)
        yield walker.top, move.function


def _moves(steps: Steps, places: AddressMap, known: InstructionSet) -> Iterator[Move]:
    names = labels(steps, places, lambda place, _privilege, _space: (place.function, place.starts))
    trapped = (steps["flags"] & TRAPPED != 0)[:-1]
    calls, returns = matches(steps["insn"], known.calls), matches(steps["insn"], known.returns)
    entered = (steps["flags"] & INTERRUPTED != 0) | np.concatenate([[False], trapped])
    columns = (
        (steps["privilege"] == USER).tolist(),
        steps["stack"].tolist(),
        entered.tolist(),
        np.concatenate([[False], calls[:-1]]).tolist(),
        np.concatenate([[False], returns[:-1] & ~trapped]).tolist(),
    )
    for pc, (function, starts), *rest in zip(steps["pc"].tolist(), names, *columns, strict=True):
        yield Move(pc, function, starts, *rest)
