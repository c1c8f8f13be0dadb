# SPDX-License-Identifier: BSD-2-Clause
"""Contracts of Zephyr's latency_measure rows, and the clocks of its emulated boards.

Keys are Zephyr's own, letter for letter. The output does not say how a row was corrected; the
benchmark's source does: `subtracted` (the cost of reading the clock is taken off every sample),
`loop-amortised` (one bracket round N calls, loop included) or `none` (every sample carries the cost
of two readings).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from cyclometer.bundle.model import Clock, Contract, Span
from cyclometer.ingest.parsed import Settings

SUBTRACTED, AMORTISED, NONE, UNKNOWN = "subtracted", "loop-amortised", "none", "unknown"

_CALL = Span("one_way", "before the call", "call has returned")
_LOOP = Span("one_way", "before N calls", "after N calls")
_BLOCK = Span("one_way", "waiter: before the call that blocks", "waker: before its call")
_WAKE = Span("one_way", "waker: before the call that wakes", "waiter: its call has returned")
_YIELD = Span(
    "one_way", "first thread: before k_yield", "second thread: first statement after the switch"
)
_ISR_BACK = Span(
    "one_way", "interrupt routine: last statement", "interrupted thread: first statement"
)
_ISR_OTHER = Span(
    "one_way", "interrupt routine: after it gave the semaphore", "waiting thread: first statement"
)

# (pattern of the key, interval, correction), the first that fits; the row list of the benchmark's
# sources.
_RULES: tuple[tuple[str, Span, str], ...] = (
    (r"thread\.yield\..*", _YIELD, SUBTRACTED),
    (r"isr\.resume\.interrupted\..*", _ISR_BACK, SUBTRACTED),
    (r"isr\.resume\.different\..*", _ISR_OTHER, SUBTRACTED),
    (r"thread\.(create|start|suspend|resume|abort)\..*", _CALL, SUBTRACTED),
    (r"[fl]ifo\.(put|get)\.immediate\..*", _CALL, SUBTRACTED),
    (r"[fl]ifo\.(put\.alloc|get\.free)\.immediate\..*", _CALL, NONE),
    (r"[fl]ifo\.get\.(free\.)?blocking\..*", _BLOCK, NONE),
    (r"[fl]ifo\.put\.(alloc\.)?wake\+ctx\..*", _WAKE, NONE),
    (r"events\.(post|set|wait|wait_all)\.immediate\..*", _LOOP, AMORTISED),
    (r"events\.wait\.blocking\..*", _BLOCK, SUBTRACTED),
    (r"events\.wait_all\.blocking\..*", _BLOCK, NONE),
    (r"events\.set\.wake\+ctx\..*", _WAKE, SUBTRACTED),
    (r"events\.post\.wake\+ctx\..*", _WAKE, NONE),
    (r"semaphore\.(give|take)\.immediate\..*", _LOOP, AMORTISED),
    (r"semaphore\.take\.blocking\..*", _BLOCK, SUBTRACTED),
    (r"semaphore\.give\.wake\+ctx\..*", _WAKE, SUBTRACTED),
    (r"condvar\.wait\.blocking\..*", _BLOCK, NONE),
    (r"condvar\.signal\.wake\+ctx\..*", _WAKE, NONE),
    (r"stack\.(push|pop)\.immediate\..*", _CALL, SUBTRACTED),
    (r"stack\.pop\.blocking\..*", _BLOCK, NONE),
    (r"stack\.push\.wake\+ctx\..*", _WAKE, NONE),
    (r"mutex\.(lock|unlock)\.immediate\.recursive\..*", _LOOP, AMORTISED),
    (r"heap\.(malloc|free)\.immediate", _CALL, NONE),
)
_COMPILED = tuple(
    (re.compile(pattern), interval, correction) for pattern, interval, correction in _RULES
)
_ENDS = re.compile(r"\.([ku])_to_([ku])$|\.(kernel|user)(?:\.from\.(kernel|user))?$")
_NAMES = {"k": "kernel", "u": "user"}


@lru_cache(maxsize=4096)
def latency_contract(key: str, title: str) -> Contract:
    """The contract of a latency_measure row; of an unknown key only what the key itself says."""
    interval, correction = Span(), UNKNOWN
    for pattern, known, known_correction in _COMPILED:
        if pattern.fullmatch(key):
            interval, correction = known, known_correction
            break
    return Contract(
        key, title, _sequence(interval), interval, params=_threads(key), correction=correction
    )


def _threads(key: str) -> dict[str, str]:
    """Which side runs in the kernel and which in user mode, as the key's ending says."""
    match = _ENDS.search(key)
    if not match:
        return {}
    if match[1]:
        return {"from": _NAMES[match[1]], "to": _NAMES[match[2]]}
    return {"thread": match[3]} | ({"from": match[4]} if match[4] else {})


def _sequence(interval: Span) -> tuple[str, ...]:
    if interval in (_BLOCK, _WAKE):
        blocks, wakes = (
            "waiter: blocks, switch to the waker",
            "waker: wakes the waiter, switch to it",
        )
        return (f"{blocks} (timed)", wakes) if interval is _BLOCK else (blocks, f"{wakes} (timed)")
    return ()


@dataclass(frozen=True)
class Board:
    """An emulated board under -icount: its shift (an instruction takes 2**shift ns) and its timing
    counter's rate.
    """

    icount_shift: int
    counter_hz: float


# Where the board's default build runs under icount; SMP variants do not and are left out.
BOARDS = {
    "qemu_x86": Board(5, 1e9),
    "qemu_cortex_a53": Board(4, 62.5e6),
    "qemu_cortex_m3": Board(6, 12e6),
    "qemu_riscv64": Board(6, 10e6),
    "qemu_riscv32": Board(6, 10e6),
    "mps2/an385": Board(7, 25e6),
}
# the timing counter is a reference clock there
_TICKS = ("riscv", "cortex_a", "x86", "a53", "intel")


@dataclass(frozen=True)
class ClockScale:
    """The clock of a log and how its printed cycles and nanoseconds become that clock's units."""

    clock: Clock
    per_cycle: float = 1.0
    per_ns: float = 0.0  # used instead, where the nanoseconds are finer than the cycles

    def value(self, cycles: float, ns: float | None = None) -> float:
        return ns * self.per_ns if self.per_ns and ns is not None else cycles * self.per_cycle


def scale(settings: Settings, board: str = "", hz: float = 0.0) -> ClockScale:
    """The clock of a board: instructions under icount, reference ticks or cycles otherwise."""
    name = settings.text("board", board).removesuffix("/native").lower()
    known = next(
        (BOARDS[one] for one in (name, name.split("/")[0]) if one in BOARDS and "smp" not in name),
        None,
    )
    shift = settings.number("icount_shift")
    if shift is None and known:
        shift = known.icount_shift
    if shift is not None and shift <= 20:
        counter_hz = settings.number("hz") or hz or (known.counter_hz if known else 0.0)
        per_cycle = 1e9 / counter_hz / 2**shift if counter_hz else 1.0
        return ClockScale(Clock("icount", "instructions", exact=True), per_cycle, 2.0**-shift)
    unit = "ticks" if any(part in name for part in _TICKS) else "cycles"
    return ClockScale(settings.clock("timing counter", unit, hz))
