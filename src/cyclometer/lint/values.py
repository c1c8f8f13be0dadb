# SPDX-License-Identifier: BSD-2-Clause
"""Rules about figures that cannot be what they are printed as: sentinels, wraps, negatives, steps
of the clock.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

import numpy as np

from cyclometer.bundle.model import Summary
from cyclometer.lint.view import Gathered, Issue, Rule, View, is_overhead_of, listed, once


def _zeros(rule: Rule, view: View) -> Iterator[Issue]:
    for index, printed in enumerate(view.summaries):
        wrong: dict[str, None] = {}
        for summary in printed:
            wrong |= dict.fromkeys(name for name, value in _impossible(summary) if value == 0)
        if wrong:
            yield rule.found(
                f"{view.name(index)}: {listed(list(wrong))} printed as 0 beside a mean that is not",
                [index],
            )


def _contradictions(rule: Rule, view: View) -> Iterator[Issue]:
    for index, printed in enumerate(view.summaries):
        for summary in printed:
            wrong = [f"{name} {value:g}" for name, value in _impossible(summary) if value != 0]
            if wrong:
                limits = (
                    f"mean {_shown(summary.mean)}, min {_shown(summary.minimum)}, max "
                    f"{_shown(summary.maximum)}"
                )
                yield rule.found(
                    f"{view.name(index)}: {listed(wrong)} cannot stand beside {limits}", [index]
                )
                break


def _impossible(summary: Summary) -> Iterator[tuple[str, float]]:
    """(name, value) of printed statistics that no sample with the others can have."""
    slack = 1.0  # means are cut or rounded to integers
    mean = summary.mean
    low = summary.minimum if summary.minimum is not None else -np.inf
    high = summary.maximum if summary.maximum is not None else np.inf
    farthest = _farthest(summary)
    if mean is not None and -np.inf < low < mean - farthest:
        yield "minimum", low
    if mean is not None and np.inf > high > mean + farthest:
        yield "maximum", high
    # a tool that keeps sums alone prints 0 for both ends
    none_kept = low == high == 0 and mean is not None and mean > slack
    if low > high or (mean is not None and mean > high + slack):
        yield "maximum", high
    if none_kept or (mean is not None and mean + slack < low):
        yield "minimum", low
    for name, value in {
        "median": summary.median,
        **{f"quantile {p}": q for p, q in summary.quantiles.items()},
    }.items():
        if value is not None and (value < low or value > high > 0 or (value == 0 and none_kept)):
            yield name, value


def _farthest(summary: Summary) -> float:
    """How far from their mean one of n values with this spread can lie: sd sqrt(n - 1) at most
    (P. Samuelson, 1968), with sd of the n or of n - 1, and rounded.
    """
    if summary.sd is None or not summary.n:
        return np.inf
    return (summary.sd + 0.5) * math.sqrt(summary.n - 1) + 1.0


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:g}"


# 32-bit and 64-bit wraps, whole or divided by the usual counts of iterations; a small amount below
# the limit.
_WRAPS = tuple(
    (2.0**bits, n, 1e-3 if n == 1 else 5e-5) for bits in (32, 64) for n in (1, 1000, 10000)
)


def _wraps(rule: Rule, view: View) -> Iterator[Issue]:
    for index, figures in _all_figures(view):
        for limit, n, tolerance in _WRAPS:
            near = [v for v in figures if limit / n * (1 - tolerance) <= v <= limit / n]
            if near:
                whole = f"2^{int(np.log2(limit))}" + (f" / {n}" if n > 1 else "")
                yield rule.found(
                    f"{view.name(index)}: {near[0]:.10g} is just below {whole}, a subtraction that "
                    "wrapped",
                    [index],
                )
                break


def _negatives(rule: Rule, view: View) -> Iterator[Issue]:
    for index, figures in _all_figures(view):
        below = [v for v in figures if v < 0]
        if below:
            yield rule.found(
                f"{view.name(index)}: {min(below):g} is negative ({len(below)} such figures)",
                [index],
            )


def _all_figures(view: View) -> Iterator[tuple[int, list[float]]]:
    """(row, its printed figures and the ends of its raw values) of the rows that are times."""
    for index in range(len(view.rows)):
        if not view.is_time(index):
            continue
        figures = [
            v
            for s in view.summaries[index]
            for v in (s.mean, s.minimum, s.maximum, s.median)
            if v is not None
        ]
        figures += [
            float(f(stretch.values)) for stretch in view.stretches[index] for f in (np.min, np.max)
        ]
        yield index, figures


def _overheads(rule: Rule, view: View) -> Iterator[Issue]:
    """Against overhead rows of a foreign suite, and against the readings kept beside our own direct
    samples.
    """
    found = Gathered(list)
    for rows in view.configurations.values():
        for index in rows:
            overhead = view.means[index]
            if overhead and view.key(index).startswith("overhead."):
                for other, what in _below(view, index, overhead, rows):
                    found[view.key(other)].append((what, [other, index]))
    yield from once(rule, found)
    s = view.bundle.samples
    for row in np.unique(s.row[s.kind == 1]):
        overhead = float(np.median(s.value[(s.row == row) & (s.kind == 1)]))
        mean = view.means[int(row)]
        if mean is not None and mean < overhead:
            what = (
                f"{view.name(int(row))}: {mean:g} is less than the {overhead:g} of reading "
                "the clock"
            )
            yield rule.found(what, [int(row)])


def _below(view: View, index: int, overhead: float, rows: list[int]) -> Iterator[tuple[int, str]]:
    """Rows of which an overhead row was subtracted and that are below it, each with a sentence."""
    for other in rows:
        row, mean = view.rows[other], view.means[other]
        subtracted = row.contract.correction == "subtracted" and row.clock == view.rows[index].clock
        of_it = subtracted and is_overhead_of(view.key(index), view.key(other))
        if of_it and mean is not None and mean < overhead:
            yield other, f"{view.name(other)}: {mean:g} is less than its overhead {overhead:g}"


def _steps(rule: Rule, view: View) -> Iterator[Issue]:
    for index, stretches in enumerate(view.stretches):
        if not view.is_time(index) or not stretches:
            continue
        values = np.concatenate([stretch.values for stretch in islice(stretches, 8)])
        step = _step(values)
        if step > 1 and step > 1e-3 * np.median(values):
            share = 100 * step / float(np.median(values))
            yield rule.found(
                f"{view.name(index)}: the clock steps by {step}, {share:.2g} % of the median",
                [index],
            )
    by_clock: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, row in enumerate(view.rows):
        if view.is_time(index) and not view.stretches[index] and view.summaries[index]:
            by_clock[row.clock.name, row.clock.unit].append(index)
    for (name, unit), rows in by_clock.items():
        printed = np.array([s.mean for i in rows for s in view.summaries[i] if s.mean is not None])
        step = _step(printed)
        if step > 1:
            yield rule.found(
                f"all {len(printed)} printed means are multiples of {step} {unit} of {name}", rows
            )


def _step(values: np.ndarray) -> int:
    """The greatest common divisor of integer values; 1 if they are not integers or too few."""
    distinct = np.unique(values)
    if (
        len(distinct) < 5
        or (distinct != np.round(distinct)).any()
        or np.abs(distinct).max() >= 2**53
    ):
        return 1
    return max(int(np.gcd.reduce(distinct.astype(np.int64))), 1)


RULES = (
    Rule(
        "zero-sentinel",
        "error",
        "zeros printed for what was not kept",
        "Some tools keep only sums and print 0 for minimum, maximum, median or quantiles; whoever "
        "sorts, plots or "
        "compares these takes them for the best values ever measured.",
        "Use the mean only, or ask the tool to keep the raw values.",
        _zeros,
    ),
    Rule(
        "contradiction",
        "error",
        "statistics that no sample can have",
        "A mean outside minimum and maximum, or a median below the minimum, mixes figures of "
        "different samples.",
        "Find which figure is of another sample; until then use none of the row.",
        _contradictions,
    ),
    Rule(
        "wrap",
        "error",
        "a difference that wrapped round",
        "A subtraction in unsigned arithmetic, usually of an overhead larger than the measurement, "
        "leaves a value just "
        "below 2^32 or 2^64, or that divided by the number of iterations.",
        "Subtract in signed arithmetic and print the negative value; drop the figure.",
        _wraps,
    ),
    Rule(
        "negative",
        "error",
        "negative latencies",
        "Nothing takes less than no time: the clock went backwards, differs between cores, or too "
        "much was subtracted.",
        "Pin both ends to one core, check the counter's width, and show the overhead beside the "
        "data.",
        _negatives,
    ),
    Rule(
        "overhead",
        "warning",
        "the overhead is larger than what is left",
        "What was subtracted outweighs the result, so the result is mostly the error of the "
        "subtraction.",
        "Measure many operations between two readings (the accumulated method).",
        _overheads,
    ),
    Rule(
        "steps",
        "note",
        "a coarse clock",
        "All values are multiples of one step, so differences below it cannot be seen, and a "
        "median jumps by it.",
        "Accumulate turns until the step is below the wanted precision; on QEMU convert to "
        "instructions.",
        _steps,
    ),
)
