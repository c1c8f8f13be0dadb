# SPDX-License-Identifier: BSD-2-Clause
"""The verdict on one circle, and what counts as a change."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cyclometer.compare import statistics
from cyclometer.compare.calibration import Calibration
from cyclometer.compare.pairing import Circle, Pair
from cyclometer.estimate.interval import Interval
from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.estimate.rows import Estimate
from cyclometer.units import UNITS

DECIDED = ("regressed", "improved", "equivalent")
VERDICTS = (
    "regressed",
    "improved",
    "failed",
    "invalid",
    "not comparable",
    "removed",
    "added",
    "undecided",
    "equivalent",
)
"""Every verdict, in the order of what a reader must see first."""


@dataclass(frozen=True)
class Options:
    """What counts as a change. Fractions all: 0.01 is one percent."""

    margin: float = statistics.MARGIN
    # share of false ones among the changes reported; intervals are of level 1 - fdr
    fdr: float = 0.05
    # change on an exact clock that moving code causes; None: exact.LAYOUT_FLOORS
    layout_floor: float | None = None
    # how far sessions of the machine differ, if it was measured
    calibration: Calibration | None = None
    # change of an exact count of instructions that does not matter: the margin, where one is given
    count_margin: float = 0.0

    @property
    def level(self) -> float:
        return 1 - self.fdr


@dataclass(frozen=True)
class Basis:
    """What the verdict on a pair by a noisy clock rests on.

    units: how many sessions, pairs of visits, runs or images (`unit`) either side has.
    note: what a reader must know about the comparison itself, as a phrase; may be empty.
    veto: why no verdict can be given whatever the change is; empty if one can.
    overall: the change of the overall latency, as a logarithm; None if it is not known.
    floor: the fraction that moving code alone may change; 0 if it cannot.
    """

    change: statistics.Change
    units: tuple[int, int]
    unit: str
    note: str = ""
    veto: str = ""
    overall: float | None = None
    disagreement: str = ""
    floor: float = 0.0


@dataclass(frozen=True)
class Finding:
    """The verdict on one circle. Changes are (after - before) / before; None if there is none.

    `interval` is of `change` and speaks about the next sessions, pairs of visits, runs or images,
    or about `these runs`, as `scope` says. `disagreement` says how the overall latency moved if it
    did not move with this one. `more` units a side would decide an undecided row;
    `minimum_detectable` is the smallest change that those at hand find, or, where a side has one
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
        return self.pair.key

    @property
    def unit(self) -> str:
        either = self.pair.before or self.pair.after
        return either.estimate.clock.unit if either else UNITS[0]

    @property
    def before(self) -> LevelsEstimate | None:
        return _latency(self.pair.before)

    @property
    def after(self) -> LevelsEstimate | None:
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


def for_rates(verdict: str, e: Estimate) -> str:
    """The verdict on an estimate of which more may be better."""
    if e.better == "higher":
        return {"regressed": "improved", "improved": "regressed"}.get(verdict, verdict)
    return verdict


def both(pair: Pair) -> tuple[Estimate, Estimate]:
    """The estimates of a pair that has two."""
    assert pair.before is not None
    assert pair.after is not None
    return pair.before.estimate, pair.after.estimate


def _latency(circle: Circle | None) -> LevelsEstimate | None:
    return None if circle is None else circle.estimate.latency
