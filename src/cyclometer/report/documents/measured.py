# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of latencies: `run`, `show` and `export --json`."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from cyclometer.record.schema import Clock, Contract
from cyclometer.report.documents.members import Interval, Latency, Options, Problem, Share


class Row(Struct):
    """One circle in one configuration."""

    key: str
    configuration: Options
    params: dict[str, str]
    method: str
    unit: str
    estimate: Latency
    interval: Interval
    scope: Annotated[str | None, Meta(description="of what the interval speaks")]
    ns: Annotated[float | None, Meta(description="the estimate in ns, if the rate is known")]
    base: Latency
    overall: Latency
    overall_interval: Interval
    fixed_cost: Annotated[float | None, Meta(description="per test, already subtracted")]
    line_holds: bool | None
    first_pass: Latency
    spread: Share
    runs: int
    tests: Annotated[int, Meta(description="that count")]
    set_aside: Annotated[dict[str, int], Meta(description="excluded tests by cause")]
    steadiness: str
    settled: Annotated[bool, Meta(description="on an exact clock, a count of each size repeats")]
    valid: bool
    reason: Annotated[str, Meta(description="why the row is not valid; empty if it is")]
    unproven: Annotated[list[str], Meta(description="counters that this machine does not have")]
    quantiles: Annotated[dict[str, float] | None, Meta(description="of single turns")]


class Estimates(Struct):
    """`run` and `show`: every circle of a bundle."""

    bundle: str
    target: str
    clock: Clock | None
    rows: list[Row]
    problems: list[Problem]


class ExportedRegime(Struct):
    """What the tests of one regime of a run say."""

    estimate: float
    interval: Interval
    tests: int
    share: Share


class ExportedRun(Struct):
    """One run of a circle."""

    run: int
    latency: ExportedRegime
    base: ExportedRegime
    overall: ExportedRegime


class ExportedRow(Row):
    """A row with its contract and its runs."""

    name: Annotated[str, Meta(description="unlike those of all other rows")]
    clock: Clock
    better: Annotated[str, Meta(description="lower or higher")]
    contract: Contract
    per_run: list[ExportedRun]


class Exported(Struct):
    """`export --json`: a bundle with its environment, contracts and runs."""

    bundle: str
    title: str
    target: str
    created: str
    tool: str
    environment: dict[str, Any]
    rows: list[ExportedRow]
    problems: list[Problem]


class Mode(Struct):
    latency: Latency
    share: float


class RunLatencies(Struct):
    run: int
    latency: Latency
    base: float
    share: float
    overall: float


class DetailedRow(Row):
    """A row with everything that one circle's page says."""

    contract: Contract
    fixed_cost_interval: Interval
    quantile_intervals: dict[str, tuple[float, float]]
    modes: list[Mode]
    clock_offset: Annotated[
        float | None, Meta(description="at most, of the two CPUs at the interval's ends")
    ]
    idle_states: Annotated[dict[str, int], Meta(description="entered by the peers' CPU")]
    sigma_turn: float | None
    sigma_reason: str
    run_estimates: list[RunLatencies]


class CircleDetails(Struct):
    """`show --circle`: one circle in each of its configurations."""

    rows: list[DetailedRow]
