# SPDX-License-Identifier: BSD-2-Clause
"""The share of tests at or below a latency: all runs together, and each run thin beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cyclometer.report.chart import plot
from cyclometer.report.circle import FloatArray, ReportedCircle
from cyclometer.report.markup import Markup

_STEP_PX, _RUN_STEP_PX = 1.0, 4.0  # steps closer than this are drawn as one, to its full height
_MOST_RUNS = 8  # drawn one by one; more would be a smear
_WIDE = 3  # a range of more than this factor is drawn on a log scale, so that a tail fits


def draw(circles: Sequence[ReportedCircle]) -> plot.Chart | None:
    """Empirical distribution functions of the tests that count; None if no circle has two."""
    kept = [(i, c) for i, c in enumerate(circles) if np.count_nonzero(c.tests.good) > 1]
    if not kept:
        return None
    low, high = _range([c.tests.latency[c.tests.good] for _, c in kept])
    unit = kept[0][1].unit
    f = plot.frame(
        (low, high),
        (0, 100),
        f"{unit} per turn",
        "tests at or below",
        low > 0 and high > _WIDE * low,
        percent_y=True,
    )
    for index, circle in kept:
        tests = circle.tests.of(circle.tests.good)
        runs = tests.runs()
        thin = [_steps(f, tests.latency[tests.run == run], _RUN_STEP_PX, "thin") for run in runs]
        f.draw(
            plot.series(
                index,
                *(thin if 1 < len(runs) <= _MOST_RUNS else []),
                _steps(f, tests.latency, _STEP_PX),
            )
        )
    sentence = "Distribution of the tests: " + "; ".join(_words(c) for _, c in kept)
    return plot.Chart("Distribution (ECDF)", sentence, f.body(), tuple(c.label for c in circles))


def _range(latencies: Sequence[FloatArray]) -> tuple[float, float]:
    """From the least to the greatest of all, with a margin."""
    low = min(float(values.min()) for values in latencies)
    high = max(float(values.max()) for values in latencies)
    margin = max(0.03 * (high - low), 0.0005 * abs(high), 1e-9)
    return low - margin if low - margin > 0 or low <= 0 else low, high + margin


def _steps(f: plot.Frame, latency: FloatArray, step_px: float, cls: str = "curve") -> Markup:
    """The distribution function as it is: it rises at each value, and is level in between."""
    x = np.round(f.x.many(np.sort(latency)) / step_px) * step_px
    last = np.flatnonzero(np.diff(x, append=np.inf))  # of the values that share a place
    height = 100 * (last + 1) / len(x)
    level = np.concatenate([[0.0], height[:-1]])
    corners = np.column_stack([level, height]).ravel()
    return plot.curve(np.repeat(x[last], 2), f.y.many(corners), cls)


def _words(circle: ReportedCircle) -> str:
    latency = circle.tests.latency[circle.tests.good]
    middle, tail = np.quantile(latency, (0.5, 0.99))
    label = f"{circle.label} " if circle.label else ""
    return f"{label}median {middle:.6g}, 99 % at or below {tail:.6g} {circle.unit}"
