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
from itertools import zip_longest

import numpy as np

from cyclometer.record.address_map import AddressMap
from cyclometer.record.instructions import Pattern
from cyclometer.record.trace import INTERRUPTED, ISSUE, STEP, TRAPPED, USER, Steps
from cyclometer.targets.qemu.blocks import BlockKey, Blocks, Code, pointers
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
    writes: (
        Pattern  # the instruction that sets it; of which general register, its lowest five bits say
    )


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
    interrupts: Container[
        int
    ] = ()  # causes that are none of the last step's doing, where the log does not say so
    unlogged: tuple[Pattern, ...] = ()  # instructions that enter the kernel without an exception
    root: Register | None = None

    @property
    def blocks(self) -> bool:
        """Whether whole blocks are logged."""
        return "listing" in self.line.groupindex

    def interrupt(self, asynchronous: bytes | None, cause: int) -> bool:
        """Whether a trap was none of the last step's doing."""
        return asynchronous == b"1" or cause in self.interrupts


_EXECUTED = (
    rb"^Trace (?P<cpu>\d+): \S+ "
    rb"\[[0-9a-f]+/(?P<pc>[0-9a-f]+)/(?P<flags>[0-9a-f]+)/(?P<block>[0-9a-f]+)\]"
    rb"|^(?P<stopped>Stopped) execution of TB chain before "
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
        _EXECUTED + rb"|^CR0=\S+ CR2=\S+ CR3=(?P<space>[0-9a-f]+)"
        rb"|^RSI=\S+ RDI=\S+ RBP=\S+ RSP=(?P<stack>[0-9a-f]+)"
        rb"|^ +\d+: v=(?P<cause>[0-9a-f]+) e=[0-9a-f]+ i=[01] cpl=\d IP=\w+:(?P<at>[0-9a-f]+)"
        rb"|^IN: .*\n(?P<listing>(?:0x[0-9a-f]+:.*\n)+)",
        re.MULTILINE,
    ),
    privileges=(1, 1, 1, 0),  # of the current privilege level
    counted=frozenset((1, 3)),
    hint_bytes=7,
    interrupts=range(0x20, 0x100),  # Intel SDM vol. 3, table 6-1: vectors below are exceptions
    unlogged=((0xFFFF, 0x050F),),  # syscall
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
_NOTED = frozenset(("level", "space", "stack"))  # lines of registers, by the group that they end in


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
) -> Tracing:
    """Boots `command` and returns what it executed in each window in `wanted`, ascending. Where
    `circles` names what each is of, one that no interrupt touched is enough of its circle.

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
                blocks.code |= logged_code(log)
                listed = _parsed(log, spaces, dialect, blocks)
                if dialect.root:
                    _follow(dialect.root, root, listed, log, blocks.code, spaces)
                found[number] = _steps(_opened(listed, opens), places)
                if not np.any(found[number]["flags"] & INTERRUPTED):
                    done = left[number]
                    left = {other: name for other, name in left.items() if name != done}
        return Tracing(machine.finish(), found, blocks.code)


@dataclass(slots=True)
class _Logged:
    """One step of the log; `count` is how far it moved the clock."""

    pc: int
    privilege: int
    flags: int = 0
    space: int = 0
    count: int = 1
    at: int = 0  # in the log, where its registers follow
    stack: int = 0  # its pointer, of the architecture whose calls push


@dataclass(slots=True)
class _Run:
    """One block that ran, and its steps."""

    block: BlockKey
    steps: list[_Logged]

    def note(self, name: str, value: int) -> None:
        """What the registers say holds for every step of it."""
        for step in self.steps:
            setattr(step, name, value)

    def trap(self, at: bytes | None, counted: bool) -> bool:
        """Ends it with the step that trapped: the one at `at`, or the last if that returns behind
        itself. False if it is none of them: the next instruction could not be fetched.
        """
        pcs = [step.pc for step in self.steps]
        if at is not None and int(at, 16) in pcs:
            del self.steps[pcs.index(int(at, 16)) + 1 :]
        elif at is not None and not counted:
            return False
        self.steps[-1].flags |= TRAPPED
        self.steps[-1].count = int(counted)
        return True

    def undo_from(self, following: BlockKey) -> None:
        """Takes back what QEMU began, for it met a device, and does again in `following`."""
        pcs = [step.pc for step in self.steps]
        if (
            following.pc in pcs
            and following.repeats(self.block)
            and not self.steps[-1].flags & TRAPPED
        ):
            del self.steps[pcs.index(following.pc) :]


def logged_steps(log: bytes, places: AddressMap, spaces: Spaces, begins: Sequence[int]) -> Steps:
    """The steps of a RISC-V machine's log from the first one at `begins`."""
    return _steps(_opened(_parsed(log, spaces, RISCV64), begins), places)


def _opened(listed: Sequence[_Logged], opens: Sequence[int]) -> Sequence[_Logged]:
    """Without what an interrupt that was pending at the stop ran before the hint."""
    return listed[next((i for i, step in enumerate(listed) if step.pc in opens), 0) :]


def _steps(listed: Sequence[_Logged], places: AddressMap) -> Steps:
    """The log of a window as steps; the clock counts from its first instruction."""
    steps = np.zeros(len(listed), STEP)
    for name in ("pc", "privilege", "flags", "space", "stack"):
        steps[name] = [getattr(step, name) for step in listed]
    steps["causes"][:, ISSUE] = [step.count for step in listed]
    steps["clock"] = steps["causes"][:, ISSUE].cumsum()
    steps["insn"] = [places.at(step.pc, step.privilege == USER).insn for step in listed]
    return steps


def _follow(
    register: Register,
    root: int,
    listed: Sequence[_Logged],
    log: bytes,
    code: Mapping[int, Code],
    spaces: Spaces,
) -> None:
    """Numbers the address space of every step: that of `root`, until an instruction writes
    another.
    """
    mask, value = register.writes
    for step in listed:
        step.space = spaces.number(root & register.bits)
        known = code.get(step.pc)
        if known and step.privilege != USER and known.insn & mask == value:
            root = _general(known.insn & 31, log, step.at)


def _general(number: int, log: bytes, at: int) -> int:
    """What a general register of aarch64 holds; number 31 is zero."""
    found = re.compile(rb"X%02d=([0-9a-f]{16})" % number).search(log, at) if number < 31 else None
    return int(found[1], 16) if found else 0


def _parsed(
    log: bytes, spaces: Spaces, dialect: Dialect, blocks: Blocks | None = None
) -> list[_Logged]:
    """The steps of a log, in order. `blocks` is what is translated already, and learns more."""
    blocks = Blocks() if blocks is None else blocks
    runs: list[_Run] = []
    hart, ours, pending = b"", False, 0
    for match in dialect.line.finditer(log):
        kind = match.lastgroup or ""
        if kind == "block":
            cpu = match["cpu"]
            hart = hart or cpu
            ours = cpu == hart
            if ours:
                block = BlockKey(
                    int(match["pc"], 16), int(match["flags"], 16), int(match[kind], 16)
                )
                if runs:
                    runs[-1].undo_from(block)
                pcs = blocks.of(block) if dialect.blocks else (block.pc,)
                privilege = dialect.privileges[block.flags & 3]
                at = match.end()
                steps = [_Logged(pc, privilege, at=at) for pc in pcs]
                steps[0].flags, pending = pending, 0
                runs.append(_Run(block, steps))
        elif kind == "listing":
            blocks.translated(match[kind])
        elif kind in _NOTED:
            if ours and runs:
                runs[-1].note(*_noted(kind, match[kind], spaces, dialect))
        elif kind == "stopped":
            if ours and runs:
                runs.pop()  # an interrupt came between the line and the block
        elif (fields := match.groupdict()).get("hart", hart) == hart and _between_steps(
            fields, runs, dialect
        ):
            pending = INTERRUPTED
    if dialect.blocks:
        _follow_pointers(runs, blocks.code)
    return [step for run in runs for step in run.steps]


def _between_steps(
    fields: Mapping[str, bytes | None], runs: Sequence[_Run], dialect: Dialect
) -> bool:
    """Whether a trap came between two steps; else it ended the last one, which it marks."""
    cause = int(fields["cause"] or b"0", 16)
    if dialect.interrupt(fields.get("asynchronous"), cause):
        return True
    return bool(runs) and not runs[-1].trap(fields.get("at"), cause in dialect.counted)


def _noted(kind: str, said: bytes, spaces: Spaces, dialect: Dialect) -> tuple[str, int]:
    """What a line of registers says: a field of a step, and its value."""
    if kind == "level":
        return "privilege", dialect.privileges[int(said)]
    if kind == "space":
        return "space", spaces.number(int(said, 16))
    return "stack", int(said, 16)


def _follow_pointers(runs: Sequence[_Run], code: Mapping[int, Code]) -> None:
    """Gives each step of a block the stack pointer that it found."""
    ran = [run.steps for run in runs if run.steps]
    for steps, following in zip_longest(ran, ran[1:]):
        straight = following and not (steps[-1].flags & TRAPPED or following[0].flags & INTERRUPTED)
        behind = following[0].stack if straight else None
        found = pointers([step.pc for step in steps], code, steps[0].stack, behind)
        for step, pointer in zip(steps, found, strict=True):
            step.stack = pointer
