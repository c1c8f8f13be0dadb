# SPDX-License-Identifier: BSD-2-Clause
"""The verdict on one circle, and what counts as a change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cyclometer.compare import statistics
from cyclometer.compare.calibration import Calibration
from cyclometer.compare.pairing import ComparedCircle, Pair
from cyclometer.estimate.interval import Interval
from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.estimate.rows import Estimate
from cyclometer.units import UNITS

CHANGED = ("regressed", "over margin", "improved", "changed")
DECIDED = (*CHANGED, "equivalent")
VERDICTS = (
    "regressed",
    "over margin",
    "improved",
    "changed",
    "failed",
    "invalid",
    "not comparable",
    "removed",
    "added",
    "undecided",
    "equivalent",
)
"""Every verdict, in the order of what a reader must see first. An exact count of instructions is
not judged unless a margin is given: it changed, or it grew by more than the margin.
"""

_ROUNDED_UP = 1 + 1e-12  # so that a change of just the amount is within it
_COUNT_DIGITS = 2  # of a change of counts that are means of turns


@dataclass(frozen=True)
class Options:
    """What counts as a change. Fractions all: 0.01 is one percent."""

    margin: float = statistics.MARGIN
    # share of false ones among the changes reported; intervals are of level 1 - fdr
    fdr: float = 0.05
    # change on an exact clock that moving code causes; None: exact.LAYOUT_FLOORS
    layout_floor: float | None = None
    # what rows are judged by (`compare.statistic`)
    on: tuple[str, ...] = ("latency",)
    # how far sessions of the machine differ, if it was measured
    calibration: Calibration | None = None
    # the margin on exact clocks, if the user gave one: they need none to be sure
    exact_margin: float | None = None
    # unit of a clock -> how much of it is within the margin, whatever share that is
    amounts: Mapping[str, float] = field(default_factory=dict)

    def at(self, pair: Pair) -> Options:
        """The options with a margin that lets the latency of `pair` differ by the amount of its
        unit. A share is of the lower side, so that both directions have the same amount.
        """
        b, a = both(pair)
        amount = self.amounts.get(b.clock.unit, 0.0)
        if not amount or b.latency is None or a.latency is None:
            return self
        least = min(b.latency.value, a.latency.value)
        if least <= 0 or (share := amount / least * _ROUNDED_UP) <= self.margin:
            return self
        exact = None if self.exact_margin is None else max(share, self.exact_margin)
        return replace(self, margin=share, exact_margin=exact)

    @property
    def level(self) -> float:
        """Confidence level of intervals, 1 - fdr."""
        return 1 - self.fdr


@dataclass(frozen=True)
class Basis:
    """What the verdict on a pair by a noisy clock rests on.

    units: how many sessions, pairs of visits, runs or images (`unit`) either side has.
    note: what a reader must know about the comparison itself, as a phrase; may be empty.
    veto: why no verdict can be given whatever the change is; empty if one can.
    overall: the change of the overall latency, as a logarithm; None if it is not known.
    disagreement: what moved otherwise than the latency; `elsewhere`: by how much, as a logarithm,
        None if that is the overall latency.
    floor: the fraction that moving code alone may change; 0 if it cannot.
    """

    change: statistics.Change
    units: tuple[int, int]
    unit: str
    note: str = ""
    veto: str = ""
    overall: float | None = None
    disagreement: str = ""
    elsewhere: float | None = None
    floor: float = 0.0


@dataclass(frozen=True)
class Finding:
    """The verdict on one circle. Changes are (after - before) / before; None if there is none.

    `interval` is of `change` and speaks about the next sessions, pairs of visits, runs or images,
    or about `these runs`, as `scope` says. `disagreement` says how the overall latency moved if it
    did not move with this one. `more` units per side would decide an undecided row;
    `minimum_detectable` is the smallest change that the present ones find, or, where a side has one
    run, those still needed.
    """

    pair: Pair
    verdict: str
    reason: str
    change: float | None = None
    interval: Interval | None = None
    scope: str = ""
    p: float | None = None  # of no change, adjusted over the suite
    minimum_detectable: float | None = None
    more: int | None = None
    overall_change: float | None = None
    disagreement: str = ""

    @property
    def key(self) -> str:
        """Of the circle."""
        return self.pair.key

    @property
    def unit(self) -> str:
        """Of `before` and `after`, as the clock of either side names it."""
        either = self.pair.before or self.pair.after
        return either.estimate.clock.unit if either else UNITS[0]

    @property
    def counted(self) -> bool:
        """Whether this is the change of an exact count of instructions."""
        return (
            self.verdict in DECIDED
            and self.pair.after is not None
            and _counts(self.pair.after.estimate)
        )

    @property
    def word(self) -> str:
        """What people read: the signed count of a counted change, else the verdict."""
        if not self.counted or self.before is None or self.after is None:
            return self.verdict
        more = round(self.after.value - self.before.value, _COUNT_DIGITS)
        return f"{more:+g} {self.unit}" if more else "same count"

    @property
    def before(self) -> LevelsEstimate | None:
        """The latency per turn before, in `unit`; None if there is none."""
        return _latency(self.pair.before)

    @property
    def after(self) -> LevelsEstimate | None:
        """The latency per turn after, in `unit`; None if there is none."""
        return _latency(self.pair.after)


def elsewhere(overall: float, interval: Interval, options: Options) -> str:
    """How the overall latency moved, if by more than the margin beyond the interval of the change
    of visits: they are medians, which do not see what befalls a few tests of each.
    """
    margin = math.log1p(options.margin)
    if interval.low - margin <= overall <= interval.high + margin:
        return ""
    return f"overall moved by {100 * math.expm1(overall):+.2f} %"


def rough(fraction: float) -> str:
    """A fraction in percent, to two digits."""
    return f"{100 * fraction:.2g} %"


def named(verdict: str, e: Estimate, options: Options) -> str:
    """The verdict on an estimate of which more may be better, or which may be a count."""
    if e.better == "higher":
        verdict = {"regressed": "improved", "improved": "regressed"}.get(verdict, verdict)
    if not _counts(e) or verdict not in CHANGED:
        return verdict
    return (
        "over margin" if verdict == "regressed" and options.exact_margin is not None else "changed"
    )


def _counts(e: Estimate) -> bool:
    return e.clock.exact and e.clock.unit == "instructions"


def both(pair: Pair) -> tuple[Estimate, Estimate]:
    """The estimates of a pair that has two."""
    assert pair.before is not None
    assert pair.after is not None
    return pair.before.estimate, pair.after.estimate


def _latency(circle: ComparedCircle | None) -> LevelsEstimate | None:
    return None if circle is None else circle.estimate.latency
