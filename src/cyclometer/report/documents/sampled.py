# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of what this Linux shows, samples by function; and of `compare --why`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from cyclometer.report.documents.explained import CodeFootprint, ExplainedTurn, PerTurn

SampledShare = Annotated[float, Meta(description="of the samples: 0.01 is 1 %")]


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
