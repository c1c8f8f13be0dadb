# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of what traces show: `explain`, what differs between turns, and `prove-move`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

ByCause = Annotated[dict[str, float], Meta(description="in the unit of `unit`, by cause")]
Total = Annotated[int, Meta(description="of all explained turns together, in the unit of `unit`")]
PerTurn = Annotated[float, Meta(description="in the unit of `unit`")]


class CodeFootprint(Struct):
    """How much code the explained turns touch."""

    instructions: Annotated[float, Meta(description="retired, per turn")]
    lines_64_bytes: int
    fetches_16_bytes: Annotated[int, Meta(description="aligned windows, as which cores fetch")]
    pages_4_kib: int
    branches: Annotated[float, Meta(description="taken, per turn")]
    functions: Annotated[int, Meta(description="entered, each once")]
    functions_that_begin_a_line: int


class ExplainedPart(Struct):
    """What one part of the explained turns cost."""

    total: Total
    instructions: Annotated[int, Meta(description="retired in all explained turns")]
    causes: ByCause


class NamedPart(ExplainedPart, kw_only=True):
    """A phase, mode, system call or function."""

    name: str


class SourceLine(ExplainedPart, kw_only=True):
    """A source line; `file` is empty if it is not known."""

    function: str
    file: str
    line: int


class ExplainedInstruction(SourceLine, kw_only=True):
    """An instruction of a program or of the kernel."""

    user: bool
    pc: int
    text: Annotated[str, Meta(description="its disassembly")]


class CallStack(ExplainedPart, kw_only=True):
    """Functions from the outermost to the one that ran."""

    stack: list[str]


class HardwareFloor(Struct):
    """An operation of the hardware that a turn cannot do without."""

    name: str
    count: Annotated[float, Meta(description="per turn")]
    each: float
    total: PerTurn


class HartStretch(Struct):
    """Consecutive cycles of a hart in one state and function, on the clock of the turns."""

    start: int
    stop: int
    state: Annotated[str, Meta(description="a level, or why the hart waited for another")]
    function: str


class ExplainedHart(Struct):
    """What one of several harts did in the explained turns."""

    hart: int
    waited: Annotated[dict[str, int], Meta(description="cycles for another hart, by state")]
    stretches: list[HartStretch]


class ExplainedTurn(Struct):
    """One or more turns in all views; each list sums to the total."""

    circle: str
    title: str
    role: Annotated[str, Meta(description="steady, cold, or span: from one address to another")]
    target: str
    configuration: dict[str, str]
    unit: str
    turns: Annotated[int, Meta(description="explained together")]
    test_turns: Annotated[int, Meta(description="of the test that they are of")]
    total: Total
    latency: Annotated[float, Meta(description="of this boot, per turn")]
    measured: Annotated[float | None, Meta(description="what `run` measured, if it is known")]
    exact: Annotated[bool, Meta(description="as long as the latency of the boot's records")]
    steady: Annotated[bool, Meta(description="exact, or turns repeat to the step of the clock")]
    in_sequence: Annotated[bool, Meta(description="whether events came as the contract says")]
    footprint: CodeFootprint
    hart: Annotated[int, Meta(description="whose turn it is; 0 is the client's")]
    harts: Annotated[list[ExplainedHart], Meta(description="empty if there is one alone")]
    causes: ByCause
    held_up: Annotated[dict[str, int], Meta(description="instructions that took it, by cause")]
    phases: list[NamedPart]
    modes: list[NamedPart]
    system_calls: list[NamedPart]
    subsystems: list[NamedPart]
    inclusive: Annotated[list[NamedPart], Meta(description="functions with all they call")]
    functions: list[NamedPart]
    lines: list[SourceLine]
    instructions: list[ExplainedInstruction]
    stacks: list[CallStack]
    floor: Annotated[list[HardwareFloor], Meta(description="empty if it was not measured")]


class ExplainedCircle(Struct):
    """`explain`: one turn in all views, and the cold one if there is one."""

    steady: ExplainedTurn
    cold: ExplainedTurn | None = None


class ExplainedSide(Struct):
    """A side of a difference in short."""

    target: str
    configuration: dict[str, str]
    total: PerTurn
    footprint: CodeFootprint


class ChangedPart(Struct):
    """A part of a turn on both sides."""

    name: str
    before: PerTurn
    after: PerTurn
    change: PerTurn
    causes: ByCause


class ExplainedDifference(Struct):
    """`explain --diff`: what changes in a turn; each list sums to the change."""

    circle: str
    title: str
    unit: str
    before: ExplainedSide
    after: ExplainedSide
    change: PerTurn
    only_layout: Annotated[
        bool, Meta(description="as many instructions from other lines, pages or branches")
    ]
    functions: list[ChangedPart]
    phases: list[ChangedPart]
    system_calls: list[ChangedPart]
    subsystems: list[ChangedPart]
    modes: list[ChangedPart]
    causes: list[ChangedPart]


class ExplainedTail(ExplainedDifference, kw_only=True):
    """`explain --tail`: the turn that differs from the common one, and how often."""

    turns_each: Annotated[int, Meta(description="turns that each of `lengths` spans")]
    lengths: list[int]
    common: int
    differing: Annotated[list[int], Meta(description="places in `lengths`")]
    period: Annotated[int | None, Meta(description="in turns; null if there is none")]


class ExecutedPath(Struct):
    """Windows of the same instructions in the same order."""

    first: Annotated[int, Meta(description="place of the first such window")]
    instructions: int
    interrupted: bool
    lengths: list[int]
    leaves: Annotated[str, Meta(description="where it leaves the first path")]
    functions: Annotated[
        dict[str, int], Meta(description="instructions more than in the first path")
    ]


class ExecutedPaths(Struct):
    """`explain --every`: what ran between two addresses of an image, by path."""

    target: str
    configuration: dict[str, str]
    unit: str
    start: str = field(name="from")
    stop: Annotated[str | None, Meta(description="null for the return")] = field(name="to")
    skipped: int
    ended: str
    paths: list[ExecutedPath]


class SetApart(Struct):
    """Steps of the window on each machine; `equal`: from its beginning to the first difference."""

    qemu: int
    rtl: int
    equal: int


class MoveProof(Struct):
    """`prove-move`: one test of a circle on QEMU and on the RTL, pc by pc."""

    circle: str
    turns: int
    steps: SetApart
    identical: bool
    differing: Annotated[dict[str, int], Meta(description="function -> steps more on the RTL")]
    unexplained: Annotated[dict[str, int], Meta(description="those of no known reason")]
    rest_equal: Annotated[bool, Meta(description="all other functions: the same pc at every step")]
