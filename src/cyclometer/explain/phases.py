# SPDX-License-Identifier: BSD-2-Clause
"""Where in a turn the events of its contract's sequence happen; from one to the next is a phase."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cyclometer.explain.linux_events import FAULT, FAULTS, INTERRUPT, SWITCH, SYSTEM_CALLS, entered
from cyclometer.explain.turn import Turn
from cyclometer.record.address_map import AddressMap
from cyclometer.record.schema import Contract
from cyclometer.record.trace import INTERRUPTED, SUPERVISOR, USER, Steps, of_turn

_KERNEL = "kernel"
# what a system call enters, of the reference kernel and Linux
_WRAPPERS = ("sys_", "message_", "invoke_", *SYSTEM_CALLS)


def phases(turn: Turn, places: AddressMap, contract: Contract) -> tuple[list[str], bool]:
    """The phase of every step, and whether the events in the trace are those of the contract's
    sequence, in its order.

    A call begins where its function is entered in the kernel, a switch where the function that
    hands over is. The sequence goes round, and the turns may begin anywhere in it; where not all of
    a turn is timed, it holds few events.
    """
    steps, switches = turn.steps, of_turn(turn.lead).switches
    calls = _calls(steps, places)
    entries = [
        (event, what)
        for event in contract.sequence
        for what in (entered(event, calls) if calls else filter(None, [_what(event)]))
    ]
    sequence, wanted = [event for event, _ in entries], [what for _, what in entries]
    seen = _seen(steps, places, switches, set(wanted))
    start = _aligned([what for _, what in seen], wanted)
    whole = contract.interval.kind != "round_trip" or len(seen) == len(sequence) * turn.turns
    in_sequence = whole and (start is not None or not seen)
    if start is None:
        seen = seen or _seen(steps, places, switches, None)
        names = [f"{what} (not as in the sequence)" for _, what in seen]
    else:
        names = [sequence[(start + i) % len(sequence)] for i in range(len(seen))]
    return _spread(len(steps), [at for at, _ in seen], names), in_sequence


def _what(event: str) -> str:
    """An event without its actors: two threads enter the same function. Empty for what has no point
    of its own.
    """
    actor, _, what = event.partition(": ")
    if actor == _KERNEL and what.startswith((SWITCH, INTERRUPT)):
        return SWITCH if what.startswith(SWITCH) else INTERRUPT
    return what.split(" ")[0].rstrip(",")


def _seen(
    steps: Steps, places: AddressMap, switches: Sequence[str], wanted: set[str] | None
) -> list[tuple[int, str]]:
    """Index and name of each event in the trace; where none is `wanted`, of every system call and
    switch of Linux.
    """
    found: list[tuple[int, str]] = []
    arrived = (steps["flags"] & INTERRUPTED != 0) & (steps["privilege"] == SUPERVISOR)
    wrapped = ""  # the call whose wrapper was entered last, while nothing else has happened
    for i, (pc, user) in enumerate(
        zip(steps["pc"].tolist(), (steps["privilege"] == USER).tolist(), strict=True)
    ):
        place = places.at(pc, user)
        what = (
            INTERRUPT
            if arrived[i]
            else _event(place.function, switches)
            if place.starts and not user
            else ""
        )
        wrapped = "" if user else wrapped
        asked = (
            what in wanted
            if wanted is not None
            else what in (SWITCH, FAULT) or (what and place.function.startswith(SYSTEM_CALLS))
        )
        if asked and what != wrapped:
            found.append((i, what))
            wrapped = ""
        # A call enters its wrapper and then the function of the same name: both are one event.
        if what and what != place.function and what not in (SWITCH, INTERRUPT, FAULT):
            wrapped = what
        elif what == wrapped:
            wrapped = ""
    return found


def _event(function: str, switches: Sequence[str]) -> str:
    """What it means that a function is entered: a switch, or the call of its name without a system
    call's prefix.
    """
    if function in switches:
        return SWITCH
    if function in FAULTS:
        return FAULT
    prefix = next((prefix for prefix in _WRAPPERS if function.startswith(prefix)), "")
    return function.removeprefix(prefix)


def _calls(steps: Steps, places: AddressMap) -> set[str]:
    """The system calls and faults of Linux that are taken in a turn, by name; empty elsewhere."""
    inside = np.unique(steps["pc"][steps["privilege"] != USER]).tolist()
    starting = [place.function for pc in inside if (place := places.at(pc, False)).starts]
    names = [function for function in starting if function.startswith(SYSTEM_CALLS)]
    faults = {FAULT for function in starting if function in FAULTS}
    return {name.partition("_sys_")[2] for name in names} | faults


def _aligned(seen: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where in the sequence, which goes round, the first event stands; None if they do not
    fit.
    """
    fitting = (
        start
        for start in range(len(wanted))
        if seen and all(what == wanted[(start + i) % len(wanted)] for i, what in enumerate(seen))
    )
    return next(fitting, None if wanted or seen else 0)


def _spread(count: int, starts: Sequence[int], names: Sequence[str]) -> list[str]:
    """The name of the last event at or before each step; before the first one, the way to it."""
    if not starts:
        return ["whole turn"] * count
    which = np.searchsorted(starts, np.arange(count), side="right")
    return [names[i - 1] if i else f"before {names[0]}" for i in which.tolist()]
