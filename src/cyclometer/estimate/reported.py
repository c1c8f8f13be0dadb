# SPDX-License-Identifier: BSD-2-Clause
"""Rows for which a foreign tool printed statistics only: one latency per run, and what its interval
assumes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cyclometer.bundle.model import Flow, Summary
from cyclometer.estimate import levels, summary
from cyclometer.estimate.interval import Interval
from cyclometer.estimate.regimes import Regime


@dataclass(frozen=True)
class Reported:
    """`runs`: (run, latency of a turn) in order; `failed`: why the tool's own verdict forbids their
    use, or empty.

    `others` of each run: its mean, and of single turns p99 and max, where the tool printed them.
    `assumption` must be printed beside intervals; it is empty where several runs make it needless.
    """

    runs: tuple[tuple[int, Regime], ...]
    failed: str
    assumption: str
    others: Mapping[int, Mapping[str, float]] = field(default_factory=dict)


def estimate(summaries: Sequence[Summary], flow: Flow | None, level: float = 0.95) -> Reported:
    """The latencies of one row from all its summaries, by run.

    A run's interval is Student's from mean, sd and n, or comes from the spread of its visits where
    it has several; with neither it is the whole line. A figure over all runs (run -1) counts only
    where no run has its own. Values are per turn, in the unit of the summaries.
    """
    own = [s for s in summaries if s.run >= 0] or list(summaries)
    by_run: dict[int, list[Regime]] = {}
    for one in own:
        figure = _figure(one, flow, level)
        if figure is not None:
            by_run.setdefault(one.run, []).append(figure)
    runs = tuple((run, _one_run(figures, level)) for run, figures in sorted(by_run.items()))
    assumed = len(runs) == 1 and math.isfinite(runs[0][1].interval.half_width)
    others = {
        run: _others([one for one in own if one.run == run and one.status == "ok"], flow)
        for run in by_run
    }
    return Reported(runs, _failed(own), summary.ASSUMPTION if assumed else "", others)


def _others(printed: Sequence[Summary], flow: Flow | None) -> dict[str, float]:
    """Mean, p99 and max of one run of single turns; p99 only if there is one figure of it."""
    if flow is not None and any(one.group >= 0 for one in printed):
        return {}
    found: dict[str, float] = {}
    means = [one.mean for one in printed if one.mean is not None]
    most = [one.maximum for one in printed if one.maximum is not None]
    if means and len(means) == len(printed):
        found["mean"] = math.fsum(means) / len(means)
    if len(printed) == 1 and "0.99" in printed[0].quantiles:
        found["p99"] = printed[0].quantiles["0.99"]
    return found | ({"max": max(most)} if most else {})


def _figure(one: Summary, flow: Flow | None, level: float) -> Regime | None:
    """The mean, else the median, of one summary as a latency of a turn; None if the tool printed
    neither.
    """
    value = one.median if one.mean is None else one.mean
    if one.status != "ok" or value is None or not math.isfinite(value):
        return None
    turns = flow.initial + one.group * flow.delta if flow is not None and one.group >= 0 else 1
    interval = Interval(-math.inf, math.inf, level)
    if one.mean is not None and one.sd is not None and one.n:
        interval = summary.estimate(one.mean, one.sd, one.n, level).interval
    return Regime(value / turns, interval.scaled(1 / turns), one.n or 0, 1.0)


def _one_run(figures: list[Regime], level: float) -> Regime:
    if len(figures) == 1:
        return figures[0]
    over_visits = levels.combine([f.value for f in figures], level=level)
    return Regime(over_visits.value, over_visits.interval, sum(f.tests for f in figures), 1.0)


def _failed(summaries: Sequence[Summary]) -> str:
    bad = [s for s in summaries if s.status != "ok"]
    if not bad:
        return ""
    note = f": {bad[0].note}" if bad[0].note else ""
    where = f" in {len(bad)} of {len(summaries)} figures" if len(summaries) > 1 else ""
    return f"the tool reports it as {bad[0].status}{where}{note}"
