# SPDX-License-Identifier: BSD-2-Clause
"""Passes from cold to hot: how fast a circle warms up after an eviction of caches and TLB."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cyclometer.report.chart import plot
from cyclometer.report.circle import FloatArray, ReportedCircle

_WIDE = 8  # a range of more than this factor is drawn on a log scale


def draw(circles: Sequence[ReportedCircle]) -> plot.Chart | None:
    """Every run's passes thin, their median over the runs bold; None if no passes were
    measured.
    """
    kept = [(i, c, _passes(c)) for i, c in enumerate(circles) if len(c.passes)]
    if not kept:
        return None
    low = min(float(values.min()) for _, _, values in kept)
    high = max(float(values.max()) for _, _, values in kept)
    most = max(values.shape[1] for _, _, values in kept)
    log = low > 0 and high > _WIDE * low
    ends = (low * 0.85, high * 1.18) if log else (min(0.0, low), high * 1.08)
    f = plot.frame(
        (0.5, most + 0.5), ends, "pass after an eviction", f"{kept[0][1].unit} per pass", log_y=log
    )
    for index, _, values in kept:
        x = f.x.many(np.arange(1.0, values.shape[1] + 1))
        middle = f.y.many(np.median(values, axis=0))
        thin = [plot.curve(x, f.y.many(run), "thin") for run in values]
        f.draw(plot.series(index, *thin, plot.curve(x, middle), plot.dots(x, middle)))
    sentence = "Cold against hot: " + "; ".join(_words(c, values) for _, c, values in kept)
    return plot.Chart("Cold against hot", sentence, f.body(), tuple(c.label for c in circles))


def _passes(circle: ReportedCircle) -> FloatArray:
    """Passes by run, shape (runs, passes); a visit broken off is left out, a further visit of a run
    is one more row.
    """
    order = circle.passes.value
    starts = np.flatnonzero(circle.passes.test == 0)
    visits = np.split(order, starts[1:]) if len(starts) else [order]
    longest = max(len(visit) for visit in visits)
    return np.array([visit for visit in visits if len(visit) == longest])


def _words(circle: ReportedCircle, values: FloatArray) -> str:
    first, last = np.median(values[:, 0]), np.median(values[:, -1])
    label = f"{circle.label} " if circle.label else ""
    return (
        f"{label}first pass {first:.0f}, pass {values.shape[1]} {last:.0f} {circle.unit}, "
        f"medians over {len(values)}"
    )
