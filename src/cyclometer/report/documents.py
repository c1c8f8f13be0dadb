# SPDX-License-Identifier: BSD-2-Clause
"""The JSON that commands print: one schema a kind, and the one function that writes it.

Every document is an object whose `schema` is `cyclometer/KIND/VERSION`. A new member keeps the
version; one that goes away, or means something else, raises it. A number that does not exist is
null, for JSON has neither infinity nor NaN.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from cyclometer.bundle import model
from cyclometer.estimate.interval import Interval as MeasuredInterval
from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.record.schema import Clock, Contract
from cyclometer.report import explain_documents

Interval = Annotated[
    tuple[float | None, float | None] | None, Meta(description="low and high; null is open")
]
Latency = Annotated[float | None, Meta(description="per turn, in the unit of `unit`")]
Share = Annotated[float | None, Meta(description="a fraction: 0.01 is 1 %")]
Options = Annotated[dict[str, str], Meta(description="how what was measured was built and run")]


class Problem(Struct):
    """What went wrong in a measurement, and where."""

    kind: str
    where: str
    what: str


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


class Difference(Struct):
    """A fact of the environment that differs between two sides."""

    name: str
    before: Any
    after: Any


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
    class_: str = msgspec.field(name="class")
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


class Point(Struct):
    when: str
    bundle: str
    value: float | None


class ChangePoint(Struct):
    at: Annotated[int, Meta(description="index of the first changed point")]
    when: str
    before: float
    after: float
    change: float
    p: float | None
    changed: list[Difference]


class Series(Struct):
    key: str
    unit: str
    configuration: Options
    points: list[Point]
    changes: list[ChangePoint]
    missing: int


class History(Struct):
    """`history`: when circles changed in a store of bundles."""

    series: list[Series]
    summary: str


class NewestPoint(Struct):
    """The newest latency of a circle, and what the points before it say of it."""

    key: str
    unit: str
    configuration: dict[str, str]
    when: str
    value: float
    points: Annotated[int, Meta(description="before it, since the last change")]
    change: Annotated[float | None, Meta(description="of their mean; null: too few")]
    p: Annotated[float | None, Meta(description="adjusted; null on an exact clock")]
    verdict: Annotated[str, Meta(description="regressed, undecided, improved or expected")]


class NewestPoints(Struct):
    """`gate --history`: whether the newest points are what their past lets expect."""

    rows: list[NewestPoint]
    summary: str


class Target(Struct):
    name: str
    description: str
    missing: Annotated[str, Meta(description="what this machine lacks for it; empty: nothing")]


class Circle(Struct):
    key: str
    target: str
    contract: Contract


class Circles(Struct):
    """`list`: circles with their contracts, and targets."""

    circles: list[Circle]
    targets: list[Target]


class CheckResult(Struct):
    name: str
    state: Annotated[str, Meta(description="ok, warn, bad or unknown")]
    found: str
    cost: str
    change: str


class Machine(Struct):
    """`doctor`: what this machine does to measurements."""

    cpu: int
    findings: list[CheckResult]
    tuned: Annotated[dict[str, Any], Meta(description="path -> value before --tune")]
    environment: dict[str, Any]


class Setting(Struct):
    path: str
    was: str
    now: str
    refusal: str


class Variance(Struct):
    variance: Annotated[float, Meta(description="of a session's mean, on logarithms")]
    df: float


class Known(Struct):
    """What sessions that lay so far apart showed."""

    pairs: int
    rows: dict[str, Variance]
    restless: Variance | None
    others: Variance | None


class Calibration(Struct):
    """`doctor --calibrate`: how far sessions of this machine differ."""

    machine: dict[str, str]
    created: str
    gaps: Annotated[dict[str, Known], Meta(description="hour: of one boot; machine: further")]
    kept: str


class TargetCounts(Struct):
    versions: Annotated[dict[str, str], Meta(description="what decides counts: programs, sources")]
    rows: Annotated[dict[str, list[int]], Meta(description="circle and method -> every value")]
    missing: Annotated[str, Meta(description="why nothing was counted; empty where it was")]


class HostCounts(Struct):
    """`doctor --exact`: what the exact targets of a machine count."""

    targets: dict[str, TargetCounts]


class TargetAgreement(Struct):
    target: str
    rows: Annotated[int, Meta(description="that either host has")]
    differing: list[str]
    unlike: Annotated[dict[str, list[str]], Meta(description="name -> version here, and there")]
    missing: Annotated[str, Meta(description="why it was not compared; empty where it was")]


class Agreement(Struct):
    """`doctor --against`: how the exact targets of two hosts compare."""

    host: str
    targets: list[TargetAgreement]


class Settings(Struct):
    """`doctor --tune` and `--restore`: what was changed."""

    changes: list[Setting]


class LintRow(Struct):
    index: int
    key: str


class Issue(Struct):
    rule: str
    level: Annotated[str, Meta(description="error, warning or note")]
    what: str
    rows: list[LintRow]


class LintedBundle(Struct):
    bundle: str
    findings: list[Issue]


class Lint(Struct):
    """`lint`: what is wrong with data."""

    bundles: list[LintedBundle]


class Rule(Struct):
    id: str
    level: str
    title: str
    explanation: str
    fix: str


class Rules(Struct):
    """`lint --rules`: what lint looks for."""

    rules: list[Rule]


class Ingested(Struct):
    """`ingest`: what was read."""

    bundle: str | None
    digest: str
    tool: str
    target: str
    files: int
    runs: int
    rows: int
    summaries: int
    samples: int
    problems: list[Problem]


class CarriedChange(Struct):
    """What a subsystem, or a function and its successor by another name, adds to a change."""

    name: str
    before: float
    after: float
    change: float


class ChangedFunction(CarriedChange, kw_only=True):
    """A function that carries a change of a kernel, and the calls inline in it that do."""

    inlined: list[CarriedChange]


class KernelRow(Struct):
    """One circle on two kernels, in instructions per turn."""

    key: str
    old: Annotated[list[float], Meta(description="of each boot; empty if not measured")]
    new: Annotated[list[float], Meta(description="of each boot; empty if not measured")]
    counts: Annotated[
        tuple[float, float] | None,
        Meta(description="compared: of each side the lowest, or the lowest that is whole"),
    ]
    change: Annotated[float | None, Meta(description="between `counts`")]
    share: Share
    why: Annotated[str, Meta(description="why a side has no count; empty if both have")]
    traced: Annotated[tuple[float, float] | None, Meta(description="lengths of the traced turns")]
    explained: Annotated[float | None, Meta(description="change between the traced turns")]
    untraced: Annotated[str, Meta(description="why no function can be named; empty if they are")]
    functions: Annotated[list[ChangedFunction], Meta(description="they sum to `explained`")]
    subsystems: Annotated[list[CarriedChange], Meta(description="the same change by subsystem")]
    time: Annotated[Share, Meta(description="change of time, if bundles were given")]
    verdict: Annotated[str | None, Meta(description="on the change of time")]


class KernelsCompared(Struct):
    """`kdiff`: what a change of a Linux kernel costs."""

    old: str
    new: str
    boots: Annotated[int, Meta(description="of each kernel")]
    environment: Annotated[
        dict[str, tuple[str | None, str | None]],
        Meta(description="the kernels, their compilers and their machines; null is unknown"),
    ]
    rows: list[KernelRow]
    options: Annotated[
        dict[str, tuple[str, str]], Meta(description="of the configuration, that differ")
    ]


class Report(Struct):
    """`report`: the file that was written."""

    output: str
    bytes: int
    circles: Annotated[dict[str, int], Meta(description="circles by verdict")]


class Built(Struct):
    """`target build`: the files that were made."""

    target: str
    built: list[str]


class StoredBundle(Struct):
    """A bundle and where it is outside of the store; `new`: it was not in the store before."""

    bundle: Annotated[str, Meta(description="SHA-256")]
    path: str
    new: bool


class Transferred(Struct):
    """`store push` and `store pull`: what was copied."""

    store: str
    bundles: list[StoredBundle]


class Entry(Struct):
    bundle: Annotated[str, Meta(description="SHA-256")]
    created: str
    target: str
    title: str
    task: Annotated[str, Meta(description="of a sweep; empty without")]
    rows: int
    problems: int
    samples: int


class Store(Struct):
    """`store init` and `store ls`: a store and its bundles, oldest first."""

    store: str
    version: Annotated[int, Meta(description="the store's own schema")]
    bundles: list[Entry]


class Answer(Struct):
    """`store query`: the rows of the answer, by the names in the query."""

    rows: list[dict[str, Any]]


class Leftovers(Struct):
    """`store gc`: files that belong to no bundle."""

    files: list[str]
    removed: bool


class PlannedTask(Struct):
    n: int
    task: Annotated[str, Meta(description="digest of all that decides its result")]
    title: str
    done: bool


class SweepPlan(Struct):
    """`sweep --dry-run`: the tasks of a plan."""

    tasks: list[PlannedTask]
    expected_s: Annotated[float | None, Meta(description="of those to run; null if unknown")]


class SweepTask(Struct):
    """`sweep --task`: one task that is done."""

    task: str
    result: Annotated[str, Meta(description="SHA-256 of what was measured")]
    was_there: bool


class Sweep(Struct):
    """`sweep`: what became of a plan's tasks."""

    tasks: int
    done: int
    there: Annotated[int, Meta(description="done before")]
    checked: Annotated[int, Meta(description="measured a second time")]
    failed: Annotated[dict[str, str], Meta(description="task to reason")]
    missing: list[str]
    unlike: Annotated[dict[str, str], Meta(description="exact tasks with two results")]
    duplicates: int
    interrupted: Annotated[str, Meta(description="why it ended early; empty if it did not")]


class BisectedCommit(Struct):
    """A commit that was measured."""

    commit: str
    value: Annotated[float | None, Meta(description="the latency; null without")]
    error: Annotated[str, Meta(description="why there is none")]


class Bisected(Struct):
    """`bisect`: the commit at which a latency changed."""

    key: str
    first: Annotated[str, Meta(description="commit that is like the bad end")]
    last: Annotated[str, Meta(description="commit before it that is like the good end")]
    undecided: Annotated[list[str], Meta(description="commits between them, without a verdict")]
    before: float
    after: float
    unit: str
    commits: int
    rounds: int
    measured: list[BisectedCommit]


class SiteWritten(Struct):
    circles: int
    bundles: int


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


class Glossary(Struct):
    """`glossary`: what the words of tables mean."""

    words: dict[str, str]


class Kinds(Struct):
    """`schema` without a kind: what each `schema` of a document stands for."""

    kinds: dict[str, str]


class Site(Struct):
    """`site`: the pages that were written, and the verdict on the whole."""

    output: str
    verdict: str
    written: SiteWritten


KINDS: Mapping[str, tuple[int, type[Struct]]] = {
    "estimates": (1, Estimates),
    "circle": (1, CircleDetails),
    "exported": (1, Exported),
    "comparison": (1, Comparison),
    "kernels": (1, KernelsCompared),
    "expected": (1, Expected),
    "matrix": (1, Matrix),
    "false-alarms": (1, FalseAlarms),
    "history": (1, History),
    "newest": (1, NewestPoints),
    "circles": (1, Circles),
    "machine": (1, Machine),
    "settings": (1, Settings),
    "counts": (1, HostCounts),
    "agreement": (1, Agreement),
    "calibration": (1, Calibration),
    "lint": (1, Lint),
    "rules": (1, Rules),
    "ingested": (1, Ingested),
    "report": (1, Report),
    "built": (1, Built),
    "store": (1, Store),
    "transferred": (1, Transferred),
    "answer": (1, Answer),
    "leftovers": (1, Leftovers),
    "sweep": (1, Sweep),
    "sweep-plan": (1, SweepPlan),
    "sweep-task": (1, SweepTask),
    "site": (1, Site),
    "bisect": (1, Bisected),
    "explanation": (1, explain_documents.ExplainedCircle),
    "explained-difference": (1, explain_documents.ExplainedDifference),
    "tail": (1, explain_documents.ExplainedTail),
    "paths": (1, explain_documents.ExecutedPaths),
    "profile": (1, explain_documents.SampledCircle),
    "profile-difference": (1, explain_documents.SampledDifference),
    "why": (1, explain_documents.Counted),
    "move": (1, MoveProof),
    "glossary": (1, Glossary),
    "kinds": (1, Kinds),
}
"""Kind -> version and type."""
_KIND_OF = {typed: kind for kind, (_, typed) in KINDS.items()}


def value(level: LevelsEstimate | None) -> float | None:
    """A latency per turn, in the unit of its clock; None if there is none."""
    return None if level is None else level.value


def ends(interval: MeasuredInterval) -> tuple[float, float]:
    """An interval as a document states it; an end that is open becomes null when it is printed."""
    return interval.low, interval.high


def problems(found: Iterable[model.Problem]) -> list[Problem]:
    """What went wrong in a measurement, as documents state it."""
    return [Problem(kind=p.kind, where=p.where, what=p.what) for p in found]


def name(kind: str) -> str:
    """What `schema` says in a document of this kind."""
    return f"cyclometer/{kind}/{KINDS[kind][0]}"


def describe(kind: str) -> str:
    """What prints documents of a kind, and what they say; one sentence."""
    return (KINDS[kind][1].__doc__ or "").strip()


def dumps(document: Struct) -> str:
    """A document as JSON; its type is one of `KINDS`, which names the kind."""
    content = {"schema": name(_KIND_OF[type(document)]), **plain(document)}
    return json.dumps(content, indent=1, allow_nan=False)


def plain(value: Any) -> Any:
    """`value` as plain data, with null for every number that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Struct):
        members = msgspec.structs.fields(value)
        return {one.encode_name: plain(getattr(value, one.name)) for one in members}
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def schema(kind: str) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a kind."""
    (_, typed) = KINDS[kind]
    described = msgspec.json.schema(typed)
    definition = described["$defs"][typed.__name__]
    definition["properties"] = {"schema": {"const": name(kind)}} | definition["properties"]
    definition["required"] = ["schema", *definition["required"]]
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, "$id": name(kind)} | described
