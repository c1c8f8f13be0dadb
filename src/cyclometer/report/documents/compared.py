# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of sides set against each other: `compare`, `gate`, `ab`, `matrix` and `aa`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

from cyclometer.report.documents.members import Difference, Interval, Latency, Problem, Share


class ComparedRow(Struct):
    """One circle before and after."""

    key: str
    on: Annotated[str, Meta(description="latency, base, overall, mean, p99 or max")]
    before: Latency
    after: Latency
    unit: str
    change: Annotated[float | None, Meta(description="(after - before) / before")]
    interval: Interval
    verdict: Annotated[
        str, Meta(description="exact counts of instructions: changed, over margin or equivalent")
    ]
    word: Annotated[str, Meta(description="what people read; of exact counts +14 instructions")]
    reason: str
    title: str
    configuration: Annotated[list[dict[str, str]], Meta(description="before, after")]
    method: str
    better: Annotated[str, Meta(description="lower or higher")]
    runs: Annotated[list[int], Meta(description="before, after")]
    scope: str
    p: float | None
    minimum_detectable: Share
    more: Annotated[int | None, Meta(description="more runs or sessions per side that decide")]
    maximum: Annotated[
        list[float | None], Meta(description="before, after; as a foreign tool printed them")
    ]
    overall_change: Share
    disagreement: str
    assumption: str


class ComparisonSummary(Struct):
    sentence: str
    sessions: Annotated[list[str], Meta(description="about the sessions of both sides")]
    counts: Annotated[dict[str, int], Meta(description="rows by verdict")]
    gate_exit_code: int
    margin: float
    margin_amounts: Annotated[dict[str, float], Meta(description="by the unit of the clock")]
    fdr: float
    layout_floor: float | None
    differences: list[Difference]
    problems: dict[str, list[Problem]]


class Comparison(Struct):
    """`compare`, `gate` and `ab`: what changed from before to after."""

    rows: list[ComparedRow]
    summary: ComparisonSummary


class ExpectedRow(Struct):
    """`verdict`: same, changed, invalid, gone or new."""

    table: str
    key: str
    verdict: str
    expected: Latency
    measured: Latency
    unit: str
    change: Share
    reason: str
    functions: Annotated[list[str], Meta(description="that carry the change, the largest first")]


class Expected(Struct):
    """`gate --expect`: exact counts against a file."""

    rows: list[ExpectedRow]
    summary: str


class Cell(Struct):
    value: Latency
    valid: bool
    reason: str
    change: Share
    verdict: str | None


class MatrixRow(Struct):
    key: str
    unit: str
    cells: list[Cell | None]


class Ratio(Struct):
    ratio: float | None
    rows: int


class ClassMeans(Struct):
    class_: str = field(name="class")
    columns: list[Ratio]


class Matrix(Struct):
    """`matrix`: several configurations beside each other, each against the first."""

    columns: list[str]
    rows: list[MatrixRow]
    means: list[ClassMeans]
    differences: dict[str, list[Difference]]
    summary: str


class AlarmRate(Struct):
    method: str
    alarms: int
    comparisons: int
    rate: Share
    interval: Annotated[tuple[float, float] | None, Meta(description="low and high")]
    nominal: float | None


class FalseAlarms(Struct):
    """`aa`: how often equal measurements are called different."""

    methods: list[AlarmRate]
    summary: str
