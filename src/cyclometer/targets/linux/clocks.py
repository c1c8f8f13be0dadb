# SPDX-License-Identifier: BSD-2-Clause
"""Which clocks of the Linux harness work on a machine, tried with a visit each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cyclometer.bundle.model import Clock
from cyclometer.errors import NotComparable
from cyclometer.record.schema import Flow, Group, Hello
from cyclometer.targets.linux.harness import PLAIN, Harness, Launch, Visit, list_circles

_TRIED = Visit(1, "floor.alu", "accumulated", Flow(64, 0, 1, 3))
_WATCHDOG_S = 10
COUNTER, CHAIN = "the core's counter", "a chain of instructions"


@dataclass(frozen=True)
class UsableClocks:
    """`native` is the clock itself; `cycles_refusal` says why --clock cycles does not work, '' for
    nothing; `reference` is what --clock referenced reads beside each test, '' for nothing.
    """

    native: Clock
    cycles_refusal: str
    reference: str


def usable(program: Path, cpu: int, launch: Launch = PLAIN) -> UsableClocks:
    """Tries all clocks of a harness. Raises what `list_circles` raises of the native one."""
    native, _ = _tried(program, "native", cpu, launch)
    _, beside = _tried(program, "referenced", cpu, launch)
    refusal = ""
    try:
        _tried(program, "cycles", cpu, launch)
    except NotComparable as refused:
        refusal = str(refused)
    reference = COUNTER if "core_cycles" in beside else CHAIN if "chain_before" in beside else ""
    return UsableClocks(native, refusal, reference)


def _tried(program: Path, clock: str, cpu: int, launch: Launch) -> tuple[Clock, set[str]]:
    """The clock by its own word, and what is read beside a test that it times."""
    options = ["--clock", clock, "--cpu", str(cpu)]
    listed = list_circles(program, options, launch)
    runner = Harness(program, _TRIED.run, options, _WATCHDOG_S, launch)
    records = runner.visit(_TRIED) + runner.finish()
    beside = {name for record in records if isinstance(record, Group) for name in record.counters}
    return next(record.clock for record in listed if isinstance(record, Hello)), beside
