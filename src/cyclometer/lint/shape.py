# SPDX-License-Identifier: BSD-2-Clause
"""Rules about raw values against the mean that stands for them: cold passes, modes, periods, wrong
sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import Summary
from cyclometer.lint.view import Issue, Rule, Stretch, View, decimals, listed

# runs whose shape is examined; the cost of a rule must not grow with the number of runs
_LOOKED_AT = 8
_COLD_RATIO = 1.1


def _printed_means(rule: Rule, view: View) -> Iterator[Issue]:
    for index, printed in enumerate(view.summaries):
        wrong = []
        stretches = {(stretch.run, stretch.visit): stretch for stretch in view.stretches[index]}
        for summary in printed:
            stretch = stretches.get((summary.run, summary.visit))
            if summary.mean is None or stretch is None or summary.run < 0:
                continue
            values = (
                stretch.values
                if summary.group < 0
                else stretch.values[stretch.groups == summary.group]
            )
            # Cut or rounded in the last printed place, and computed from integers in between.
            tolerance = 1.01 * 10.0 ** -decimals(summary.mean) + 1e-9 * abs(summary.mean)
            if len(values) and abs(values.mean() - summary.mean) > tolerance:
                wrong.append(
                    f"run {summary.run} prints {summary.mean:g}, its values give "
                    f"{values.mean():.6g}"
                )
        if wrong:
            yield rule.found(f"{view.name(index)}: {listed(wrong, 2)}", [index])


def _cold(rule: Rule, view: View) -> Iterator[Issue]:
    for index, row in enumerate(view.rows):
        if row.method != "passes":
            continue
        stretches = {(stretch.run, stretch.visit): stretch for stretch in view.stretches[index]}
        inside = [
            (summary, stretch)
            for summary in view.summaries[index]
            if (stretch := stretches.get((summary.run, summary.visit)))
            and _has_cold(summary, stretch)
        ]
        if inside:
            summary, stretch = inside[0]
            warm = float(stretch.values[1:].mean())
            what = (
                f"{view.name(index)}: the first pass is inside the mean of {len(inside)} of "
                f"{len(stretches)} runs; "
                f"in run {summary.run} it took {stretch.values[0]:g}, the mean is {summary.mean:g} "
                "with it and "
                f"{warm:.4g} without"
            )
            yield rule.found(what, [index])


def _has_cold(summary: Summary, stretch: Stretch) -> bool:
    """Whether the first pass is well above the others and the printed mean contains it."""
    values = stretch.values
    if len(values) < 4 or summary.mean is None or values[0] <= _COLD_RATIO * np.median(values[1:]):
        return False
    return bool(abs(values.mean() - summary.mean) < abs(values[1:].mean() - summary.mean))


def _modes(rule: Rule, view: View) -> Iterator[Issue]:
    for index, stretches in enumerate(view.stretches):
        if not view.is_time(index):
            continue
        looked_at = [s for s in islice(stretches, _LOOKED_AT) if len(s.values) >= 30]
        found = [modes for s in looked_at if (modes := two_modes(s.per_turn))]
        if found and 2 * len(found) > len(looked_at):
            low, high, share = found[0]
            what = (
                f"{view.name(index)}: two modes, at {low:.4g} and {high:.4g} ({share:.0%} of the "
                "values), in "
                f"{len(found)} of {len(looked_at)} runs examined; the mean {view.means[index]:.4g} "
                "is neither"
            )
            yield rule.found(what, [index])


def two_modes(values: NDArray[np.float64]) -> tuple[float, float, float] | None:
    """(lower mode, upper mode, share of the values in the upper one) where a sample has two clear
    modes, else None.

    Two modes are peaks of a Gaussian kernel density of the logarithms (Silverman's bandwidth, of
    the middle half so that tails do not widen it), with a valley below half of the lower peak
    between them, each with a tenth of the values at least, more than 1 % and three steps of the
    clock apart.
    """
    if len(values) < 30 or values.min() <= 0 or len(np.unique(values)) < 4:
        return None
    x = np.log(values)
    core = x[(x >= np.quantile(x, 0.02)) & (x <= np.quantile(x, 0.98))]
    width = 0.9 * core.std() * len(x) ** -0.2 / 2
    if width <= 0:
        return None
    grid = np.linspace(core.min() - 3 * width, core.max() + 3 * width, 256)
    counts, edges = np.histogram(core, bins=2048)
    centres = (edges[:-1] + edges[1:]) / 2
    density = (
        np.exp(-0.5 * ((grid[:, None] - centres[None, counts > 0]) / width) ** 2)
        @ counts[counts > 0]
    )
    peaks = np.flatnonzero((density[1:-1] > density[:-2]) & (density[1:-1] >= density[2:])) + 1
    if len(peaks) < 2:
        return None
    first, second = sorted(peaks[np.argsort(density[peaks])[-2:]])
    valley = first + int(np.argmin(density[first : second + 1]))
    share = float((x > grid[valley]).mean())
    low, high = float(np.exp(grid[first])), float(np.exp(grid[second]))
    step = float(np.diff(np.unique(values)).min())
    deep = density[valley] < 0.5 * min(density[first], density[second])
    apart = high - low > max(0.01 * low, 3 * step)
    return (low, high, share) if deep and apart and 0.1 <= share <= 0.9 else None


def _periods(rule: Rule, view: View) -> Iterator[Issue]:
    for index, stretches in enumerate(view.stretches):
        if not view.is_time(index):
            continue
        looked_at = [s for s in islice(stretches, _LOOKED_AT) if len(s.values) >= 32]
        found = [period for s in looked_at if (period := period_of(s.per_turn))]
        if found and 2 * len(found) > len(looked_at):
            usual = max(set(found), key=found.count)
            what = (
                f"{view.name(index)}: one value in {usual} differs, in {len(found)} of "
                f"{len(looked_at)} runs examined"
            )
            yield rule.found(what, [index])


def period_of(values: NDArray[np.float64], longest: int = 16) -> int | None:
    """The k for which every k-th value differs from the others, None if there is none.

    For each k the ranks of the values are grouped by position modulo k and compared with Kruskal
    and Wallis' H (1952); the least k counts whose share of explained variance is near the best and
    whose probability, times the number of k tried, is below 1e-4.
    """
    from scipy.special import gammaincc

    n = len(values)
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    total = ((ranks - ranks.mean()) ** 2).sum()
    if total == 0:
        return None
    explained: dict[int, float] = {}
    for k in range(2, min(longest, n // 5) + 1):
        groups = [ranks[i::k] for i in range(k)]
        between = sum(len(g) * (g.mean() - ranks.mean()) ** 2 for g in groups)
        # of H, chi-square with k - 1 degrees
        p = float(gammaincc((k - 1) / 2, (n - 1) * between / total / 2))
        if p * longest < 1e-4:
            explained[k] = float(between / total)
    if not explained:
        return None
    best = max(explained.values())
    return min(k for k, share in explained.items() if share >= 0.8 * best)


RULES = (
    Rule(
        "printed-mean",
        "error",
        "the printed mean is not that of the listed values",
        "The mean was computed from other values, by a wrong divisor, or cut too early.",
        "Use the listed values; ask what the printed mean is of.",
        _printed_means,
    ),
    Rule(
        "cold-in-mean",
        "warning",
        "cold first passes inside a mean",
        "The first pass meets cold caches and translation buffers and is another quantity than "
        "those that follow; "
        "inside the mean it makes a warm figure too large by an amount that depends on the number "
        "of passes.",
        "Report the first pass on its own and the others without it.",
        _cold,
    ),
    Rule(
        "two-modes",
        "warning",
        "two modes hidden by a mean",
        "The values fall into two groups, so the mean is a latency that hardly ever happens, and a "
        "change of the "
        "mixture looks like a change of the kernel.",
        "Report both modes with their shares, and find what decides between them.",
        _modes,
    ),
    Rule(
        "period",
        "warning",
        "one value in k is different",
        "A pattern that repeats with the loop comes from the rig (stores to memory, alignment, "
        "counters), not from "
        "what is measured; it also makes the values dependent, so that the standard error is "
        "wrong.",
        "Store results outside the timed loop, or unroll it; test the values for independence.",
        _periods,
    ),
)
