# SPDX-License-Identifier: BSD-2-Clause
"""Comparing on another statistic than the latency: base, overall, mean, 99 % quantile, maximum.

Each is a value per run, and runs are what is compared. The runs of a session are interleaved, so
they agree about one minute: how far sessions differ is added, as for latencies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from cyclometer.compare import component, statistics
from cyclometer.compare.finding import Options, both
from cyclometer.compare.pairing import ComparedCircle, Pair
from cyclometer.compare.statistics import Change
from cyclometer.estimate import levels
from cyclometer.estimate.interval import Interval, student
from cyclometer.estimate.latencies import RunEstimate
from cyclometer.estimate.regimes import Regime
from cyclometer.estimate.session import satterthwaite

SURE = 0.99
"""Level at which the mean or the 99 % quantile must have moved elsewhere to forbid `equivalent`."""
DOUBTED = ("mean", "p99")


def chosen(pairs: Sequence[Pair], options: Options) -> list[Pair]:
    """The pairs on every statistic that is asked for, as far as both sides have it. Those that
    are not to be judged at all, such as a circle that was removed, come once and as they are.
    """
    found: list[Pair] = []
    for number, name in enumerate(options.on):
        for pair in pairs:
            if _is_judged(pair):
                on = _on_pair(pair, name, options.level)
                found += [on] if on is not None else []
            elif not number:
                found.append(pair)
    return found


def _is_judged(pair: Pair) -> bool:
    sides = [circle for circle in (pair.before, pair.after) if circle is not None]
    return len(sides) == 2 and not pair.refusal and all(one.estimate.valid for one in sides)


def _on_pair(pair: Pair, name: str, level: float) -> Pair | None:
    """The pair with this statistic of every run as its latency; None if a side lacks it."""
    if name == "latency":
        return pair
    assert pair.before is not None
    assert pair.after is not None
    before, after = _on_circle(pair.before, name, level), _on_circle(pair.after, name, level)
    return None if before is None or after is None else Pair(before, after, on=name)


def _on_circle(circle: ComparedCircle, name: str, level: float) -> ComparedCircle | None:
    e = circle.estimate
    found = [one for run in e.runs if (one := _of_run(run, name, level)) is not None]
    if not found or len(found) < len(e.runs):
        return None
    runs = tuple(replace(run, latency=one) for run, one in zip(e.runs, found, strict=True))
    own = [found[0].interval] if len(found) == 1 else None
    latency = levels.combine([one.value for one in found], own, level)
    return replace(circle, estimate=replace(e, runs=runs, latency=latency))


def _of_run(run: RunEstimate, name: str, level: float) -> Regime | None:
    if name in ("base", "overall"):
        return run.base if name == "base" else run.overall
    if name not in run.others:
        return None
    return Regime(run.others[name], Interval(-math.inf, math.inf, level), run.overall.tests, 1.0)


def among_sessions(pair: Pair, found: Change, options: Options) -> tuple[Change, str]:
    """The change of runs with how far sessions differ added to its error, and a phrase that says
    how far; the change as it is if a side has no session, or both took turns in one.
    """
    b, a = both(pair)
    paired = {one.occasion.paired for one in (*b.sessions, *a.sessions)}
    shared = len(paired) == 1 and paired != {""}
    if not b.sessions or not a.sessions or shared or not math.isfinite(found.standard_error):
        return found, ""
    own = found.standard_error**2
    between = component.assumed(pair.key, b.sessions, a.sessions)
    if options.calibration is not None:
        known = options.calibration.component(pair.key, b.sessions, a.sessions, own)
        between = known or between
    variance, df = satterthwaite(((own, found.df), (between.variance, between.df)))
    error, level = math.sqrt(variance), found.log_interval.level
    interval = student(found.log_ratio, error, df, level)
    p = statistics.two_sided(found.log_ratio, error, df)
    return Change(found.log_ratio, error, df, interval, p), f"sessions {between.source}"


def elsewhere(pair: Pair, found: Change, options: Options) -> tuple[str, float] | None:
    """How the mean or the 99 % quantile moved, in words and as a logarithm, if it surely did not
    move with the latency; None if both did, or runs are too few to say.
    """
    for name in DOUBTED:
        before, after = ([run.others.get(name, 0.0) for run in e.runs] for e in both(pair))
        if min(*before, *after) <= 0:
            continue
        other, _ = among_sessions(pair, statistics.change(before, after, SURE), options)
        apart = abs(other.log_ratio - found.log_ratio) > math.log1p(options.margin)
        sure = math.isfinite(other.standard_error)
        if sure and apart and not other.log_interval.contains(found.log_ratio):
            return f"{name} moved by {100 * other.fraction:+.2f} %", other.log_ratio
    return None
