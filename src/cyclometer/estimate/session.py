# SPDX-License-Identifier: BSD-2-Clause
"""What one session knows about a circle: a value of each visit, the core's speed then, and time.

A session is one measurement: visits of all circles in random order over a minute or more. Tests of
one visit share a layout and a moment, so the visit is the smallest unit; the machine's speed drifts
over seconds, so that an error is computed from the means of BLOCKS stretches of time and not from
single visits. What a session's own visits cannot tell is how the next session will differ; that is
`compare.component`'s subject.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from scipy import special

from cyclometer.bundle.core_cycles import TIMED
from cyclometer.bundle.model import Bundle, Samples
from cyclometer.estimate import fixed_cost, surroundings, timeline
from cyclometer.estimate.grouped import grouped
from cyclometer.estimate.interval import FloatArray, Interval, critical_value, student
from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.estimate.marginal import MarginalFit
from cyclometer.estimate.reference import Reference, reference, visits_of
from cyclometer.estimate.regimes import Regime

MACHINE = (
    "build",
    "command_line",
    "cpu_count",
    "cpu_model",
    "kernel_release",
    "kernel_version",
    "microcode",
)
"""Facts of the environment that sessions of one machine and one image share."""
BLOCKS = 12
"""Stretches of time whose means are taken for independent, if there are two visits for each."""
FEWEST_BLOCKS = 4
CLEAR = 3.0
"""A fixed cost counts as present if it is this many standard errors from zero, of normal noise."""
MAD_EFFICIENCY = 0.37
"""A MAD knows a spread as well as the standard deviation of this share of the values."""
OUTLYING = 2.0
"""Robust standard deviations from the mean of the visits from which on a visit counts no more."""
_STEPS = 20
"""Steps in which a mean of visits settles: what a step moves is a tenth of the one before."""


@dataclass(frozen=True)
class Occasion:
    """When and where a session took place: `machine` names what sessions must share to be
    repetitions of each other, `boot` is the boot's identity (empty if not known). Two sessions
    that took turns visit by visit have one name in `paired`, which is empty for all others.
    """

    machine: tuple[tuple[str, str], ...]
    boot: str
    began: datetime | None
    paired: str = ""


@dataclass(frozen=True)
class Moments:
    """When the samples of a bundle were taken, in seconds on one axis (`timeline.seconds`), and how
    fast the core was then; `reference` is None if nothing says.

    process_a_visit: whether each visit was a process of its own, not one of its run.
    beside: what happened beside the visits of all circles (`surroundings.rates`).
    pauses: when the rounds of a session with pauses between them begin, but for the first.
    """

    occasion: Occasion
    seconds: FloatArray
    reference: Reference | None
    process_a_visit: bool = False
    beside: Mapping[str, FloatArray] = field(default_factory=dict)
    pauses: FloatArray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class Session:
    """The visits of one circle in one bundle; arrays have shape (visits,), in order of time.

    y is the logarithm of a visit's median latency of a turn in clock units, x the logarithm of the
    clock units in a cycle of the core (`reference`), up to a constant.

    seconds: middle of the visit since the bundle's first sample.
    run, number: the run that it belongs to, and its number in that run.
    process: the process that it ran in.
    whole: y with nothing subtracted.
    less: y with the fixed cost of a test subtracted; None if it cannot be, or is not known.
    fixed_cost: the fixed cost, from the sizes within each visit; None for a flow of one size.
    share: by which fraction a clock unit less of fixed cost raises the mean over visits; 0 if no
        cost can be subtracted.
    stretch: the round of a session with pauses that each visit belongs to; None without pauses.
    beside: what happened beside the visits of all circles (`surroundings.rates`).
    """

    occasion: Occasion
    seconds: FloatArray
    run: NDArray[np.int32]
    number: NDArray[np.int32]
    process: NDArray[np.int32]
    whole: FloatArray
    less: FloatArray | None
    x: FloatArray
    reference: Reference | None
    fixed_cost: MarginalFit | None
    share: float
    beside: Mapping[str, FloatArray] = field(default_factory=dict)
    stretch: NDArray[np.intp] | None = None

    @property
    def speed(self) -> float:
        """What brings the mean of y - x into the unit of the bundle's values: the mean of x, or 0
        if the values are core cycles.
        """
        taken = self.reference is not None and self.reference.taken
        return 0.0 if taken else float(self.x.mean())

    @property
    def visits(self) -> int:
        """How many visits the session has."""
        return self.seconds.size

    @property
    def has_fixed_cost(self) -> bool:
        """Whether a fixed cost was found that can be subtracted. One that is not there would move
        the latency by more than its interval, so that the error's own error counts.
        """
        if self.less is None or self.fixed_cost is None:
            return False
        # CLEAR normal standard errors as a level: of few visits Student's t asks for more of them
        level = 1 - 2 * float(special.ndtr(-CLEAR))
        critical = critical_value(level, max(1.0, MAD_EFFICIENCY * (self.visits - 1)))
        return abs(self.fixed_cost.c) > critical * self.fixed_cost.c_standard_error

    def y(self, subtract: bool) -> FloatArray:
        """Logarithms of the visits' latencies as Huber's pseudo-values about x, shape (visits,);
        less the fixed cost if `subtract` and it can be.
        """
        return pseudo_values(self.plain(subtract) - self.x) + self.x

    def plain(self, subtract: bool) -> FloatArray:
        """Logarithms of the visits' latencies as measured, shape (visits,); less the fixed cost if
        `subtract` and it can be.
        """
        return self.less if subtract and self.less is not None else self.whole

    def cost_error(self, subtract: bool) -> float:
        """Standard error, in logarithms of the latency, that a subtracted fixed cost leaves in
        every y alike; 0 if none is subtracted.
        """
        if not subtract or self.less is None or self.fixed_cost is None:
            return 0.0
        return self.fixed_cost.c_standard_error * self.share

    def part(self, chosen: NDArray[np.intp]) -> Session:
        """The session with the visits of these indices, or of a mask of shape (visits,); its fixed
        cost stays what it was.
        """
        return replace(
            self,
            seconds=self.seconds[chosen],
            run=self.run[chosen],
            number=self.number[chosen],
            process=self.process[chosen],
            whole=self.whole[chosen],
            less=None if self.less is None else self.less[chosen],
            x=self.x[chosen],
            stretch=None if self.stretch is None else self.stretch[chosen],
        )


@dataclass(frozen=True)
class Mean:
    """A mean over the visits of a session with the variance that they explain: `parts` are
    (variance, degrees of freedom), of time blocks and of processes.
    """

    value: float
    parts: tuple[tuple[float, float], ...]

    @property
    def variance(self) -> float:
        """Of the mean, in the square of its unit."""
        return sum(variance for variance, _ in self.parts)


def moments_of(bundle: Bundle) -> Moments | None:
    """When the samples of a bundle were taken; None if that is not known, or matters not: an exact
    clock repeats at any time.
    """
    if not any(row.method in TIMED and not row.clock.exact for row in bundle.identity.rows):
        return None
    seconds = timeline.seconds(bundle)
    if seconds is None:
        return None
    process_a_visit = bundle.identity.plan.get("process") == "visit"
    return Moments(
        _occasion(bundle),
        seconds,
        reference(bundle, seconds),
        process_a_visit,
        surroundings.rates(bundle.identity) | surroundings.issue(bundle),
        _pauses(bundle, seconds),
    )


def _pauses(bundle: Bundle, seconds: FloatArray) -> FloatArray:
    """When the rounds of a spread session begin, but for the first: behind its longest gaps."""
    match bundle.identity.plan.get("settings"):
        case {"spread_s": float() | int() as spread_s, "rounds": int() as rounds} if (
            spread_s > 0 and rounds > 1
        ):
            moments = np.unique(seconds[np.isfinite(seconds)])
            longest = np.argsort(np.diff(moments))[-(rounds - 1) :]
            return np.sort(moments[longest + 1])
    return np.zeros(0)


def _occasion(bundle: Bundle) -> Occasion:
    facts = bundle.identity.environment
    named = {name: str(facts[name]) for name in MACHINE if name in facts}
    named |= {"target": bundle.identity.target, "tool": bundle.identity.tool}
    try:
        began = datetime.fromisoformat(bundle.identity.created)
    except ValueError:
        began = None
    if began is not None and began.tzinfo is None:
        began = began.replace(tzinfo=UTC)
    match bundle.identity.plan.get("ab"):
        case {"id": str(paired)}:
            pass
        case _:
            paired = ""
    return Occasion(tuple(sorted(named.items())), str(facts.get("boot_id", "")), began, paired)


def session(
    samples: Samples,
    tests: NDArray[np.intp],
    moments: Moments,
    overhead: float = 0.0,
    level: float = 0.95,
) -> Session | None:
    """The session of one row; None if fewer than two visits were timed, or a latency is not
    positive.

    Args:
        tests: indices of the row's tests that count, shape (n,).
        overhead: clock units to subtract from every test, such as the cost of reading the clock.
    """
    # a test at an unknown moment has no place beside the core's speed
    tests = tests[np.isfinite(moments.seconds[tests])]
    visit, visits = visits_of(samples, tests)
    if visits < 2:
        return None
    A, N = samples.value[tests] - overhead, samples.turns[tests].astype(np.float64)
    whole = grouped(A / N, visit, visits).medians()
    if whole.min() <= 0:
        return None
    cost = fixed_cost.over_visits(A, N, visit, visits, level)
    less, share = None, 0.0
    # A cost as long as a whole test would leave nothing of it, which has no logarithm.
    if cost is not None and np.all(cost.c < A):
        less = np.log(grouped((A - cost.c) / N, visit, visits).medians())
        share = _share(A, N, visit, cost)
    run = np.zeros(visits, np.int32)
    run[visit] = samples.run[tests]
    number = np.zeros(visits, np.int32)
    number[visit] = samples.visit[tests]
    process = np.arange(visits, dtype=np.int32) if moments.process_a_visit else run
    middle = np.bincount(visit, moments.seconds[tests]) / np.bincount(visit)
    x = np.zeros(visits)
    if moments.reference is not None:
        x = moments.reference.at(tests, visit, middle)
    # Values in core cycles have lost x already; with it y is in clock units, whatever was stored.
    back = x if moments.reference is not None and moments.reference.taken else 0.0
    found = Session(
        occasion=moments.occasion,
        seconds=middle,
        run=run,
        number=number,
        process=process,
        whole=np.log(whole) + back,
        less=None if less is None else less + back,
        x=x,
        reference=moments.reference,
        fixed_cost=cost,
        share=share,
        beside=moments.beside,
        stretch=np.searchsorted(moments.pauses, middle, "right") if moments.pauses.size else None,
    )
    # visits are numbered by run, and blocks of time need them in order of time
    return found.part(np.argsort(middle, kind="stable"))


def _share(A: FloatArray, N: FloatArray, visit: NDArray[np.intp], cost: MarginalFit) -> float:
    """By which fraction of a turn a clock unit less of fixed cost raises the mean over visits.

    Tests of the middle sizes decide a median, so that it follows the cost less than their mean.
    """
    step = cost.c_standard_error
    # no test may be left without a latency
    ends = [cost.c - step, min(cost.c + step, float(A.min()) * (1 - 1e-9))]
    low, high = (np.log(grouped((A - c) / N, visit, visit.max() + 1).medians()) for c in ends)
    return float(np.mean(low - high)) / (ends[1] - ends[0]) if ends[1] > ends[0] else 0.0


def pseudo_values(values: FloatArray) -> FloatArray:
    """Values, shape (n,), whose mean is Huber's (1964) of `values` and spreads as it does.

    A value more than OUTLYING robust standard deviations from that mean counts as if it lay there.
    Each distance is divided by the share of the values that lie within: so much more does the mean
    follow a single one of them than a plain mean does. If half of the values or more are equal,
    they are returned as they are.
    """
    middle = float(np.median(values))
    # 1.4826 MADs are a standard deviation of normal values
    reach = OUTLYING * 1.4826 * float(np.median(np.abs(values - middle)))
    if not reach:
        return values
    for _ in range(_STEPS):
        apart = values - middle
        within = float(np.mean(np.abs(apart) <= reach))
        pseudo: FloatArray = middle + np.clip(apart, -reach, reach) / within
        middle = float(pseudo.mean())
    return pseudo


def mean(
    values: FloatArray,
    process: NDArray[np.int32],
    stretch: NDArray[np.intp] | None = None,
    blocks: int | None = None,
) -> Mean:
    """The mean of visits, in order of time, and what its error is made of.

    Time is cut into `blocks` stretches of equally many visits (by default BLOCKS, or half as many
    as visits if those are few); their means spread as drift and noise of the visits do. Rounds with
    pauses between them, FEWEST_BLOCKS at least, are the stretches where there are any: the visits
    of a round share its minute. What a process draws once is shared by its visits in all blocks, so
    that blocks do not show it: the variance between processes beyond that of their visits is added
    (analysis of variance, not below zero).

    Args:
        values, process, stretch: of each visit its value, in any unit, the process that it ran in,
            and its round; shape (visits,), two visits at least.
    """
    visits = values.size
    count = blocks or min(BLOCKS, visits, max(FEWEST_BLOCKS, visits // 2))
    rounds = np.zeros(0, np.intp) if stretch is None else np.unique(stretch)
    if stretch is not None and rounds.size >= FEWEST_BLOCKS:
        count = rounds.size
        means = np.array([values[stretch == one].mean() for one in rounds])
    else:
        means = np.array([block.mean() for block in np.array_split(values, count)])
    parts = [(float(means.var(ddof=1)) / count, count - 1.0)]
    found, number = np.unique(process, return_inverse=True)
    # a process for each visit, or one for all: the two variances cannot be separated
    if 1 < found.size < visits:
        parts.append(_between_processes(values, number, found.size))
    return Mean(float(means.mean()), tuple(parts))


def _between_processes(
    values: FloatArray, process: NDArray[np.intp], processes: int
) -> tuple[float, float]:
    """Variance that processes add to the mean over them, and its degrees of freedom."""
    size = np.bincount(process)
    own = np.bincount(process, values) / size
    within = float(np.sum((values - own[process]) ** 2)) / (values.size - processes)
    between = float(own.var(ddof=1)) - within * float(np.mean(1 / size))
    return max(0.0, between) / processes, processes - 1.0


def satterthwaite(parts: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    """The sum of variances and its degrees of freedom, from (variance, degrees of freedom) of each
    part (Satterthwaite 1946). The unit is that of the parts.
    """
    total = sum(variance for variance, _ in parts)
    if not total:
        return 0.0, min(df for _, df in parts)
    return total, total**2 / sum(variance**2 / df for variance, df in parts)


def latency(one: Session, level: float = 0.95) -> LevelsEstimate:
    """The latency of a turn in clock units, at the core's mean speed in this session.

    The interval says where the mean over such a minute lies; the next session is another matter.
    `spread` is that of the runs, in logarithms: a fraction, as long as it is small.
    """
    subtract = one.has_fixed_cost
    z = one.y(subtract) - one.x
    average = mean(z, one.process, one.stretch)
    runs = np.array([own.mean() for own in _of_runs(one).values()])
    # All visits share the error of the fixed cost, so that their spread does not show it.
    variance, df = satterthwaite(
        (*average.parts, (one.cost_error(subtract) ** 2, one.visits - 1.0))
    )
    value = math.exp(average.value + one.speed)
    return LevelsEstimate(
        value=value,
        interval=_times(value, student(0.0, math.sqrt(variance), df, level)),
        scope="within this session",
        runs=runs.size,
        between_variance=None,
        within_variance=None,
        spread=float(runs.std(ddof=1)) if runs.size > 1 else 0.0,
    )


def latency_of_runs(one: Session, level: float = 0.95) -> dict[int, Regime]:
    """The latency of the visits of each run alone, in clock units, by the run's number. `tests` of
    a result counts visits, and `share` is their part of all.
    """
    speed, found = one.speed, {}
    for run, own in _of_runs(one).items():
        value = math.exp(float(own.mean()) + speed)
        error = float(own.std(ddof=1)) / math.sqrt(own.size) if own.size > 1 else math.inf
        interval = _times(value, student(0.0, error, own.size - 1, level))
        found[run] = Regime(value, interval, own.size, own.size / one.visits)
    return found


def _of_runs(one: Session) -> dict[int, FloatArray]:
    """The pseudo-values of y - x of each run alone, by its number."""
    z = one.plain(one.has_fixed_cost) - one.x
    return {run: pseudo_values(z[one.run == run]) for run in np.unique(one.run).tolist()}


def _times(value: float, log: Interval) -> Interval:
    """The interval of a value whose logarithm errs by `log`."""
    with np.errstate(over="ignore"):
        return Interval(float(value * np.exp(log.low)), float(value * np.exp(log.high)), log.level)
