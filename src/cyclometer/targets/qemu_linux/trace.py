# SPDX-License-Identifier: BSD-2-Clause
"""What a Linux guest executes in a test: its instructions are those that QEMU met, its functions'
names its own.

A kernel patches its own code while it boots, so that its image does not say what it runs. An
untraced boot finds out what a turn costs. A traced one makes several tests of a circle, and the
quietest of them is taken: at a hint the machine stands still and its clock goes on, by as much as
the host is busy, so that a timer may expire in the test behind it or its first turns may find that
a jiffy has passed. The turn to show is the one that costs what the untraced boot found.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import accumulate

import msgspec
import numpy as np

from cyclometer.errors import MeasurementFailed
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.decode import Decoder
from cyclometer.record.instructions import NAMED, matches
from cyclometer.record.schema import Failed, Flow, Group, Hello, Overhead, Pass, Record, Skipped
from cyclometer.record.trace import TRAPPED, USER, Steps, TraceResult
from cyclometer.targets import build
from cyclometer.targets.console import read_console
from cyclometer.targets.disassembly import disassemble, program
from cyclometer.targets.linux.harness import Visit
from cyclometer.targets.qemu import trace as qemu_trace
from cyclometer.targets.qemu.blocks import Code
from cyclometer.targets.qemu.trace import Dialect, holds_turn
from cyclometer.targets.qemu_linux import inlined, listing
from cyclometer.targets.qemu_linux.guest import Guest
from cyclometer.targets.qemu_linux.symbols import Symbols

_TESTS, _PASSES, _CANDIDATES = 4, 8, 3
_COST_FLOW = Flow(initial=2, delta=6, groups=2, tests=_TESTS)
_REGISTERS_MAX = 120_000  # of a window: QEMU's log has more than a kilobyte each time
_BLOCK_STEPS = 5  # of a block that is logged as a whole, at least four on average
_STEPS = 50_000  # that are written down in a second or two
_FEW_TURNS = Flow(initial=1, delta=2, groups=2, tests=_TESTS)  # where many circles are traced
_TOO_LONG = "a turn of {:.0f} instructions is too long to be written down; {} are the most"
_TURNS_MAX = 8
_TARGET = re.compile(r"[ #]0x([0-9a-f]+)$")


def trace(
    guest: Guest,
    methods: Mapping[str, str],
    bound_s: float,
    measured: Mapping[str, float] | None = None,
    flow: Flow | None = None,
) -> TraceResult:
    """One traced boot with the window of an explained test of each circle. `methods` names each
    circle's, by key. `measured` is what a turn of each costs, if known: it saves a boot, and
    the tests are then as short as shows a turn that follows another. With `flow` they are as long
    as its largest.

    Raises NotComparable if there is no disassembler, MeasurementFailed if a boot ends early.
    """
    known = NAMED[guest.kernel.machine.name]
    dialect = qemu_trace.DIALECTS[known.name]
    disassembler = program(known)
    symbols = listing.known(guest) or listing.listed(guest, bound_s)
    costs, failed = (
        _ask(guest, tuple(methods.items()), bound_s) if measured is None else (measured, [])
    )
    steps_max = _REGISTERS_MAX * (_BLOCK_STEPS if dialect.blocks else 1)
    turn_max = steps_max // 2  # tests of two sizes are traced
    long = [
        Failed(0, key, _TOO_LONG.format(cost, turn_max))
        for key, cost in costs.items()
        if cost > turn_max
    ]
    short = {key: cost for key, cost in costs.items() if cost <= turn_max}
    visits = _visits(methods, short, flow, steps_max, few=measured is not None)
    places = AddressMap({}, disassemble(guest.program, disassembler, build.sources()))
    wanted = _candidates(visits)
    timed = {visit.key for visit in visits if visit.method == "accumulated" and flow is None}
    turns = {number: short[key] for number, key in wanted.items() if key in timed}
    with guest.boot(1, visits) as command:
        stopping = [word.replace("sleep=off", "sleep=on") for word in command]
        traced = qemu_trace.trace(
            stopping,
            places,
            (known.opens, known.closes),
            sorted(wanted),
            bound_s,
            dialect,
            wanted,
            turns,
        )
    records = Decoder().feed(traced.console)
    exact = {n for n, w in traced.windows.items() if holds_turn(w, turns.get(n))}
    chosen = _quietest(records, {n: key for n, key in wanted.items() if n in traced.windows}, exact)
    inside = inlined.calls(guest.kernel.debug, traced.code, known)
    kernel = _kernel_places(traced.code, symbols, inside)
    windows = {
        wanted[number]: _with_code(traced.windows[number], kernel, dialect) for number in chosen
    }
    return TraceResult(
        [*_only(records, chosen), *failed, *long],
        windows,
        AddressMap(kernel, places.user),
        latencies={key: Fraction(cost).limit_denominator(10**6) for key, cost in short.items()},
    )


@cache
def _ask(
    guest: Guest, methods: tuple[tuple[str, str], ...], bound_s: float
) -> tuple[dict[str, float], list[Record]]:
    """From an untraced boot: instructions per turn by key, of the quietest tests; and the records
    of what cannot run.
    """
    visits = [
        Visit(0, key, method, _COST_FLOW if method == "accumulated" else Flow(1, 0, 1, _PASSES))
        for key, method in methods
    ]
    with guest.boot(0, visits) as command:
        ended = read_console(command, bound_s)
    records = Decoder().feed(ended.console)
    return _costs(records), [r for r in records if isinstance(r, Failed | Skipped)]


def _costs(records: Sequence[Record]) -> dict[str, float]:
    """Instructions of a turn by key: the slope between the quietest tests of two sizes, so that
    the fixed cost is not in it; of passes the quietest.
    """
    sizes: dict[str, dict[int, int]] = {}
    for record in records:
        if isinstance(record, Group | Pass) and record.values:
            quietest = min(range(len(record.values)), key=partial(_disturbance, record))
            sizes.setdefault(record.circle, {})[record.turns] = record.values[quietest]
    found = {}
    for key, values in sizes.items():
        (few, small), (many, large) = min(values.items()), max(values.items())
        found[key] = (large - small) / (many - few) if few < many else large / many
    return found


def _visits(
    methods: Mapping[str, str],
    costs: Mapping[str, float],
    flow: Flow | None,
    steps_max: int,
    few: bool,
) -> list[Visit]:
    """Of the circles of which `costs` knows what a turn takes."""
    return [
        _visit(key, methods[key], costs[key], flow, steps_max, few)
        for key in methods
        if key in costs
    ]


def _visit(
    key: str, method: str, cost: float, flow: Flow | None, steps_max: int, few: bool
) -> Visit:
    """Tests of two sizes; those of a given flow are as long as it says, or as can be written
    down.
    """
    if method != "accumulated":
        return Visit(1, key, method, Flow(1, 0, 1, _PASSES))
    if few and flow is None:
        return Visit(1, key, method, _FEW_TURNS)
    most = _TURNS_MAX if flow is None else flow.initial + (flow.groups - 1) * flow.delta
    turns = max(2, min(most, int((_STEPS if flow is None else steps_max) / cost)))
    return Visit(1, key, method, Flow(turns // 2, turns - turns // 2, 2, _TESTS))


def _candidates(visits: Sequence[Visit]) -> dict[int, str]:
    """Numbers of the windows to write down: the last tests of the largest size, the last passes,
    the coldest one.
    """
    counts = [2 * (_TESTS if visit.method == "accumulated" else _PASSES) for visit in visits]
    found: dict[int, str] = {}
    for visit, count, end in zip(visits, counts, accumulate(counts), strict=True):
        last = range(end - _CANDIDATES, end)
        found |= dict.fromkeys([end - count // 2] if visit.method == "passes" else last, visit.key)
    return found


def _values(records: Sequence[Record]) -> list[tuple[int, Group | Pass | Overhead, int]]:
    """Number of its window, record, and place in the record, of every value of a boot."""
    measured = [record for record in records if isinstance(record, Group | Pass | Overhead)]
    return [
        (n, record, i)
        for n, (record, i) in enumerate((r, i) for r in measured for i in range(len(r.values)))
    ]


def _disturbance(record: Group | Pass | Overhead, place: int) -> tuple[int, int]:
    """What orders tests of one size: interrupts beyond those of the quietest, then instructions."""
    return record.counters.get("interrupts", [0] * len(record.values))[place], record.values[place]


def _quietest(
    records: Sequence[Record], wanted: Mapping[int, str], exact: Container[int] = ()
) -> list[int]:
    """Of the candidates of each circle the window with a turn as long as measured, of those with
    the least interrupts, and of those the shortest.
    """
    best: dict[str, tuple[tuple[bool, int, int], int]] = {}
    for number, record, place in _values(records):
        if number in wanted and wanted[number] == record.circle:
            rank = ((number not in exact, *_disturbance(record, place)), number)
            best[record.circle] = min(best.get(record.circle, rank), rank)
    return [number for _, number in best.values()]


def _only(records: Sequence[Record], chosen: Sequence[int]) -> list[Record]:
    """The records with one value each: the chosen window's, else the quietest, so that the slope is
    that of quiet.
    """
    places = {id(record): place for number, record, place in _values(records) if number in chosen}
    return [_named(r) if isinstance(r, Hello) else _with_one(r, places) for r in records]


def _named(hello: Hello) -> Hello:
    """The hello with the kernel among what distinguishes the sides of a comparison."""
    return msgspec.structs.replace(
        hello, configuration={**hello.configuration, "kernel": hello.kernel}
    )


def _with_one(record: Record, places: Mapping[int, int]) -> Record:
    if not isinstance(record, Group | Pass | Overhead):
        return record
    quietest = min(range(len(record.values)), key=partial(_disturbance, record))
    i = places.get(id(record), quietest)
    counters = {name: [counts[i]] for name, counts in record.counters.items()}
    return msgspec.structs.replace(
        record, values=[record.values[i]], at=[record.at[i]], counters=counters
    )


def _kernel_places(
    code: Mapping[int, Code], symbols: Symbols, inside: Mapping[int, str] | None = None
) -> dict[int, Place]:
    """What stands at the instructions that QEMU logged, with the calls inline that they are of."""
    found = {}
    for pc, instruction in code.items():
        name, starts = symbols.at(pc)
        text = _text(instruction.text, name, symbols)
        call = (inside or {}).get(pc, "")
        found[pc] = Place(name, text, starts=starts, insn=instruction.insn, inlined=call)
    return found


def _text(words: str, function: str, symbols: Symbols) -> str:
    """An instruction with the name of where it jumps: into its own function, or to the start of
    another.
    """
    match = _TARGET.search(words)
    if not match:
        return words
    name, starts = symbols.at(int(match[1], 16))
    return f"{words} <{name}>" if starts or name == function else words


def _with_code(steps: Steps, kernel: Mapping[int, Place], dialect: Dialect) -> Steps:
    """The steps with the kernel's encodings, and system calls marked as what they are: traps that
    retire.

    Raises MeasurementFailed if QEMU did not log an instruction.
    """
    found = steps.copy()
    inside = found["privilege"] != USER
    if untold := {int(pc) for pc in found["pc"][inside]} - kernel.keys():
        raise MeasurementFailed(
            f"QEMU did not log the instruction at {min(untold):#x}; install one that disassembles "
            "(with capstone)"
        )
    found["insn"][inside] = [kernel[int(pc)].insn for pc in found["pc"][inside]]
    entering = ~inside[:-1] & inside[1:] & matches(found["insn"][:-1], dialect.unlogged)
    found["flags"][:-1] |= np.where(entering, TRAPPED, 0).astype(np.uint8)
    return found
