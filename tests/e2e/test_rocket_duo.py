# SPDX-License-Identifier: BSD-2-Clause
"""The board with two harts: both boot, interrupt each other, and see one memory."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from cyclometer.explain import sources
from cyclometer.explain.explanation import explain
from cyclometer.explain.harts import IDLE, MISS
from cyclometer.record import trace
from cyclometer.record.schema import Flow
from cyclometer.targets.api import Request
from cyclometer.targets.rocket import simulator as rocket_board
from cyclometer.targets.rocket import target as cores

COMPILER = "riscv64-unknown-elf-gcc"
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(cores.rocket_duo().missing()), reason=cores.rocket_duo().missing()),
]
UART, FINISHER, MSIP = 0x10001000, 0x10002000, 0x02000000

# Each hart waits for its software interrupt, prints its number, and interrupts the other one.
PING_PONG = f"""
    .globl _start
_start:
    csrr    s0, mhartid
    xori    s1, s0, 1
    li      t0, {MSIP:#x}
    slli    t1, s0, 2
    add     s2, t0, t1              # own msip
    slli    t1, s1, 2
    add     s3, t0, t1              # the other's
    li      t1, 8
    csrw    mie, t1
    li      s4, 10
    li      s5, {UART:#x}
    li      t1, 1
    bnez    s0, 1f
    sw      t1, 0(s2)               # hart 0 begins
1:  wfi
    lw      t1, 0(s2)
    beqz    t1, 1b
    sw      zero, 0(s2)
    addi    t1, s0, '0'
    sb      t1, 0(s5)
    addi    s4, s4, -1
    beqz    s4, 2f
    li      t1, 1
    sw      t1, 0(s3)
    j       1b
2:  beqz    s0, 3f
    li      t0, {FINISHER:#x}
    li      t1, 0x5555
    sw      t1, 0(t0)
3:  li      t1, 1
    sw      t1, 0(s3)
4:  wfi
    j       4b
"""

# Both harts fill one table by atomic additions, each entry with the number of the hart that took
# it; hart 1 prints the table. ROUNDS entries each, in a window of the trace.
CONTEND = f"""
    .set    ROUNDS, 40
    .globl _start
_start:
    csrr    s0, mhartid
    la      s1, taken
    la      s2, table
    la      s3, done
    li      s4, ROUNDS
    addi    s5, s0, '0'
    li      t1, 1
    slti    x0, x0, 0x7c1
1:  amoadd.w t0, t1, (s1)
    add     t2, s2, t0
    sb      s5, 0(t2)
    addi    s4, s4, -1
    bnez    s4, 1b
    slti    x0, x0, 0x7c2
    fence   rw, rw
    amoadd.w zero, t1, (s3)
    bnez    s0, 2f
    wfi
    j       .
2:  lw      t0, 0(s3)
    li      t1, 2
    bne     t0, t1, 2b
    fence   rw, rw
    li      s4, 2 * ROUNDS
    li      s5, {UART:#x}
3:  lbu     t1, 0(s2)
    sb      t1, 0(s5)
    addi    s2, s2, 1
    addi    s4, s4, -1
    bnez    s4, 3b
    li      t0, {FINISHER:#x}
    li      t1, 0x5555
    sw      t1, 0(t0)
    j       .
    .bss
    .balign 64
taken: .skip 64
done:  .skip 64
table: .skip 2 * ROUNDS
"""


CALL = "endpoint.round_trip.words_0.cross.other_cpu"


@pytest.fixture(scope="module")
def simulator() -> Path:
    return rocket_board.simulator(cores.rocket_duo().core)


def image(folder: Path, text: str) -> Path:
    source, linked = folder / "image.S", folder / "image.elf"
    source.write_text(text)
    flags = ["-nostdlib", "-static", "-march=rv64ima_zicsr", "-mabi=lp64", "-mcmodel=medany"]
    command = [COMPILER, *flags, "-Wl,-N,--no-relax,-Ttext=0x80000000", "-o", linked, source]
    subprocess.run(command, check=True)
    return linked


def boot(simulator: Path, *words: object) -> str:
    command = [simulator, "--max-cycles", "300000", *words]
    done = subprocess.run(list(map(str, command)), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_two_harts_interrupt_each_other_in_turn(simulator: Path, tmp_path: Path) -> None:
    assert boot(simulator, image(tmp_path, PING_PONG)) == "01" * 10


def test_two_harts_see_one_memory(simulator: Path, tmp_path: Path) -> None:
    order = boot(simulator, image(tmp_path, CONTEND))
    assert sorted(order) == ["0"] * 40 + ["1"] * 40
    assert order.count("01") > 1  # they ran at the same time


def test_jitter_gives_schedules_that_differ_and_repeat(simulator: Path, tmp_path: Path) -> None:
    linked = image(tmp_path, CONTEND)
    orders = [boot(simulator, "--memory-jitter", seed, linked) for seed in range(8)]
    assert len(set(orders)) > 1
    assert boot(simulator, "--memory-jitter", 5, linked) == orders[5]


def test_the_trace_says_which_hart_executed_a_step(simulator: Path, tmp_path: Path) -> None:
    kept = tmp_path / "trace"
    boot(simulator, "--trace", kept, image(tmp_path, CONTEND))
    lanes = trace.lanes(trace.load(kept))
    assert list(lanes) == [0, 1]
    for steps in lanes.values():
        passed = np.diff(steps["clock"].astype(np.int64))
        assert (passed > 0).all()
        assert np.array_equal(steps["causes"][1:].sum(axis=1), passed)
        spent = steps["causes"][1:].sum(axis=0)
        assert spent[trace.CAUSES.index("dcache")] + spent[trace.CAUSES.index("store")] > 0
        assert spent[trace.CAUSES.index("unattributed")] <= 0.01 * spent.sum()


def test_a_call_to_the_other_hart_is_explained_on_both() -> None:
    short = Flow(initial=4, delta=4, groups=2, tests=1)
    request = Request(only=(CALL,), config={"smp": "biglock"}, flow=short)
    found = sources.trace(cores.rocket_duo(), request, [CALL], steady_only=True)[CALL]["steady"]
    e = explain(found)
    assert [lane.hart for lane in e.harts] == [0, 1]
    for lane in e.harts:
        assert lane.stretches[-1].stop == e.turn.length
        assert lane.cycles(MISS) > 0  # each reads what the other one wrote
        assert 0 < lane.cycles(IDLE) < e.turn.length
    called = (
        {part.name for part in e.functions},
        {part.name for part in explain(found, hart=1).functions},
    )
    assert all("thread_idle" in functions for functions in called)
    assert called[0] != called[1]
