# SPDX-License-Identifier: BSD-2-Clause
"""Traces windows of a QEMU boot: a debugger stops at their hints, QEMU's own log shows what runs
between them.

Outside the chosen windows the machine runs at full speed and writes nothing. Time stands still for
the guest while it is stopped; `sleep=off` would let it leap to the next timer meanwhile, hence
`sleep=on`. Whether a window is what was measured can be checked: it lasts as long as its value in
the records of the same boot.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from cyclometer.errors import MeasurementFailed
from cyclometer.record.address_map import AddressMap
from cyclometer.record.instructions import Pattern
from cyclometer.record.trace import INTERRUPTED, ISSUE, STEP, TRAPPED, USER, Steps
from cyclometer.targets.qemu.blocks import BlockKey, Blocks, Code
from cyclometer.targets.qemu.blocks import code as logged_code
from cyclometer.targets.qemu.debugger import Debugger

WINDOW_LOG = "exec,nochain,cpu,int"
_UNKNOWN_CODE = ",in_asm"  # where no image of the kernel is at hand


@dataclass(frozen=True)
class Register:
    """A register that roots the page tables and that QEMU does not log, so that it is asked for and
    then followed.
    """

    name: str
    bits: int  # those that are the root
    # the instruction that sets it; of which general register, its lowest five bits say
    writes: Pattern


@dataclass(frozen=True)
class Dialect:
    """How QEMU's log shows what one architecture executed.

    A block is logged before it runs: cpu, pc, flags, and how it was translated; then the registers.
    A trap follows the block in which it came, a stop the block that did not run. Where `line` knows
    `listing`, QEMU runs whole blocks, and their instructions are those that it translated: the
    registers are a hundred times what they say of one instruction. Elsewhere a block is one.
    """

    line: re.Pattern[bytes]
    # by the exception level in the log, else by the lowest bits of a block's flags
    privileges: tuple[int, ...]
    counted: frozenset[int]  # exceptions that QEMU raises behind the instruction, so that it counts
    hint_bytes: int
    # causes that are none of the last step's doing, where the log does not say so
    interrupts: Container[int] = ()
    unlogged: tuple[Pattern, ...] = ()  # instructions that enter the kernel without an exception
    root: Register | None = None
    registers: tuple[str, ...] = ()  # that stand in one match with their block

    @property
    def blocks(self) -> bool:
        """Whether whole blocks are logged."""
        return "listing" in self.line.groupindex

    def interrupt(self, asynchronous: bytes | None, cause: int) -> bool:
        """Whether a trap was none of the last step's doing."""
        return asynchronous == b"1" or cause in self.interrupts


_BLOCK = (
    rb"^Trace (?P<cpu>\d+): \S+ "
    rb"\[[0-9a-f]+/(?P<pc>[0-9a-f]+)/(?P<flags>[0-9a-f]+)/(?P<translation>[0-9a-f]+)\]"
)
_STOPPED = rb"|^(?P<stopped>Stopped) execution of TB chain before "
_EXECUTED = rb"(?P<block>" + _BLOCK + rb")" + _STOPPED
# The registers that matter stand on known lines of those behind a block: one search finds it all,
# where one by one takes three times as long.
_X86_64_REGISTERS = (
    rb".*\nRAX=.*\nRSI=\S+ RDI=\S+ RBP=\S+ RSP=(?P<stack>[0-9a-f]+)"
    rb"(?:\n.*){8,20}?\nCR0=\S+ CR2=\S+ CR3=(?P<space>[0-9a-f]+)"
)
RISCV64 = Dialect(
    re.compile(
        _EXECUTED + rb"|^ satp +(?P<space>[0-9a-f]+)"
        rb"|^riscv_cpu_do_interrupt: hart:(?P<hart>\d+), async:(?P<asynchronous>[01]), "
        rb"cause:(?P<cause>[0-9a-f]+)",
        re.MULTILINE,
    ),
    privileges=(0, 1, 1, 3),  # of the memory index: user, supervisor, the same with SUM, machine
    # Breakpoint and the environment calls; the others undo the instruction's count (target/riscv:
    # riscv_raise_exception() with a host address to restore from).
    counted=frozenset((3, 8, 9, 11)),
    hint_bytes=4,
)
X86_64 = Dialect(
    re.compile(
        rb"(?P<block>"
        + _BLOCK
        + _X86_64_REGISTERS
        + rb")"
        + _STOPPED
        + rb"|^ +\d+: v=(?P<cause>[0-9a-f]+) e=[0-9a-f]+ i=[01] cpl=\d IP=\w+:(?P<at>[0-9a-f]+)"
        rb"|^IN: .*\n(?P<listing>(?:0x[0-9a-f]+:.*\n)+)",
        re.MULTILINE,
    ),
    privileges=(1, 1, 1, 0),  # of the current privilege level
    counted=frozenset((1, 3)),
    hint_bytes=7,
    interrupts=range(0x20, 0x100),  # Intel SDM vol. 3, table 6-1: vectors below are exceptions
    unlogged=((0xFFFF, 0x050F),),  # syscall
    registers=("stack", "space"),
)
AARCH64 = Dialect(
    re.compile(
        _EXECUTED + rb"|^PSTATE=[0-9a-f]{8} \S+ (?:N?S )?EL(?P<level>[0-3])[th]"
        rb"|^Taking exception (?P<cause>\d+) \[",
        re.MULTILINE,
    ),
    privileges=(0, 1, 1, 3),  # of the exception level; a kernel may run at 2
    # QEMU's own numbers, of one digit where Linux at level 1 meets them: undefined, SVC,
    # breakpoint.
    counted=frozenset((1, 2, 7)),
    hint_bytes=4,
    # IRQ and FIQ; and an instruction that cannot be fetched is not in it
    interrupts=frozenset((3, 5, 6)),
    # Arm ARM D13.2.136: TTBR0_EL1 is s3_0_c2_c0_0; above the root stands an identifier, below it a
    # hint.
    root=Register("TTBR0_EL1", 0xFFFF_FFFF_FFFE, (0xFFFFFFE0, 0xD5182000)),
)
# by the instruction set's name
DIALECTS = {"riscv64": RISCV64, "x86_64": X86_64, "aarch64": AARCH64}
_ASID = range(44, 60)  # bits of satp
_NOTED = frozenset(("level", "space"))  # lines of registers, by the group that they end in


@dataclass
class Spaces:
    """Numbers address spaces: by identifier, and where that is 0 by the order in which their roots
    appeared.

    The root of another architecture has no bits where satp has its identifier.
    """

    roots: list[int] = field(default_factory=list)

    def number(self, root: int) -> int:
        identifier = root >> _ASID.start & (1 << len(_ASID)) - 1
        if identifier:
            return identifier
        if root not in self.roots:
            self.roots.append(root)
        return self.roots.index(root)


@dataclass(frozen=True)
class Tracing:
    """What a traced boot yields: the console, the steps of each wanted window by its number, and,
    where no image of the kernel was given, the instructions by address. Of pages with hints some
    are missing: QEMU has met them before.
    """

    console: bytes
    windows: dict[int, Steps]
    code: dict[int, Code]


def trace(
    command: Sequence[str],
    places: AddressMap,
    hints: tuple[int, int],
    wanted: Sequence[int],
    bound_s: float,
    dialect: Dialect = RISCV64,
    circles: Mapping[int, str] | None = None,
    turns: Mapping[int, float] | None = None,
) -> Tracing:
    """Boots `command` and returns what it executed in each window in `wanted`, ascending. Where
    `circles` names what each is of, one that no interrupt touched is enough of its circle; it has
    to hold a turn as long as `turns` says of that window, in steps of the clock, if it says so.

    `hints` are the encodings that open and close a window. Raises MeasurementFailed if the
    machine ends early, a window's log grows too large, or `bound_s` runs out.
    """
    opens, closes = (places.addresses(hint) for hint in hints)
    behind = [pc + dialect.hint_bytes for pc in closes]
    spaces, found = Spaces(), {}
    blocks = Blocks()
    left = {number: (circles or {}).get(number, number) for number in wanted}
    what = WINDOW_LOG if places.kernel and not dialect.blocks else WINDOW_LOG + _UNKNOWN_CODE
    with Debugger(command, bound_s) as machine:
        for number in range(wanted[-1] + 1 if wanted else 0):
            machine.run_to(opens)
            if number in left:
                root = machine.register(dialect.root.name) if dialect.root else 0
                machine.log(what, dialect.blocks)
            machine.run_to(behind)
            if number in left:
                machine.log("none")
                log = machine.logged()
                if not dialect.blocks:
                    blocks.code |= logged_code(log)
                listed = _parsed(log, spaces, dialect, blocks)
                if dialect.root:
                    _follow(dialect.root, root, listed, log, blocks.code, spaces)
                found[number] = _steps(_opened(listed, opens), places)
                done = left[number]
                quiet = not np.any(found[number]["flags"] & INTERRUPTED)
                if quiet and holds_turn(found[number], (turns or {}).get(number)):
                    left = {other: name for other, name in left.items() if name != done}
        return Tracing(machine.finish(), found, blocks.code)


def holds_turn(steps: Steps, length: float | None) -> bool:
    """Whether a program comes back to an instruction after so many steps of the clock; of no known
    length every window does.
    """
    if length is None:
        return True
    program = steps[steps["privilege"] == USER]
    program = program[np.argsort(program["pc"], kind="stable")]
    again = program["pc"][1:] == program["pc"][:-1]
    return bool(np.any(again & (np.diff(program["clock"]) == length)))


# A step of the log: `count` is how far it moved the clock, `at` where in the log its registers
# follow, `stack` its pointer, of the architecture whose calls push.
_LOGGED = np.dtype(
    [
        ("pc", "u8"),
        ("privilege", "u1"),
        ("flags", "u1"),
        ("space", "u2"),
        ("count", "u1"),
        ("at", "u8"),
        ("stack", "u8"),
    ]
)
_Logged = NDArray[np.void]  # of dtype _LOGGED


@dataclass(slots=True)
class _Run:
    """One block that ran, and the addresses of its steps, to all of which applies what the
    registers say.
    """

    block: BlockKey
    pcs: tuple[int, ...]
    privilege: int
    at: int
    interrupted: bool = False  # before its first step
    trapped: bool = False  # by its last step
    counted: bool = True  # which moved the clock nevertheless
    space: int = 0
    stack: int = 0

    def trap(self, at: bytes | None, counted: bool) -> bool:
        """Ends it with the step that trapped: the one at `at`, or the last if that returns behind
        itself. False if it is none of them: the next instruction could not be fetched.
        """
        pc = None if at is None else int(at, 16)
        if pc in self.pcs:
            self.pcs = self.pcs[: self.pcs.index(pc) + 1]
        elif pc is not None and not counted:
            return False
        self.trapped, self.counted = True, counted
        return True

    def undo_from(self, following: BlockKey) -> None:
        """Takes back what QEMU began, for it met a device, and does again in `following`."""
        if following.repeats(self.block) and not self.trapped and following.pc in self.pcs:
            self.pcs = self.pcs[: self.pcs.index(following.pc)]


def logged_steps(log: bytes, places: AddressMap, spaces: Spaces, begins: Sequence[int]) -> Steps:
    """The steps of a RISC-V machine's log from the first one at `begins`."""
    return _steps(_opened(_parsed(log, spaces, RISCV64), begins), places)


def _opened(listed: _Logged, opens: Sequence[int]) -> _Logged:
    """Without what an interrupt that was pending at the stop ran before the hint."""
    return listed[int(np.argmax(np.isin(listed["pc"], np.array(opens, np.uint64)))) :]


def _steps(listed: _Logged, places: AddressMap) -> Steps:
    """The log of a window as steps; the clock counts from its first instruction."""
    steps = np.zeros(len(listed), STEP)
    for name in ("pc", "privilege", "flags", "space", "stack"):
        steps[name] = listed[name]
    steps["causes"][:, ISSUE] = listed["count"]
    steps["clock"] = listed["count"].cumsum(dtype=np.uint64)
    for user in (False, True):
        here = (steps["privilege"] == USER) == user
        pcs, which = np.unique(steps["pc"][here], return_inverse=True)
        encodings = [places.at(pc, user).insn for pc in pcs.tolist()]
        steps["insn"][here] = np.array(encodings, np.uint32)[which]
    return steps


def _follow(
    register: Register,
    root: int,
    listed: _Logged,
    log: bytes,
    code: Mapping[int, Code],
    spaces: Spaces,
) -> None:
    """Numbers the address space of every step: that of `root`, until an instruction writes
    another.
    """
    mask, value = register.writes
    found = []
    for pc, privilege, at in listed[["pc", "privilege", "at"]].tolist():
        found.append(spaces.number(root & register.bits))
        known = code.get(pc)
        if known and privilege != USER and known.insn & mask == value:
            root = _general(known.insn & 31, log, at)
    listed["space"] = found


def _general(number: int, log: bytes, at: int) -> int:
    """What a general register of aarch64 holds; number 31 is zero."""
    found = re.compile(rb"X%02d=([0-9a-f]{16})" % number).search(log, at) if number < 31 else None
    return int(found[1], 16) if found else 0


def _parsed(log: bytes, spaces: Spaces, dialect: Dialect, blocks: Blocks | None = None) -> _Logged:
    """The steps of a log, in order. `blocks` is what is translated already, and learns more.

    Raises MeasurementFailed for a block whose registers do not stand where they are expected.
    """
    blocks = Blocks() if blocks is None else blocks
    runs: list[_Run] = []
    hart, ours, interrupted = b"", False, False
    read = 0
    for match in dialect.line.finditer(log):
        kind = match.lastgroup or ""
        if kind == "block":
            read += 1
            cpu, *words = match.group("cpu", "pc", "flags", "translation")
            hart = hart or cpu
            ours = cpu == hart
            if ours:
                run = _run(words, match.end(), dialect, blocks)
                if runs:
                    runs[-1].undo_from(run.block)
                run.interrupted, interrupted = interrupted, False
                runs.append(run)
                for name in dialect.registers:
                    _note(run, name, match[name], spaces, dialect)
        elif kind == "listing":
            blocks.translated(match[kind])
        elif kind in _NOTED:
            if ours and runs:
                _note(runs[-1], kind, match[kind], spaces, dialect)
        elif kind == "stopped":
            if ours and runs:
                runs.pop()  # an interrupt came between the line and the block
        elif (fields := match.groupdict()).get("hart", hart) == hart:
            interrupted |= _between_steps(fields, runs, dialect)
    if read != log.startswith(b"Trace ") + log.count(b"\nTrace "):
        raise MeasurementFailed(
            "this QEMU does not log a block's registers where 7.2 does; use QEMU 7.2 to explain"
        )
    runs = [run for run in runs if run.pcs]
    stacks = _pointers(runs, blocks) if dialect.blocks else [run.stack for run in runs]
    return _flattened(runs, stacks)


def _run(words: Sequence[bytes], at: int, dialect: Dialect, blocks: Blocks) -> _Run:
    """The block that the words of its line name; `at` is where its registers follow in the log."""
    block = BlockKey(*(int(word, 16) for word in words))
    pcs = blocks.of(block) if dialect.blocks else (block.pc,)
    return _Run(block, pcs, dialect.privileges[block.flags & 3], at)


def _between_steps(
    fields: Mapping[str, bytes | None], runs: Sequence[_Run], dialect: Dialect
) -> bool:
    """Whether a trap came between two steps; else it ended the last one, which it marks."""
    cause = int(fields["cause"] or b"0", 16)
    if dialect.interrupt(fields.get("asynchronous"), cause):
        return True
    return bool(runs) and not runs[-1].trap(fields.get("at"), cause in dialect.counted)


def _note(run: _Run, name: str, said: bytes, spaces: Spaces, dialect: Dialect) -> None:
    """Takes what a register says of a block."""
    if name == "level":
        run.privilege = dialect.privileges[int(said)]
    elif name == "space":
        run.space = spaces.number(int(said, 16))
    else:
        run.stack = int(said, 16)


def _flattened(runs: Sequence[_Run], stacks: Sequence[int]) -> _Logged:
    """The steps of all blocks in a row, with the stack pointer that each found."""
    lengths = np.array([len(run.pcs) for run in runs], np.intp)
    last = lengths.cumsum() - 1
    steps = np.zeros(int(lengths.sum()), _LOGGED)
    steps["pc"] = np.fromiter(chain.from_iterable(run.pcs for run in runs), np.uint64)
    steps["stack"] = stacks
    for name in ("privilege", "space", "at"):
        steps[name] = np.repeat([getattr(run, name) for run in runs], lengths)
    steps["count"] = 1
    steps["count"][last] = [run.counted for run in runs]
    steps["flags"][last] = [TRAPPED * run.trapped for run in runs]
    steps["flags"][last - lengths + 1] |= np.array(
        [INTERRUPTED * run.interrupted for run in runs], np.uint8
    )
    return steps


def _pointers(runs: Sequence[_Run], blocks: Blocks) -> list[int]:
    """The stack pointer that each step found."""
    found: list[int] = []
    for run, following in zip_longest(runs, runs[1:]):
        straight = following and not (run.trapped or following.interrupted)
        behind = following.stack if straight else None
        found += blocks.pointers(run.pcs, run.stack, behind)
    return found
