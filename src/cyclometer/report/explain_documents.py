# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of `explain` and of `compare --why`: a type for each kind, as in report.documents."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

ByCause = Annotated[dict[str, float], Meta(description="in the unit of `unit`, by cause")]
Total = Annotated[int, Meta(description="of all explained turns together, in the unit of `unit`")]
PerTurn = Annotated[float, Meta(description="in the unit of `unit`")]
SampledShare = Annotated[float, Meta(description="of the samples: 0.01 is 1 %")]


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


class SampledPart(Struct):
    """The samples in a level or function."""

    name: str
    level: str
    samples: int
    share: SampledShare
    interval: Annotated[tuple[float, float], Meta(description="of the share, at 95 %")]
    value: PerTurn


class SampledStack(Struct):
    """Functions from the outermost to the sampled one."""

    frames: list[str]
    level: str
    samples: int


class Sampling(Struct):
    """What was sampled, and how."""

    circle: str
    title: str
    target: str
    configuration: dict[str, str]
    unit: str
    latency: Annotated[float, Meta(description="per turn, while sampled")]
    event: str
    precise: Annotated[int, Meta(description="perf's precise_ip")]
    period: Annotated[int, Meta(description="events from sample to sample")]
    turns: int
    window_s: Annotated[float, Meta(description="from the first to the last of the turns, seconds")]
    samples: int
    expected: Annotated[
        float | None, Meta(description="samples, had the CPU run the circle all the time")
    ]
    outside: Annotated[int, Meta(description="samples of other threads")]
    lost: int
    kernel_seen: bool


class SampledCircle(Sampling, kw_only=True):
    """`explain` of a circle of the running Linux: its samples by function."""

    levels: list[SampledPart]
    inclusive: list[SampledPart]
    functions: list[SampledPart]
    stacks: list[SampledStack]
    exact: Annotated[
        ExplainedTurn | None,
        Meta(description="what the same kernel executes under QEMU; null if it was not traced"),
    ] = None


class SampledChange(Struct):
    """A function on both sides."""

    name: str
    before: PerTurn
    after: PerTurn
    interval: Annotated[tuple[float, float], Meta(description="of the change, at 95 %")]


class SampledDifference(Struct):
    """`explain --diff` of two sampled circles."""

    before: Sampling
    after: Sampling
    changes: list[SampledChange]


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


class CountedCircle(Struct):
    """The processor's counters of one circle, per turn."""

    key: str
    before: dict[str, float]
    after: dict[str, float]
    sentence: str


class ChangedFootprint(Struct):
    """The code that a turn of one circle touches."""

    circle: str
    before: CodeFootprint
    after: CodeFootprint
    only_layout: Annotated[
        bool, Meta(description="as many instructions from other lines, pages or branches")
    ]


class Counted(Struct):
    """`compare --why`: the processor's counters of two sides, and the code that turns touch."""

    circles: list[CountedCircle]
    footprints: Annotated[
        list[ChangedFootprint], Meta(description="of circles that both bundles have a trace of")
    ]
    untraced: Annotated[
        list[str], Meta(description="circles of which not both bundles have a trace")
    ]
