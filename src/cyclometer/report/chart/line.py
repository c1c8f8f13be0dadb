# SPDX-License-Identifier: BSD-2-Clause
"""Accumulated latency A against test size N: the fitted line A = c + b N, and below it what the
line leaves over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cyclometer.estimate import digits, regimes
from cyclometer.estimate.marginal import MarginalFit
from cyclometer.estimate.midmean import midmean
from cyclometer.report.chart import plot
from cyclometer.report.circle import FloatArray, ReportedCircle
from cyclometer.report.markup import Markup, join

_SPLIT = 136  # pixel where the upper panel ends


@dataclass(frozen=True)
class _Points:
    """Quiet accumulated latency of every run at every size, shape (runs, sizes), and the line
    through them.
    """

    index: int
    circle: ReportedCircle
    N: FloatArray
    A: FloatArray
    fit: MarginalFit

    @property
    def residual(self) -> FloatArray:
        """What the line leaves over, in percent of A."""
        share: FloatArray = 100 * (self.A - self.fit.c - self.fit.b * self.N) / self.A
        return share


def draw(circles: Sequence[ReportedCircle]) -> plot.Chart | None:
    """The line and its residuals; None for circles of one size, whose c and b cannot be separated
    apart.
    """
    found = [points for i, c in enumerate(circles) if (points := _points(i, c)) is not None]
    if not found:
        return None
    N = np.concatenate([p.N for p in found])
    sizes = (0.0, float(N.max()) * 1.06)
    top = max(float(p.A.max()) for p in found) * 1.08
    upper = plot.frame(sizes, (0, top), "", f"A [{found[0].circle.unit}]", bottom=_SPLIT)
    reach = max(0.05, 1.15 * max(float(np.abs(p.residual).max()) for p in found))
    lower = plot.frame(
        sizes,
        (-reach, reach),
        "turns of a test, N",
        "off the line",
        top=_SPLIT + 26,
        percent_y=True,
    )
    lower.line_at(0.0, cls="zero")
    for p in found:
        ends = np.array([0.0, sizes[1]])
        line = plot.curve(upper.x.many(ends), upper.y.many(p.fit.c + p.fit.b * ends))
        upper.draw(plot.series(p.index, line, _dots(upper, p.N, p.A)))
        lower.draw(plot.series(p.index, _bend(lower, p), _dots(lower, p.N, p.residual)))
    sentence = "; ".join(_words(p) for p in found)
    body = join((upper.body(), lower.body()))
    return plot.Chart("A against N", sentence, body, tuple(c.label for c in circles))


def _points(index: int, circle: ReportedCircle) -> _Points | None:
    fit, tests = circle.estimate.fixed_cost, circle.tests.of(circle.tests.good)
    if fit is None:
        return None
    N = np.unique(tests.turns)
    groups = [
        [tests.value[(tests.run == run) & (tests.turns == n)] for n in N] for run in tests.runs()
    ]
    full = [group for group in groups if all(len(values) for values in group)]
    if not full:
        return None
    A = np.array([[_base(values) for values in group] for group in full])
    return _Points(index, circle, N.astype(np.float64), A, fit)


def _base(A: FloatArray) -> float:
    """What the fit takes of a run and size: the midmean of the base core."""
    low, high = regimes.base_core(np.sort(A))
    return midmean(np.sort(A[(low <= A) & (high >= A)]))


def _dots(f: plot.Frame, N: FloatArray, A: FloatArray) -> Markup:
    """A dot a run and size."""
    return plot.dots(f.x.many(np.broadcast_to(N, A.shape).ravel()), f.y.many(A.ravel()))


def _bend(f: plot.Frame, p: _Points) -> Markup:
    """A parabola through the residuals of three sizes or more, the curvature that the fit tests
    for.
    """
    if len(p.N) < 3:
        return join(())
    middle = np.median(p.residual, axis=0)
    x = np.linspace(p.N[0], p.N[-1], 17)
    return plot.curve(f.x.many(x), f.y.many(_parabola(p.N, middle, x)), "thin")


def _parabola(N: FloatArray, y: FloatArray, x: FloatArray) -> FloatArray:
    """At x, the parabola nearest to y over N."""
    return np.polyval(np.polyfit(N, y, 2), x).astype(np.float64)


def _words(p: _Points) -> str:
    fit, label = p.fit, f"{p.circle.label}: " if p.circle.label else ""
    holds = {
        True: "the line holds",
        False: "the line does not hold",
        None: "its bend cannot be tested",
    }
    b = digits.rounded(fit.b, fit.b_interval.half_width)
    c = digits.rounded(fit.c, fit.c_interval.half_width)
    return f"{label}A = {c} + {b} N {p.circle.unit}; {holds[fit.line_holds()]}"
