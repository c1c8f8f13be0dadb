# SPDX-License-Identifier: BSD-2-Clause
"""Counters of the processor per turn."""

from __future__ import annotations

from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import MISSING, Bundle
from cyclometer.estimate import hardware
from cyclometer.record.schema import Circle, Contract, Flow, Group, Record

KEY = "syscall.null"


def proven(sizes: tuple[int, ...] = (8, 32), **per_turn: float) -> Bundle:
    """A bundle whose proof adds 5000 events to every test beside those of its turns."""
    assembler = Assembler("linux", {})
    records: list[Record] = [Circle(0, Contract(KEY), "proof", Flow(8, 24, 2, 3))]
    for group, turns in enumerate(sizes):
        counts = {name: [round(5000 + n * turns)] * 3 for name, n in per_turn.items()}
        records.append(Group(1, KEY, "proof", 0, group, turns, [1] * 3, [0] * 3, counts))
    assembler.add(0, records)
    return assembler.bundle()


def test_what_a_reading_costs_is_no_part_of_a_turn() -> None:
    assert hardware.per_turn(proven(cycles=400, branch_misses=0.5), KEY) == {
        "cycles": 400,
        "branch_misses": 0.5,
    }
    assert hardware.per_turn(proven(cycles=400), "another.circle") == {}


def test_what_the_readings_send_to_the_other_cpu_is_no_part_of_a_turn() -> None:
    bundle = proven(other_ipis=1, ipis=0, cycles=400)
    counted = hardware.per_turn(bundle, KEY, hardware.BETWEEN_CPUS)
    assert counted == {"other_ipis": 1, "ipis": 0}


def test_one_test_size_has_no_slope() -> None:
    assert hardware.per_turn(proven((16,), cycles=400), KEY) == {}


def test_a_counter_that_was_not_read_is_absent() -> None:
    bundle = proven(cycles=400)
    bundle.samples.counters["cycles"][:] = MISSING
    assert hardware.per_turn(bundle, KEY) == {}


def test_user_and_kernel_make_the_ipc_and_without_cycles_there_is_none() -> None:
    counted = {"instructions_user": 100.0, "instructions_kernel": 500.0, "cycles": 400.0}
    assert hardware.instructions_per_cycle(counted) == 1.5
    assert hardware.instructions_per_cycle({**counted, "cycles": 0.0}) is None
    assert hardware.instructions_per_cycle({"cycles": 400.0}) is None
