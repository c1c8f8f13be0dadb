# SPDX-License-Identifier: BSD-2-Clause
"""A made-up machine whose traces are known to the step: two programs, a kernel, and what each
instruction cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from cyclometer.explain.evidence import Evidence, Facts, Located
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.instructions import RISCV64
from cyclometer.record.schema import Clock, Contract, Span
from cyclometer.record.trace import CAUSES, STEP, SUPERVISOR, TRAPPED, USER, Steps, Test

CALL, RETURN, SRET, ECALL, PLAIN, READ = 0x0EF, 0x8067, 0x10200073, 0x73, 0x13, 0xC0002573
SEQUENCE = ("client: poke", "kernel: switch to peer", "peer: await", "kernel: switch to client")
CYCLES = Clock("cycle", "cycles", exact=True)
_PAGE = 0x1000


class Machine:
    """Writes steps one by one. A function has a page of its own; programs and kernel may share
    addresses.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, int, int, tuple[int, ...]]] = []
        self._pages: dict[tuple[bool, str], int] = {}
        self._next: dict[tuple[bool, str], int] = {}
        self.places: tuple[dict[int, Place], dict[int, Place]] = ({}, {})

    def run(
        self,
        function: str,
        insn: int = PLAIN,
        mode: int = SUPERVISOR,
        space: int = 1,
        at: int | None = None,
        flags: int = 0,
        **causes: int,
    ) -> None:
        """One instruction of `function`: the next one, or the one at offset `at`. It costs one
        issue and `causes`.
        """
        user = mode == USER
        base = self._pages.setdefault((user, function), _PAGE * (1 + len(self._pages)))
        pc = base + at if at is not None else self._next.get((user, function), base)
        self._next[user, function] = pc + 4
        self.places[user][pc] = Place(
            function, f"insn {insn:x}", f"kernel/{function}.c", pc & 0xFFF, pc == base, insn
        )
        cost = tuple({"issue": 1, **causes}.get(cause, 0) for cause in CAUSES)
        self.rows.append((pc, insn, mode, flags, space, cost))

    def steps(self) -> Steps:
        steps = np.zeros(len(self.rows), STEP)
        for name, column in zip(
            ("pc", "insn", "privilege", "flags", "space", "causes"),
            zip(*self.rows, strict=True),
            strict=True,
        ):
            steps[name] = column
        steps["clock"] = 1000 + steps["causes"].sum(axis=1).cumsum()
        return steps

    def both(self) -> AddressMap:
        return AddressMap(*self.places)


def turn(machine: Machine, extra: int = 0) -> None:
    """The client pokes a peer in another space, which waits again: two system calls and two
    switches, 21 steps.
    """
    client, peer = {"space": 1}, {"space": 2}
    machine.run("loop", PLAIN, USER, at=0, **client)
    machine.run("loop", ECALL, USER, at=4, flags=TRAPPED, **client)
    machine.run("entry", PLAIN, at=0, trap=4, **client)
    machine.run("entry", CALL, at=4, **client)
    machine.run("sys_poke", PLAIN, at=0, **client)
    machine.run("sys_poke", CALL, at=4, **client)
    machine.run("poke", PLAIN, at=0, dcache=extra, **client)
    machine.run("context_switch", PLAIN, at=0, **peer)
    machine.run("context_switch", RETURN, at=4, **peer)
    machine.run("await", RETURN, at=8, **peer)
    machine.run("entry", SRET, at=8, **peer)
    machine.run("wait", PLAIN, USER, at=8, trap=2, **peer)
    machine.run("wait", ECALL, USER, at=4, flags=TRAPPED, **peer)
    machine.run("entry", PLAIN, at=0, trap=4, **peer)
    machine.run("entry", CALL, at=4, **peer)
    machine.run("await", PLAIN, at=0, **peer)
    machine.run("context_switch", PLAIN, at=0, **client)
    machine.run("context_switch", RETURN, at=4, **client)
    machine.run("sys_poke", RETURN, at=8, **client)
    machine.run("entry", SRET, at=8, **client)
    machine.run("loop", PLAIN, USER, at=8, trap=2, **client)


STEPS = 21
LENGTH = STEPS + 4 + 2 + 4 + 2


def window(turns: Sequence[int]) -> tuple[Machine, int]:
    """A test of as many turns as numbers are given, each longer by its number; and the value that
    it measured.
    """
    machine = Machine()
    machine.run("test", RISCV64.opens, USER)
    machine.run("test", READ, USER)
    machine.run("test", CALL, USER)
    for extra in turns:
        turn(machine, extra)
    machine.run("loop", RETURN, USER, at=12)
    machine.run("test", READ, USER, at=12)
    machine.run("test", RISCV64.closes, USER, at=16)
    clock = machine.steps()["clock"].astype(int)
    return machine, int(clock[-2] - clock[1])


def evidence(turns: Sequence[int], latency: Fraction | None = None, **others: int) -> Evidence:
    """A test of these turns with everything that is known about it; by default each turn is as long
    as the last.
    """
    machine, value = window(turns)
    contract = Contract("thing.poke", "Poke a peer", SEQUENCE, Span("round_trip"))
    wanted = Fraction(LENGTH + turns[-1]) if latency is None else latency
    known = {key.replace("__", "."): (count, 1) for key, count in others.items()}
    places = machine.both()
    located = tuple(
        Located(user, pc, place)
        for user in (False, True)
        for pc, place in machine.places[user].items()
    )
    facts = Facts(
        "made-up",
        {"mcs": "off"},
        CYCLES,
        contract,
        "steady",
        Test(0, contract.key, "group", "accumulated", len(turns), value),
        (wanted.numerator, wanted.denominator),
        known,
        located,
    )
    return Evidence(facts, machine.steps(), places)
