# SPDX-License-Identifier: BSD-2-Clause
"""Comparison of sessions: visits on one axis of time, with the core's speed taken off.

The sessions of a side are its repetitions. What they differ by although nothing changed is not part
of what their visits show; `component` adds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from cyclometer.bundle.model import Contract
from cyclometer.compare import component
from cyclometer.compare.ancova import AlignedDifference, difference
from cyclometer.compare.component import Component
from cyclometer.compare.finding import Basis, Options, both, elsewhere, rough
from cyclometer.compare.pairing import Pair
from cyclometer.compare.statistics import Change, two_sided
from cyclometer.compare.surroundings import busier
from cyclometer.estimate.interval import student
from cyclometer.estimate.reference import CONTENTION
from cyclometer.estimate.rows import Estimate
from cyclometer.estimate.session import CLEAR, Session, satterthwaite

CORE_MOVED = 0.10
"""A core that is faster or slower by more than this fraction is taken for another machine."""
SEVERAL = 2.0
"""Errors of the change of plain means by which that of Huber's differs where visits have levels."""
SIGNS = 0.01
"""Significance at which the controls, by their signs, have moved to one side."""


def have(pair: Pair) -> bool:
    """Whether all that was measured of a pair lies on axes of time."""
    b, a = both(pair)
    return pair.on == "latency" and bool(b.sessions and a.sessions)


def bases(pairs: Sequence[Pair], options: Options) -> tuple[list[Basis], tuple[str, ...]]:
    """What the sessions of both sides say about each pair, and sentences about all of them; all
    pairs of a suite at once, because some of them are the controls of the others.
    """
    found = [difference(*(e.sessions for e in both(pair))) for pair in pairs]
    controls = [
        one
        for pair, one in zip(pairs, found, strict=True)
        if component.is_control(both(pair)[0].contract, one)
    ]
    common = component.of_controls(controls)
    moved = _machine_moved(controls, options) or _busy(pairs, found, options)
    if pairs and not moved:
        moved = busier(*(e.sessions for e in both(pairs[0])))
    of_pairs = [
        _basis(pair, one, common, moved, options) for pair, one in zip(pairs, found, strict=True)
    ]
    return of_pairs, _notes(pairs, found, controls, options) if pairs else ()


def _basis(
    pair: Pair, one: AlignedDifference, controls: Component | None, moved: str, options: Options
) -> Basis:
    b, a = both(pair)
    between = component.assumed(pair.key, b.sessions, a.sessions)
    if options.calibration is not None:
        known = options.calibration.component(pair.key, b.sessions, a.sessions, one.own_variance)
        between = known or between
    # The controls see less of the machine than system calls do: they can only make it more.
    if controls is not None and controls.variance > between.variance:
        between = controls
    variance, df = satterthwaite((*one.parts, (between.variance, between.df)))
    error = math.sqrt(variance)
    interval = student(one.value, error, df, options.level)
    p = two_sided(one.value, error, df)
    overall = _overall(b, a, one)
    return Basis(
        change=Change(one.value, error, df, interval, p),
        units=(len(b.sessions), len(a.sessions)),
        unit="session",
        note=f"sessions {between.source}",
        veto=moved or _core_moved(one) or _raced(b.contract) or _levels(one),
        overall=overall,
        disagreement=elsewhere(overall, interval, options),
    )


def _raced(contract: Contract) -> str:
    """Why sessions of a lock for which two CPUs contend tell of nothing, if its sides may sleep."""
    if ".contended" not in contract.key or "entries" in contract.counts():
        return ""
    return "how often its sides sleep is a race that each session decides anew"


def _levels(one: AlignedDifference) -> str:
    """Why the mean of most visits cannot be judged, if it did not change as the mean of all did.

    A circle that costs one of two latencies, as by the layout that a visit draws, has by chance
    more visits of the one in this session and of the other in that.
    """
    change, error = one.plain
    if abs(one.value - change) <= SEVERAL * error:
        return ""
    moved = [f"{100 * math.expm1(value):+.2g} %" for value in (one.value, change)]
    return f"visits have several levels: most of them moved by {moved[0]}, their mean by {moved[1]}"


def _overall(b: Estimate, a: Estimate, one: AlignedDifference) -> float:
    """The change of the overall latency at one speed of the core, as a logarithm."""
    before, after = (np.mean(np.log([run.overall.value for run in e.runs])) for e in (b, a))
    return float(after - before) - one.slope * (one.speed or 0.0)


def _machine_moved(controls: Sequence[AlignedDifference], options: Options) -> str:
    """Why no row can be judged, if circles that the kernel cannot move have moved together."""
    if len(controls) < component.FEWEST_CONTROLS:
        return ""
    moved = np.array([one.value for one in controls])
    middle = float(np.median(moved))
    alike = int(np.count_nonzero(np.sign(moved) == np.sign(middle)))
    # the sign test: how seldom chance moves so many to one side
    p = 2 * float(special.bdtrc(alike - 1, moved.size, 0.5))
    if abs(middle) <= math.log1p(options.margin) / 2 or p >= SIGNS:
        return ""
    share = f"{100 * math.expm1(middle):+.2g} %"
    return f"the machine moved: {moved.size} circles that stay in user code changed by {share}"


def _busy(pairs: Sequence[Pair], found: Sequence[AlignedDifference], options: Options) -> str:
    """Why no row can be judged, if what follows the caches alone has changed: work beside one of
    the sides makes the kernel more expensive in cycles, which no chain of instructions sees.
    """
    for pair, one in zip(pairs, found, strict=True):
        beyond = abs(one.value) > CLEAR * math.sqrt(one.own_variance)
        if pair.key in CONTENTION and beyond and abs(one.value) > math.log1p(options.margin) / 2:
            moved = f"{100 * math.expm1(one.value):+.2g} %"
            return f"one side was measured on a busier machine: {pair.key} changed by {moved}"
    return ""


def _notes(
    pairs: Sequence[Pair],
    found: Sequence[AlignedDifference],
    controls: Sequence[AlignedDifference],
    options: Options,
) -> tuple[str, ...]:
    """Sentences about the sessions, for whoever reads the verdicts."""
    b, a = both(pairs[0])
    seconds = [float(np.ptp(one.seconds)) for one in (*b.sessions, *a.sessions)]
    many = f"{len(b.sessions)} against {len(a.sessions)} sessions"
    lines = [f"{many} of about {np.median(seconds):.0f} s, {_apart(b.sessions, a.sessions)}."]
    speeds = [one.speed for one in found if one.speed is not None]
    if speeds:
        share = math.expm1(-float(np.median(speeds)))
        way = "faster" if share > 0 else "slower"
        lines[0] += f" The core ran {rough(abs(share))} {way} after: taken off each visit."
    if controls:
        moved = np.expm1([one.value for one in controls])
        spread = f" (sd {100 * moved.std(ddof=1):.2g} %)" if moved.size > 1 else ""
        middle = 100 * float(np.median(moved))
        lines.append(f"{moved.size} circles of user code moved by {middle:+.2g} %{spread}.")
    if options.calibration is None:
        lines.append(
            "How far sessions of this machine differ is assumed; `cyclometer doctor --calibrate` "
            "measures it."
        )
    return tuple(lines)


def _apart(before: Sequence[Session], after: Sequence[Session]) -> str:
    """How far the sessions of two sides lie apart, as a phrase."""
    boots = {one.occasion.boot for one in (*before, *after)}
    boot = "of one boot" if len(boots) == 1 and "" not in boots else "of other boots"
    if boots == {""}:
        boot = "of boots not known"
    began = [[s.occasion.began for s in side if s.occasion.began] for side in (before, after)]
    if not all(began):
        return boot
    minutes = abs((min(began[1]) - min(began[0])).total_seconds()) / 60
    return (
        f"{boot}, {minutes:.0f} min apart"
        if minutes < 120
        else f"{boot}, {minutes / 60:.0f} h apart"
    )


def _core_moved(one: AlignedDifference) -> str:
    """Why a pair cannot be judged, if the core ran at another speed altogether."""
    if one.speed is None or abs(one.speed) <= math.log1p(CORE_MOVED):
        return ""
    return f"the core's speed changed by {rough(abs(math.expm1(-one.speed)))}"
