# SPDX-License-Identifier: BSD-2-Clause
"""What several harts did in one turn: every cycle of each is in one state, and a wait is one for
what another hart does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclometer.errors import UsageError
from cyclometer.explain import evidence, turn
from cyclometer.explain.evidence import Evidence, Located
from cyclometer.explain.explanation import explain
from cyclometer.explain.harts import IDLE, MISS, SPINNING, HartLane, lanes
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.trace import CAUSES, GIVEN_UP, STEP, SUPERVISOR, TRAPPED
from tests.explain import machine

DCACHE, STORE, TLB = map(CAUSES.index, ("dcache", "store", "tlb"))
BASE_PC = 0x9000000

Line = tuple[str, str]  # function and disassembly


def beside(lines: Sequence[Line], path: Sequence[int], cycles: Sequence[int]) -> Evidence:
    """Two turns beside which a second hart executes `lines` in the order of `path`, each step for
    so many cycles; the first step ends with the first cycle of the client's window.
    """
    one = machine.evidence([0, 0])
    steps = np.zeros(len(path), STEP)
    steps["pc"] = BASE_PC + 4 * np.array(path)
    steps["privilege"] = SUPERVISOR
    steps["causes"][:, 0] = cycles
    steps["clock"] = 1000 + np.cumsum(cycles)
    kernel = {BASE_PC + 4 * i: Place(*line) for i, line in enumerate(lines)}
    places = AddressMap({**one.places.kernel, **kernel}, one.places.user)
    found = tuple(Located(False, pc, place) for pc, place in kernel.items())
    facts = msgspec.structs.replace(one.facts, places=one.facts.places + found)
    return replace(one, facts=facts, places=places, elsewhere={1: steps})


def second(one: Evidence) -> HartLane:
    return lanes(one, turn.find(one))[1]


PLAIN = [("work", "add a0,a0,a1")]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60))
def test_every_cycle_of_each_hart_is_in_one_state(cycles: list[int]) -> None:
    one = beside(PLAIN, [0] * len(cycles), cycles)
    length = turn.find(one).length
    for lane in lanes(one, turn.find(one)):
        assert lane.stretches[0].start == 0
        assert lane.stretches[-1].stop == length
        ends = zip(lane.stretches, lane.stretches[1:], strict=False)
        assert all(a.stop == b.start and a.start < a.stop for a, b in ends)
    assert explain(one, hart=1).whole.total == length


def test_an_instruction_under_way_at_either_end_counts_within() -> None:
    client = turn.find(machine.evidence([0, 0]))
    end = int(client.steps["clock"][-1])
    begin = end - client.length
    one = beside(PLAIN, [0, 0, 0], [begin - 1000 + 3, client.length - 5, 100])
    causes = explain(one, hart=1).turn.steps["causes"].sum(axis=1).tolist()
    assert causes == [3, client.length - 5, 2]


def test_one_hart_has_no_lanes() -> None:
    one = machine.evidence([0, 0])
    assert explain(one).harts == []
    with pytest.raises(UsageError, match=r"no hart 2; give --hart one of 0$"):
        explain(one, hart=2)


def test_an_idle_hart_waits_whatever_it_executes() -> None:
    one = beside([("thread_idle", "j 9000000")], [0] * 200, [1] * 200)
    assert second(one).cycles(IDLE) == turn.find(one).length


LOCK = [("lock", "lw\tt2,4(t0)"), ("lock", "fence\tr,rw"), ("lock", "bne\tt1,t2,9000000")]


def spun(loop: Sequence[Line]) -> int:
    one = beside(loop, [i % len(loop) for i in range(300)], [1] * 300)
    return second(one).cycles(SPINNING)


def test_a_loop_that_only_looks_spins() -> None:
    assert spun(LOCK) == machine.LENGTH
    assert spun([("lock", "lw t2,-4(gp) # 80 <word>"), ("lock", "beqz t2,9000000")]) > 0


@pytest.mark.parametrize(
    "changes",
    [
        [("walk", "ld a0,8(a0)"), ("walk", "bnez a0,9000000")],
        [("count", "lw a1,0(a0)"), ("count", "addi a2,a2,1"), ("count", "bnez a1,9000000")],
        [("clear", "ld a1,0(a0)"), ("clear", "sd zero,0(a1)"), ("clear", "j 9000000")],
        [("try", "lr.w a1,(a0)"), ("try", "bnez a1,9000000")],
        [("stop", "j 9000000")],
    ],
)
def test_a_loop_that_changes_something_works(changes: list[Line]) -> None:
    assert spun(changes) == 0


def test_the_first_look_at_a_lock_is_no_wait() -> None:
    path = [0, 1, 2, 3] * 50
    one = beside([*LOCK, ("lock", "sd t2,0(t0)")], path, [1] * len(path))
    assert second(one).cycles(SPINNING) == 0


def missing(flags: int, **causes: int) -> HartLane:
    one = beside(PLAIN, [0] * 200, [1] * 200)
    steps = one.elsewhere[1]
    at = int(np.searchsorted(steps["clock"], turn.find(one).steps["clock"][4]))
    steps["flags"][at] = flags
    for cause, cycles in causes.items():
        steps["causes"][at, CAUSES.index(cause)] = cycles
    steps["clock"][at:] += sum(causes.values())
    return second(one)


def test_a_miss_waits_for_the_hart_that_gives_the_line_up() -> None:
    found = missing(GIVEN_UP, dcache=5, store=2, tlb=3)
    assert found.cycles(MISS) == 7
    (one,) = (stretch for stretch in found.stretches if stretch.state == MISS)
    assert one.function == "work"
    assert missing(0, dcache=5).cycles(MISS) == 0
    assert missing(TRAPPED | GIVEN_UP, tlb=3).cycles(MISS) == 0


def test_a_bundle_keeps_all_harts() -> None:
    one = beside(PLAIN, [0] * 9, [4] * 9)
    one.elsewhere[1]["flags"][3] = GIVEN_UP
    kept = evidence.unpack(evidence.pack(one), "kept")
    assert np.array_equal(kept.steps, one.steps)
    assert np.array_equal(kept.elsewhere[1], one.elsewhere[1])
    assert list(kept.elsewhere) == [1]
