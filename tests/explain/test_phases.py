# SPDX-License-Identifier: BSD-2-Clause
"""The events of a contract are found by the functions that a Linux kernel enters, whatever its
architecture.
"""

from __future__ import annotations

import numpy as np
import pytest

from cyclometer.explain.phases import phases
from cyclometer.explain.turn import Turn
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.instructions import AARCH64, RISCV64, X86_64, InstructionSet
from cyclometer.record.schema import Contract, Span
from cyclometer.record.trace import STEP, SUPERVISOR, USER

SEQUENCE = ("client: write request", "client: blocks in read")
# A switch is one event, although x86-64 and arm64 enter two functions for it. Instruction set,
# functions in order, and which of them hands over.
ENTERED = (
    (X86_64, ("__x64_sys_write", "__switch_to_asm", "__switch_to"), 1),
    (AARCH64, ("__arm64_sys_write", "__switch_to", "cpu_switch_to"), 2),
    (RISCV64, ("__riscv_sys_write", "schedule", "__switch_to"), 2),
)


def made(known: InstructionSet, functions: tuple[str, ...]) -> tuple[Turn, AddressMap]:
    steps = np.zeros(1 + len(functions), STEP)
    steps["pc"] = range(len(steps))
    steps["privilege"] = [USER, *[SUPERVISOR] * len(functions)]
    lead = np.zeros(1, STEP)
    lead["insn"] = known.opens
    kernel = {pc: Place(name, starts=True) for pc, name in enumerate(functions, 1)}
    return Turn(steps, lead, 1, True, True), AddressMap(kernel, {0: Place("turns")})


@pytest.mark.parametrize(("known", "functions", "switch"), ENTERED)
def test_calls_and_switches_of_linux_are_known(
    known: InstructionSet, functions: tuple[str, ...], switch: int
) -> None:
    contract = Contract(
        "a", sequence=SEQUENCE, interval=Span("round_trip", "client: before", "client: after")
    )
    found, in_sequence = phases(*made(known, functions), contract)
    assert in_sequence
    assert found == [
        f"before {SEQUENCE[0]}",
        *[SEQUENCE[0]] * switch,
        *[SEQUENCE[1]] * (len(functions) - switch),
    ]


def test_events_are_found_among_those_that_enter_nothing() -> None:
    sequence = (
        "client: store faults",
        "kernel: maps a zeroed page",
        "client: store completes",
        "client: madvise(MADV_DONTNEED)",
        "client: blocks in FUTEX_WAIT",
        "client: returns from FUTEX_WAIT",
    )
    functions = (
        "asm_exc_page_fault",
        "exc_page_fault",
        "__x64_sys_madvise",
        "do_madvise",
        "__x64_sys_futex",
        "__switch_to_asm",
    )
    contract = Contract("a", sequence=sequence, interval=Span("round_trip", "c", "c"))
    found, in_sequence = phases(*made(X86_64, functions), contract)
    assert in_sequence
    assert found[1:] == [
        f"before {sequence[0]}",
        sequence[0],
        *[sequence[3]] * 2,
        *[sequence[4]] * 2,
    ]


def test_no_phase_is_without_a_name_where_the_sequence_does_not_fit() -> None:
    functions = ("__x64_sys_read", "", "__x64_sys_write", "__x64_sys_poll")
    contract = Contract(
        "a",
        sequence=("client: read", "client: poll", "client: write"),
        interval=Span("round_trip", "c", "c"),
    )
    turn, places = made(X86_64, functions)
    middle = AddressMap({**places.kernel, 2: Place("__x64_sys_read")}, places.user)
    found, in_sequence = phases(turn, middle, contract)
    assert not in_sequence
    assert all(name.strip(" ").split(" (")[0] for name in found)
