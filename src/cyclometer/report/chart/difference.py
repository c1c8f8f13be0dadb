# SPDX-License-Identifier: BSD-2-Clause
"""By how much each quantile changed: a shift moves all of them alike, a new tail only the last
ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cyclometer.compare import statistics
from cyclometer.report.chart import plot
from cyclometer.report.circle import FloatArray, ReportedCircle

_SHARES = np.array([0.01, 0.02, 0.05, *np.arange(0.1, 0.91, 0.05), 0.95, 0.98, 0.99])
_FEW = 20  # tests of a run that suffice for its quantiles


def draw(circles: Sequence[ReportedCircle]) -> plot.Chart | None:
    """Change of every quantile from the first circle to the second, with its interval over runs
    (Welch, on logs).

    None unless there are two, each with enough tests, all latencies positive.
    """
    if len(circles) != 2:
        return None
    before, after = (_quantiles(circle) for circle in circles)
    if before is None or after is None:
        return None
    changes = [statistics.change(b, a) for b, a in zip(before.T, after.T, strict=True)]
    middle = 100 * np.array([c.fraction for c in changes])
    ends = 100 * np.array([[c.interval.low, c.interval.high] for c in changes])
    known = np.isfinite(ends).all()
    f = plot.frame(
        (0, 100),
        _range(middle, ends if known else middle),
        "quantile [%]",
        "change",
        percent_y=True,
    )
    f.line_at(0.0, cls="zero")
    x = f.x.many(100 * _SHARES)
    parts = [plot.band(x, f.y.many(ends[:, 0]), f.y.many(ends[:, 1]))] if known else []
    f.draw(plot.series(1, *parts, plot.curve(x, f.y.many(middle))))
    sentence = (
        f"Change of the quantiles from {circles[0].label} to {circles[1].label}: "
        f"1 % {middle[0]:+.2f} %, median {np.interp(0.5, _SHARES, middle):+.2f} %, 99 % "
        f"{middle[-1]:+.2f} %"
    )
    return plot.Chart("Change by quantile", sentence, f.body())


def _quantiles(circle: ReportedCircle) -> FloatArray | None:
    """Quantiles of every run, shape (runs, shares)."""
    tests = circle.tests.of(circle.tests.good)
    latencies = [tests.latency[tests.run == run] for run in tests.runs()]
    latencies = [values for values in latencies if len(values) >= _FEW and values.min() > 0]
    return np.array([np.quantile(values, _SHARES) for values in latencies]) if latencies else None


def _range(middle: FloatArray, ends: FloatArray) -> tuple[float, float]:
    """Around all changes and zero; an interval far wider than the changes is cut."""
    reach = max(3 * float(np.ptp(np.append(middle, 0.0))), 1.0)
    low = min(0.0, float(middle.min()), max(float(ends.min()), float(middle.min()) - reach))
    high = max(0.0, float(middle.max()), min(float(ends.max()), float(middle.max()) + reach))
    return low - 0.06 * (high - low) - 0.1, high + 0.06 * (high - low) + 0.1
