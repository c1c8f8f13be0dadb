# SPDX-License-Identifier: BSD-2-Clause
"""Latency over arrival: every test, binned, with what was set aside."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cyclometer.report import table
from cyclometer.report.chart import plot
from cyclometer.report.circle import ReportedCircle, Tests
from cyclometer.report.markup import Markup, short, tag

COLUMNS, ROWS = 64, 32
LEVELS = 3
"""Shades of density; each is a factor, so that rare tests stay visible beside crowded cells."""
_ROOM = 14  # pixels that a run needs to have its number above it


def draw(circles: Sequence[ReportedCircle], which: int = 0) -> plot.Chart | None:
    """The tests of circle `which`, on the scale that all `circles` share; None if there are
    fewer than two.
    """
    circle = circles[which]
    if len(circle.tests) < 2:
        return None
    tests, e = circle.tests, circle.estimate
    f = plot.frame(
        (0, len(tests)), _range(circles), "tests in order of runs and arrival", _label(circle)
    )
    f.draw(*_run_marks(f, tests, plot.LETTER_PX * len(_label(circle))))
    f.draw(plot.series(which, *_cells(f, tests, tests.good)))
    f.draw(tag("g", *_cells(f, tests, ~tests.good, levels=1), cls="aside", transform=plot.GRAINS))
    if e.latency is not None:
        f.line_at(e.latency.value, f"latency {table.latency(e.latency)}")
    title = f"Samples over time{f', {circle.label}' if len(circles) > 1 else ''}"
    return plot.Chart(title, _sentence(circle), f.body())


def _label(circle: ReportedCircle) -> str:
    return f"{circle.unit} per turn"


def _range(circles: Sequence[ReportedCircle]) -> tuple[float, float]:
    """One range for all, so that two drawings side by side may be compared by eye."""
    ends = []
    for c in circles:
        if len(c.tests):
            latency = c.tests.latency
            ends.append(plot.robust_range(latency[c.tests.good] if c.tests.good.any() else latency))
    return min(low for low, _ in ends), max(high for _, high in ends)


def _cells(
    f: plot.Frame, tests: Tests, mask: NDArray[np.bool_], levels: int = LEVELS
) -> list[Markup]:
    """Occupied cells as strokes in cell units; a value beyond the scale is in the outermost
    row.
    """
    if not mask.any():
        return []
    columns = min(COLUMNS, len(tests))
    x = np.flatnonzero(mask) * columns // len(tests)
    y = (
        ((f.y.high - tests.latency[mask]) / (f.y.high - f.y.low) * ROWS)
        .clip(0, ROWS - 1)
        .astype(int)
    )
    counts = np.bincount(y * columns + x, minlength=ROWS * columns).reshape(ROWS, columns)
    shade = _shades(counts, levels)
    wide, high = (
        (f.x.stop - f.x.start) / columns / plot.GRAIN,
        (f.y.start - f.y.stop) / ROWS / plot.GRAIN,
    )
    where = (
        f"translate({short(f.x.start / plot.GRAIN)} {short(f.y.stop / plot.GRAIN)}) "
        f"scale({wide:.4f} {high:.4f})"
    )
    drawn = [
        tag("path", cls=f"d{level}", d=_strokes(shade == level)) for level in range(1, levels + 1)
    ]
    return [tag("g", *drawn, cls="cells", transform=where)]


def _shades(counts: NDArray[np.intp], levels: int) -> NDArray[np.intp]:
    """0 for empty cells, else 1 to `levels` by the logarithm of the count."""
    most = np.log2(counts.max()) or 1.0
    step = np.ceil(np.log2(np.maximum(counts, 1)) / most * levels).astype(np.intp).clip(1, levels)
    return np.where(counts > 0, step, 0)


def _strokes(cells: NDArray[np.bool_]) -> str:
    """Horizontal strokes through the set cells, neighbours joined; a stroke is one unit thick."""
    edges = np.diff(np.pad(cells, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(edges == 1)
    _, stops = np.nonzero(edges == -1)
    parts, pen = [], (-1, 0)
    for row, start, stop in zip(rows.tolist(), starts.tolist(), stops.tolist(), strict=True):
        move = f"m{start - pen[1]} 0" if row == pen[0] else f"M{start} {row}.5"
        parts.append(f"{move}h{stop - start}")
        pen = (row, stop)
    return "".join(parts)


def _run_marks(f: plot.Frame, tests: Tests, from_px: float) -> list[Markup]:
    """Where each run begins; runs are named right of the axis' label, which ends at `from_px`."""
    starts = np.flatnonzero(np.diff(tests.run)) + 1
    bottom = f.y.start
    lines = "".join(
        f"M{short(f.x(float(start)))} {short(f.y.stop)}V{short(bottom)}" for start in starts
    )
    marks = [tag("path", cls="runs", d=lines)] if lines else []
    edges = [0, *starts.tolist(), len(tests)]
    word = "run " if len(edges) < 7 else ""
    for run, (start, stop) in zip(tests.runs(), pairwise(edges), strict=True):
        middle = f.x((start + stop) / 2)
        if f.x(stop) - f.x(start) > _ROOM and middle > from_px + _ROOM:
            marks.append(
                tag(
                    "text",
                    f"{word}{run}",
                    cls="middle note",
                    x=middle,
                    y=f.y.stop - 10,
                )
            )
    return marks


def _sentence(circle: ReportedCircle) -> str:
    tests = circle.tests
    latency = tests.latency[tests.good] if tests.good.any() else tests.latency
    low, middle, high = np.quantile(latency, (0.01, 0.5, 0.99))
    aside = int(np.count_nonzero(~tests.good))
    return (
        f"Samples over time: {len(tests)} tests in {len(tests.runs())} runs, median {middle:.6g}, "
        f"1 % to 99 % from {low:.6g} to {high:.6g} {circle.unit}; {aside} tests set aside"
    )
