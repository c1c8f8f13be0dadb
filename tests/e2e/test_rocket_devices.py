# SPDX-License-Identifier: BSD-2-Clause
"""The devices of the board as a driver meets them on either core: a UART that interrupts, a
finisher, and time that skips idle hours.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cyclometer.record import trace
from cyclometer.targets.rocket import target as rocket

COMPILER = "riscv64-unknown-elf-gcc"
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(rocket.rocket().missing()), reason=rocket.rocket().missing()),
]
START = """
    .globl _start
_start:
    la      sp, stack_top
"""
FINISH = """
finish:                             # a0: the word
    li      t0, 0x10002000
    sw      a0, 0(t0)
1:  j       1b
    .bss
    .balign 16
    .skip   1024
stack_top:
"""

# Sends a text by interrupts alone, as a driver does: nothing is written unless the UART asked. The
# driver reads the line status before the interrupt's identification: a read of one register must
# not touch its neighbour.
BY_INTERRUPT = """
    la      t0, handler
    csrw    mtvec, t0
    la      s0, text
    li      s1, UART
    li      t0, 0x0c000000
    li      t1, 1
    sw      t1, 4(t0)               # priority of source 1
    li      t2, 0x0c002000
    li      t1, 2
    sw      t1, 0(t2)               # enabled for the hart's M mode
    li      t1, 0x80
    sb      t1, 3(s1)               # the divisor, which must not be sent
    li      t1, 65
    sb      t1, 0(s1)
    li      t1, 3
    sb      t1, 3(s1)
    li      t1, 0x800
    csrw    mie, t1
    csrsi   mstatus, 8
    li      t1, 2
    sb      t1, 1(s1)               # tell when the transmitter is empty
2:  wfi
    j       2b

    .balign 4
handler:
    li      t0, 0x0c200004
    lw      s2, 0(t0)               # claim
    li      t1, 1
    bne     s2, t1, wrong
    lbu     t1, 5(s1)
    andi    t1, t1, 0x20
    beqz    t1, wrong
    lbu     t1, 2(s1)
    andi    t1, t1, 0x0f
    li      t2, 2
    bne     t1, t2, wrong
    lbu     t1, 2(s1)               # acknowledged: asked again, it has nothing more to say
    andi    t1, t1, 0x0f
    li      t2, 1
    bne     t1, t2, wrong
    lbu     t1, 0(s0)
    beqz    t1, last
    addi    s0, s0, 1
    sb      t1, 0(s1)
    sw      s2, 0(t0)               # complete
    mret
last:
    li      a0, WORD
    j       finish
wrong:
    li      a0, 0x73333
    j       finish
text:
    .asciz  "sent by interrupts\\n"
"""

# Sleeps until a timer, then opens a window.
SLEEP = """
    la      t0, woken
    csrw    mtvec, t0
    li      t0, 0x0200bff8
    ld      t1, 0(t0)
    addi    t1, t1, 200             # of 100 cycles
    li      t0, 0x02004000
    sd      t1, 0(t0)
    li      t1, 0x80
    csrw    mie, t1
    csrsi   mstatus, 8
2:  wfi
    j       2b
    .balign 64
woken:
    li      t0, 100
    slti    x0, x0, 0x7c1
3:  addi    t0, t0, -1
    bnez    t0, 3b
    slti    x0, x0, 0x7c2
    li      a0, 0x5555
    j       finish
"""


@pytest.fixture(scope="module", params=[rocket.rocket(), rocket.cva6()], ids=lambda t: t.name)
def simulator(request: pytest.FixtureRequest) -> Path:
    built: Path = request.param.build()[0]
    return built


def image(tmp_path: Path, body: str, **symbols: int) -> Path:
    source, linked = tmp_path / "image.S", tmp_path / "image.elf"
    source.write_text(START + body + FINISH)
    flags = ["-nostdlib", "-static", "-march=rv64imac_zicsr", "-mabi=lp64", "-mcmodel=medany"]
    defined = [f"-D{name}={value:#x}" for name, value in symbols.items()]
    command = [COMPILER, *flags, *defined, "-Wl,-N,-Ttext=0x80000000", "-o", linked, source]
    subprocess.run(command, check=True)
    return linked


def run(simulator: Path, *words: object) -> subprocess.CompletedProcess[bytes]:
    command = [simulator, "--max-cycles", "300000", *words]
    return subprocess.run(list(map(str, command)), capture_output=True, check=False)


@pytest.mark.parametrize("uart", [0x10001000, 0x10000000])
def test_the_uart_sends_by_interrupts_at_both_addresses(
    simulator: Path, tmp_path: Path, uart: int
) -> None:
    done = run(simulator, image(tmp_path, BY_INTERRUPT, UART=uart, WORD=0x7777))
    assert (done.returncode, done.stdout) == (0, b"sent by interrupts\n"), done.stderr


@pytest.mark.parametrize(("word", "code"), [(0x5555, 0), (0x7777, 0), (0x3333, 1), (0x1234, 124)])
def test_the_finisher_heeds_its_words(
    simulator: Path, tmp_path: Path, word: int, code: int
) -> None:
    done = run(simulator, image(tmp_path, "li a0, WORD", WORD=word))
    assert done.returncode == code


WAIT_FOR_EVER = "forever: wfi\n    j forever"
# Its interrupt is pending from then on, and nobody lets it come.
MASKED_TIMER = """
    li      t0, 0x0200bff8
    ld      t1, 0(t0)
    addi    t1, t1, 50              # of 100 cycles
    li      t0, 0x02004000
    sd      t1, 0(t0)
"""
FAR_TIMER = """
    li      t0, 0x02004000
    li      t1, 0x7fffffffffffffff
    sd      t1, 0(t0)
"""


@pytest.mark.parametrize("timer", ["", MASKED_TIMER, FAR_TIMER])
@pytest.mark.parametrize("options", [(), ("--leap",)])
def test_a_wait_that_nothing_ends_is_seen_at_once(
    simulator: Path, tmp_path: Path, timer: str, options: tuple[str, ...]
) -> None:
    kept = tmp_path / "trace"
    done = run(simulator, *options, "--trace", kept, image(tmp_path, timer + WAIT_FOR_EVER))
    assert (done.returncode, done.stdout) == (3, b"")
    said = re.fullmatch(
        rb"(rocket|cva6): idle for ever, without a timer, in cycle (\d+): "
        rb"hart 0 near pc 0x800000[0-9a-f]{2}\n",
        done.stderr,
    )
    assert said, done.stderr
    assert int(said[2]) < 12_000
    assert len(trace.load(kept)) == 0  # and the file is whole


def test_a_leap_over_idle_time_changes_nothing_but_the_time(
    simulator: Path, tmp_path: Path
) -> None:
    sleeping = image(tmp_path, SLEEP)
    windows = {}
    for options in ((), ("--leap",)):
        kept = tmp_path / "trace"
        assert run(simulator, *options, "--trace", kept, sleeping).returncode == 0
        (windows[options],) = trace.windows(trace.load(kept), "trace")
        windows[options] = windows[options].copy()
    slept, leapt = windows[()], windows["--leap",]
    assert int(slept["clock"][0]) > 20_000
    assert int(leapt["clock"][0]) < 3_000
    for name in ("pc", "insn", "privilege", "flags", "space"):
        assert np.array_equal(slept[name], leapt[name])
    assert np.array_equal(np.diff(slept["clock"]), np.diff(leapt["clock"]))
    assert np.array_equal(slept["causes"][1:], leapt["causes"][1:])
