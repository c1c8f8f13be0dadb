# SPDX-License-Identifier: BSD-2-Clause
"""Traces a RISC-V image under QEMU from one address to another, as often as it comes there.

The image needs no hints. The machine stands still while a window's log is read, as trace.py says.
"""

from __future__ import annotations

from collections.abc import Sequence

from cyclometer.errors import MeasurementFailed
from cyclometer.record.address_map import AddressMap
from cyclometer.record.span import MOST_STEPS, AddressSpan
from cyclometer.record.trace import Steps
from cyclometer.targets.qemu.debugger import Debugger
from cyclometer.targets.qemu.trace import WINDOW_LOG, Spaces, logged_steps


def spans(
    command: Sequence[str],
    places: AddressMap,
    span: AddressSpan,
    ends: Sequence[bytes],
    bound_s: float,
) -> tuple[list[Steps], str]:
    """The windows of one boot, and why there are no more, which completes "the boot ...". `ends`
    are texts that end its console.

    Raises MeasurementFailed if a window's log grows too large.
    """
    found: list[Steps] = []
    spaces, met, kept = Spaces(), 0, 0
    with Debugger(command, bound_s) as machine:
        while len(found) != span.most and kept < MOST_STEPS:
            if why := machine.reach(span.start, ends):
                return found, why
            met += 1
            if met <= span.skip:
                machine.step()  # it would stop here again
                continue
            machine.log(WINDOW_LOG)
            if why := _to_end(machine, span, ends):
                return found, f"{why}, in an open window"
            machine.log("none")
            found.append(logged_steps(machine.logged(), places, spaces, [span.start]))
            kept += len(found[-1])
    return found, "was stopped, as all windows were there"


def _to_end(machine: Debugger, span: AddressSpan, ends: Sequence[bytes]) -> str:
    """Runs to the end of the window that begins here; a return is one to the same stack."""
    if span.stop is not None:
        machine.step()
        return machine.reach(span.stop, ends)
    back, stack = machine.register("ra"), machine.register("sp")
    if back == 0:
        raise MeasurementFailed("the function has no return address; name an end by --to")
    while True:
        machine.step()
        if why := machine.reach(back, ends):
            return why
        if machine.register("sp") == stack:
            return ""
