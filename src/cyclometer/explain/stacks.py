# SPDX-License-Identifier: BSD-2-Clause
"""Who called whom, without frame pointers: by the stack pointer where a call pushes its return
address and the trace has the pointer, else by calls, returns and traps.
"""

from __future__ import annotations

from collections.abc import Iterator

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
    walk = by_pointer.walk if known.pushes and both["stack"].all() else by_returns.walk
    open_at = list(walk(moves, known.switches))
    found: dict[tuple[StackFrame, str], Path] = {}
    for at in open_at[len(lead) :]:
        if at not in found:
            found[at] = path(*at)
    return [found[at] for at in open_at[len(lead) :]]


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
