# SPDX-License-Identifier: BSD-2-Clause
"""Whether a moved kernel executes what it would have executed: one window pc by pc, in QEMU's log
and in the RTL's trace.

A circle that neither switches nor reads the time has the same pc at every step. Others differ where
the machines do, and that is reported by function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

from cyclometer.record.address_map import AddressMap
from cyclometer.record.instructions import RISCV64
from cyclometer.record.schema import Flow
from cyclometer.record.trace import USER, Steps
from cyclometer.targets import build
from cyclometer.targets.disassembly import disassemble, program
from cyclometer.targets.linux.harness import Visit
from cyclometer.targets.qemu import trace as qemu_trace
from cyclometer.targets.qemu_linux.guest import Guest
from cyclometer.targets.qemu_linux.symbols import Symbols
from cyclometer.targets.rocket_linux.checkpoint import on_board

FLOW = Flow(initial=8, delta=0, groups=1, tests=2)
Named = Callable[[int, bool], str]
# What the Rocket core makes of mstatus.FS: without a clean state every switch of a thread that has
# used floating-point registers saves them.
_FLOATING_POINT = ("__fstate_save", "__fstate_restore", "__switch_to", "__schedule")


@dataclass(frozen=True)
class Proof:
    """One window of `turns` turns on both machines. `differing`: function -> steps more on the
    RTL. `rest_equal`: all other functions have the same pc at every step.
    """

    key: str
    turns: int
    qemu_steps: int
    rtl_steps: int
    equal_steps: int  # from the beginning to the first difference
    differing: Mapping[str, int]
    rest_equal: bool

    @property
    def identical(self) -> bool:
        return self.equal_steps == self.qemu_steps == self.rtl_steps

    @property
    def explained(self) -> bool:
        """Whether the machines differ in nothing but what they are known for."""
        return self.rest_equal and not self.unexplained

    @property
    def unexplained(self) -> dict[str, int]:
        """The functions that differ for no reason that we know."""
        return {n: more for n, more in self.differing.items() if reason(n) == ""}


def reason(function: str) -> str:
    """Why a function may differ between the machines; empty where we know no reason."""
    if function in _FLOATING_POINT:
        return "floating-point state, which has no clean state on the core"
    if any(word in function for word in ("load_avg", "clock", "time", "_avg", "pelt")):
        return "time, which instructions advance in QEMU and cycles on the RTL"
    return ""


def compare(key: str, turns: int, qemu: Steps, rtl: Steps, function: Named) -> Proof:
    """Sets the steps of one window side by side. `function` names what stands at a pc, in user code
    or not.
    """
    ours, theirs = qemu["pc"].tolist(), rtl["pc"].tolist()
    shorter = min(len(ours), len(theirs))
    equal = next((n for n in range(shorter) if ours[n] != theirs[n]), shorter)
    more = _by_function(rtl, function)
    more.subtract(_by_function(qemu, function))
    largest = sorted(more.items(), key=lambda item: (-abs(item[1]), item[0]))
    differing = {name: n for name, n in largest if n != 0}
    rest_equal = _without(qemu, differing, function) == _without(rtl, differing, function)
    return Proof(key, turns, len(ours), len(theirs), equal, differing, rest_equal)


def _without(steps: Steps, functions: Container[str], function: Named) -> list[int]:
    """The pcs outside of some functions."""
    user = (steps["privilege"] == USER).tolist()
    pairs = zip(steps["pc"].tolist(), user, strict=True)
    return [pc for pc, of_user in pairs if function(pc, of_user) not in functions]


def _by_function(steps: Steps, function: Named) -> Counter[str]:
    user = (steps["privilege"] == USER).tolist()
    return Counter(map(function, steps["pc"].tolist(), user))


def named(known: Symbols, places: AddressMap) -> Named:
    """Functions by the images where they say more than the kernel's list."""

    def function(pc: int, user: bool) -> str:
        place = (places.user if user else places.kernel).get(pc)
        return place.function if place else known.at(pc)[0]

    return function


def in_qemu(guest: Guest, visit: Visit, bound_s: float) -> Steps:
    """What QEMU executes in the last window of a visit, in a boot that is not moved. Raises
    MeasurementFailed.
    """
    user = disassemble(guest.program, program(RISCV64), build.sources())
    hints = (RISCV64.opens, RISCV64.closes)
    window = visit.flow.groups * visit.flow.tests - 1
    with on_board(guest, to_be_moved=False) as board, board.boot(visit.run, [visit]) as command:
        # a debugger stops at the hints, and no timer may expire meanwhile
        stopping = [word.replace("sleep=off", "sleep=on") for word in command]
        traced = qemu_trace.trace(stopping, AddressMap({}, user), hints, [window], bound_s)
    return traced.windows[window]
