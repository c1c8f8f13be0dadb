# SPDX-License-Identifier: BSD-2-Clause
"""A against A: how often each way of comparing raises a false alarm on repeated runs of one thing.

The data of each circle is split into blocks that differ in nothing but time: the bundles of a store
whose stated environment is the same (groups of them, if each holds one run, because a user would
compare several of those); of a single bundle the first and the second half of its visits; or, if
its visits cannot be put on one axis of time, stretches of its runs. Every change found between two
consecutive blocks is false.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from cyclometer.bundle.model import Bundle
from cyclometer.compare import statistics
from cyclometer.compare.finding import CHANGED, Options
from cyclometer.compare.pairing import (
    ComparedCircle,
    Side,
    environment,
    likeness,
    made,
    of_runs,
    pooled,
    side,
)
from cyclometer.compare.verdicts import compare
from cyclometer.errors import NothingMeasured
from cyclometer.estimate import session, timeline
from cyclometer.estimate.interval import FloatArray
from cyclometer.estimate.latencies import RunEstimate

RUNS_A_BLOCK = 5
"""Runs of a stretch, where there are twice as many."""
_FEWEST_VISITS = 4  # of a half session that can be compared
THRESHOLDS = (0.01, 0.02, 0.05, 0.10)
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Block:
    """Some runs of a circle: what run-level methods see, and the single values that the others see.

    `values`: latencies of a turn of all tests, shape (n,), None if only statistics were printed.
    `moments`: their number, mean and standard deviation, None if those were not printed either.
    """

    circle: ComparedCircle
    values: FloatArray | None
    moments: tuple[int, float, float] | None

    @property
    def runs(self) -> FloatArray:
        """Latency of each run in the clock's unit, shape (runs,)."""
        return np.array([run.latency.value for run in self.circle.estimate.runs])


@dataclass(frozen=True)
class BlockPart:
    """Some of what row `row` of a bundle holds; `tests` are indices of its samples that count."""

    bundle: Bundle
    row: int
    circle: ComparedCircle
    tests: NDArray[np.intp]


Suite = list[tuple[Block, Block]]
"""Comparisons that a user would make at once: at most one of each circle."""


@dataclass(frozen=True)
class Alarms:
    """One method's record: `nominal` is the rate it promises, None if it promises none."""

    method: str
    alarms: int
    comparisons: int
    nominal: float | None

    @property
    def rate(self) -> float:
        """Alarms per comparison, a fraction; nan without a comparison."""
        return self.alarms / self.comparisons if self.comparisons else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson's 95 % interval of the rate, as if the comparisons were
        independent.
        """
        result = stats.binomtest(self.alarms, max(1, self.comparisons)).proportion_ci(0.95)
        return float(result.low), float(result.high)


@dataclass(frozen=True)
class Record:
    """The record of every method over the same comparisons; `alone` circles had no second block."""

    methods: tuple[Alarms, ...]
    suites: int
    circles: int
    alone: int
    runs_a_side: tuple[int, int]  # fewest and most


def measure(bundles: Sequence[Bundle], options: Options | None = None) -> Record:
    """Every method's alarms on repeated runs. Raises NothingMeasured if nothing was run twice,
    BadFile if a bundle does not say when it was made.
    """
    options = options or Options()
    blocks = list(_blocks(bundles, options.level).values())
    suites = _suites([found for found in blocks if len(found) > 1])
    if not suites:
        raise NothingMeasured(
            "no circle has two runs of one build on one machine; measure again and keep both "
            "bundles"
        )
    sizes = [len(block.runs) for suite in suites for pair in suite for block in pair]
    return Record(
        methods=tuple(
            _alarms(name, nominal, method, suites) for name, nominal, method in _methods(options)
        ),
        suites=len(suites),
        circles=sum(len(found) > 1 for found in blocks),
        alone=sum(len(found) < 2 for found in blocks),
        runs_a_side=(min(sizes), max(sizes)),
    )


def _blocks(bundles: Sequence[Bundle], level: float) -> dict[Hashable, list[Block]]:
    """Blocks of each valid circle in order of time."""
    found: dict[Hashable, list[BlockPart]] = {}
    for bundle in sorted(bundles, key=made):
        same = tuple(sorted(environment(bundle).items()))
        seen: Counter[Hashable] = Counter()
        for circle in side([bundle], level).circles:
            if circle.estimate.valid:
                name = (same, likeness(circle))
                row = circle.estimate.row
                tests = bundle.samples.tests(row, untagged=True)
                # rows of one likeness are told apart by their place in the bundle
                found.setdefault((name, seen[name]), []).append(
                    BlockPart(bundle, row, circle, tests)
                )
                seen[name] += 1
    return {
        name: [_block(block, level) for block in _split(parts, level)]
        for name, parts in found.items()
    }


def _split(parts: Sequence[BlockPart], level: float) -> list[list[BlockPart]]:
    """What each block consists of."""
    if len(parts) == 1:
        whole = parts[0]
        if whole.circle.estimate.sessions:
            return [[half] for half in _halves(whole, level)]
        runs = whole.circle.estimate.runs
        return [[_of_runs(whole, some, level)] for some in _stretches(runs)]
    single = all(len(part.circle.estimate.runs) == 1 for part in parts)
    # bundles of one run each are compared in groups, as a user would do it
    return _stretches(parts) if single else [[part] for part in parts]


def _stretches(items: Sequence[_Item]) -> list[list[_Item]]:
    size = max(1, min(RUNS_A_BLOCK, len(items) // 2))
    return [list(items[start : start + size]) for start in range(0, len(items) - size + 1, size)]


def _halves(whole: BlockPart, level: float) -> list[BlockPart]:
    """The visits of the first half of the session, and those of the second."""
    visited = whole.circle.estimate.sessions[0]
    seconds = timeline.seconds(whole.bundle)
    if seconds is None or visited.visits < 2 * _FEWEST_VISITS:
        return [whole]
    half = visited.visits // 2
    # between the last visit of the one half and the first of the other
    late = seconds[whole.tests] > (visited.seconds[half - 1] + visited.seconds[half]) / 2
    return [
        _of_visits(replace(whole, tests=whole.tests[~late]), np.arange(half), level),
        _of_visits(replace(whole, tests=whole.tests[late]), np.arange(half, visited.visits), level),
    ]


def _of_visits(part: BlockPart, visits: NDArray[np.intp], level: float) -> BlockPart:
    """The part with what these visits of its session say."""
    e = part.circle.estimate
    some = e.sessions[0].part(visits)
    own = session.latency_of_runs(some, level)
    runs = tuple(replace(run, latency=own[run.run]) for run in e.runs if run.run in own)
    some_e = replace(e, latency=session.latency(some, level), sessions=(some,), runs=runs)
    return replace(part, circle=replace(part.circle, estimate=some_e))


def _of_runs(part: BlockPart, runs: Sequence[RunEstimate], level: float) -> BlockPart:
    numbers = [run.run for run in runs]
    e = of_runs(part.circle.estimate, runs, level)
    tests = part.tests[np.isin(part.bundle.samples.run[part.tests], numbers)]
    return replace(part, circle=ComparedCircle(e, part.circle.circumstances), tests=tests)


def _block(parts: Sequence[BlockPart], level: float) -> Block:
    circle = pooled([part.circle for part in parts], level)
    values = np.concatenate([_values(part) for part in parts])
    if values.size > 1:
        return Block(circle, values, (values.size, float(values.mean()), float(values.std(ddof=1))))
    return Block(circle, None, _printed(parts))


def _values(part: BlockPart) -> FloatArray:
    samples = part.bundle.samples
    return samples.value[part.tests] / samples.turns[part.tests]


def _printed(parts: Sequence[BlockPart]) -> tuple[int, float, float] | None:
    """Number, mean and standard deviation of all values of these runs, from what was printed of
    each.
    """
    of_row = [
        s
        for part in parts
        for s in part.bundle.identity.summaries
        if s.row == part.row and s.run in {run.run for run in part.circle.estimate.runs}
    ]
    known = [
        (s.n, s.mean, s.sd)
        for s in of_row
        if s.n is not None and s.mean is not None and s.sd is not None
    ]
    n = sum(count for count, _, _ in known)
    if not known or len(known) != len(of_row) or n < 2:
        return None
    mean = sum(count * value for count, value, _ in known) / n
    squares = sum((count - 1) * sd**2 + count * (value - mean) ** 2 for count, value, sd in known)
    return n, mean, math.sqrt(squares / (n - 1))


def _suites(blocks: Sequence[Sequence[Block]]) -> list[Suite]:
    """The k-th suite holds the k-th pair of consecutive blocks of every circle."""
    most = max((len(found) for found in blocks), default=1)
    return [
        [(found[k], found[k + 1]) for found in blocks if k + 1 < len(found)]
        for k in range(most - 1)
    ]


Method = Callable[[Suite], list[bool | None]]


def _alarms(name: str, nominal: float | None, method: Method, suites: Sequence[Suite]) -> Alarms:
    answers = [answer for suite in suites for answer in method(suite) if answer is not None]
    return Alarms(name, sum(answers), len(answers), nominal)


def _methods(options: Options) -> list[tuple[str, float | None, Method]]:
    """Name, promised rate and function of every method; the function gives None if it does not
    apply.
    """
    level = f"{100 * options.fdr:g} %"
    tests: Mapping[str, Callable[[Block, Block], float | None]] = {
        "Welch's t over runs": _welch_runs,
        "Mann-Whitney over runs": lambda a, b: _mann_whitney(a.runs, b.runs),
        "Welch's t over all samples": _welch_samples,
        "Mann-Whitney over all samples": lambda a, b: _mann_whitney(a.values, b.values),
    }
    found: list[tuple[str, float | None, Method]] = [
        ("this tool's verdict", options.fdr, _verdict(options))
    ]
    found += [
        (f"{name}, p <= {level}", options.fdr, _each(_below(p, options.fdr)))
        for name, p in tests.items()
    ]
    found.append(
        ("intervals of the means apart", None, _each(lambda a, b: _apart(a, b, options.level)))
    )
    return found + [
        (f"mean moved by over {100 * t:g} %", None, _each(_moved(t))) for t in THRESHOLDS
    ]


def _verdict(options: Options) -> Method:
    def judge(suite: Suite) -> list[bool | None]:
        sides = [Side(tuple(pair[which].circle for pair in suite)) for which in (0, 1)]
        findings = compare(sides[0], sides[1], options).findings
        # what was not judged can raise no alarm
        return [f.verdict in CHANGED for f in findings if f.p is not None or f.scope == "exact"]

    return judge


def _each(alarm: Callable[[Block, Block], bool | None]) -> Method:
    return lambda suite: [alarm(before, after) for before, after in suite]


def _below(
    p_of: Callable[[Block, Block], float | None], alpha: float
) -> Callable[[Block, Block], bool | None]:
    def alarm(before: Block, after: Block) -> bool | None:
        p = p_of(before, after)
        return None if p is None else p <= alpha

    return alarm


def _welch_runs(before: Block, after: Block) -> float | None:
    if min(before.runs.size, after.runs.size) < 2 or min(before.runs.min(), after.runs.min()) <= 0:
        return None
    return statistics.change(before.runs, after.runs).p


def _welch_samples(before: Block, after: Block) -> float | None:
    if before.moments is None or after.moments is None:
        return None
    (n, mean, sd), (m, other, other_sd) = before.moments, after.moments
    # Without any spread t does not exist; a difference is then as sure as can be.
    if not sd and not other_sd:
        return 1.0 if mean == other else 0.0
    return float(
        stats.ttest_ind_from_stats(mean, sd, n, other, other_sd, m, equal_var=False).pvalue
    )


def _mann_whitney(before: FloatArray | None, after: FloatArray | None) -> float | None:
    if before is None or after is None or min(before.size, after.size) < 2:
        return None
    return float(stats.mannwhitneyu(before, after).pvalue)


def _apart(before: Block, after: Block, level: float) -> bool | None:
    if before.moments is None or after.moments is None:
        return None
    reach = sum(
        stats.t.ppf((1 + level) / 2, n - 1) * sd / math.sqrt(n)
        for n, _, sd in (before.moments, after.moments)
    )
    return bool(abs(before.moments[1] - after.moments[1]) > reach)


def _moved(threshold: float) -> Callable[[Block, Block], bool | None]:
    def alarm(before: Block, after: Block) -> bool | None:
        means = [
            float(b.runs.mean()) if b.moments is None else b.moments[1] for b in (before, after)
        ]
        return abs(means[1] / means[0] - 1) > threshold if means[0] else None

    return alarm
