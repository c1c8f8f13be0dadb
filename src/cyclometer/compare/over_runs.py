# SPDX-License-Identifier: BSD-2-Clause
"""Comparison of runs: boots, printed figures, or whatever has no axis of time.

A pair with one run on a side says nothing about the next run and stays undecided, whatever its
interval within those runs looks like.
"""

from __future__ import annotations

import math

import numpy as np

from cyclometer.compare import exact, statistic, statistics
from cyclometer.compare.finding import Basis, Finding, Options, both, rough
from cyclometer.compare.pairing import Pair
from cyclometer.compare.statistics import Change
from cyclometer.compare.surroundings import busier
from cyclometer.estimate.interval import critical_value, student
from cyclometer.estimate.rows import Estimate
from cyclometer.estimate.session import satterthwaite


def basis(pair: Pair, options: Options) -> Basis:
    """What the runs of both sides say."""
    b, a = both(pair)
    of_runs = _with_common_error(pair, _change(pair, options.level))
    change, between = statistic.among_sessions(pair, of_runs, options)
    overall = _change(pair, options.level, overall=True)
    note = "the runs differ although the clock is exact" if b.clock.exact else between
    if exact.several_images(pair):
        before, after = exact.images(pair)
        note = f"{before} against {after} images"
    return Basis(
        change=change,
        units=(len(b.runs), len(a.runs)),
        unit="image" if exact.several_images(pair) else "run",
        note=note,
        veto=busier(b.sessions, a.sessions) if between else "",
        overall=overall.log_ratio,
        disagreement=_disagreement(change, overall, options),
        floor=exact.noisy_floor(pair, options),
    )


def too_few(pair: Pair, found: Basis, options: Options) -> Finding:
    """One run on a side: the change, its interval within these runs, and the least that would
    decide it.
    """
    b, a = both(pair)
    assert b.latency is not None
    assert a.latency is not None
    interval = statistics.within(
        (b.latency.value, b.latency.interval), (a.latency.value, a.latency.interval)
    )
    bounded = math.isfinite(interval.high)
    variances = (_run_variance(b, a), _run_variance(a, b))
    plan = _plan(found, variances, options)
    return Finding(
        pair=pair,
        verdict="undecided",
        reason=f"one {found.unit} of {alone(pair)}; {_needed(variances, plan)}",
        change=found.change.fraction,
        interval=interval if bounded else None,
        scope="these runs" if bounded else "",
        minimum_detectable=plan.minimum_detectable if plan else None,
        more=plan.more if plan else (1 if None in variances else None),
        overall_change=None if found.overall is None else math.expm1(found.overall),
    )


def alone(pair: Pair) -> str:
    """The side that has one run only."""
    b, a = both(pair)
    return (
        "either side" if len(b.runs) == len(a.runs) else "before" if len(b.runs) == 1 else "after"
    )


def _change(pair: Pair, level: float, overall: bool = False) -> Change:
    before, after = (
        [(run.overall if overall else run.latency).value for run in e.runs] for e in both(pair)
    )
    # Whole numbers are counts of a clock: runs that agree to the digit are still known to no better
    # than half of its step.
    whole = all(value.is_integer() for value in before + after)
    resolution = max(1.0, *(run.step for e in both(pair) for run in e.runs)) if whole else 0.0
    return statistics.change(before, after, level, resolution)


def _with_common_error(pair: Pair, found: Change) -> Change:
    """The change with the errors that the runs of a side have in common, such as that of one fixed
    cost taken off all of them: their spread does not show it.
    """
    level, parts = found.log_interval.level, [(found.standard_error**2, found.df)]
    for e in both(pair):
        known, df = e.latency, len(e.runs) - 1
        if known is not None and known.shared and df:
            error = known.shared / critical_value(known.interval.level, df) / known.value
            parts.append((error**2, df))
    if len(parts) == 1 or not math.isfinite(found.standard_error):
        return found
    variance, df_of_all = satterthwaite(tuple(parts))
    error = math.sqrt(variance)
    return Change(
        found.log_ratio,
        error,
        df_of_all,
        student(found.log_ratio, error, df_of_all, level),
        statistics.two_sided(found.log_ratio, error, df_of_all),
    )


def _disagreement(change: Change, overall: Change, options: Options) -> str:
    """How the overall latency moved, if it surely did not move with this one."""
    apart = abs(overall.log_ratio - change.log_ratio) > math.log1p(options.margin)
    sure = math.isfinite(overall.standard_error)
    if not apart or not sure or overall.log_interval.contains(change.log_ratio):
        return ""
    return f"overall moved by {100 * overall.fraction:+.2f} %"


def _plan(
    found: Basis, variances: tuple[float | None, float | None], options: Options
) -> statistics.FurtherRuns | None:
    before, after = variances
    if before is None or after is None:
        return None
    log_ratio = found.change.log_ratio
    return statistics.plan(log_ratio, (before, after), found.units, options.level, options.margin)


def _needed(
    variances: tuple[float | None, float | None], plan: statistics.FurtherRuns | None
) -> str:
    """The least further runs per side, as a phrase."""
    if plan is not None:
        found = rough(plan.minimum_detectable)
        return f"needed: at least {plan.more} more per side (to find changes from {found})"
    if None in variances:
        return "needed: at least 1 more per side (spread unknown)"
    return f"even {statistics.MOST_UNITS} more per side would not decide"


def _run_variance(e: Estimate, other: Estimate) -> float | None:
    """Variance of the log estimate of a run: from the runs, else from the other side's, else from
    within the run.
    """
    for one in (e, other):
        if len(one.runs) > 1:
            return float(np.var(np.log([run.latency.value for run in one.runs]), ddof=1))
    interval = e.runs[0].latency.interval
    relative = interval.half_width / e.runs[0].latency.value
    # No spread at all within a run, as on a coarse clock, says nothing about the spread of runs.
    if not relative or not math.isfinite(relative):
        return None
    return (relative / critical_value(interval.level)) ** 2
