# SPDX-License-Identifier: BSD-2-Clause
"""Rules about two rows that should differ and do not, or should agree and do not."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

from cyclometer.compare.pairing import VERSIONS
from cyclometer.lint.view import Gathered, Issue, Rule, View, is_overhead_of, listed, once

# What another layout of one program moves: in a published history of 68 builds on one board, two
# rows stood the other way round in single builds by 2.1 to 2.6 %, and in none by more.
_LAYOUT = 0.03
_SHORT = 100  # two latencies of fewer steps of the clock are often the same number
_RUNS = 3  # fewer may agree by accident
_MANY = 20  # rows: of fewer a real option may happen to change none

Signature = tuple[tuple[object, ...], ...]


def _signature(view: View, index: int) -> Signature:
    """All printed statistics of a row by run and visit; empty where its spread is unknown."""
    printed = view.summaries[index]
    if any(s.sd is None for s in printed):
        return ()
    return tuple(
        (s.run, s.visit, s.n, s.mean, s.sd, s.minimum, s.maximum, s.median)
        for s in sorted(printed, key=lambda s: (s.run, s.visit))
    )


def _varies(view: View, index: int) -> bool:
    return any(s.sd for s in view.summaries[index])


def _identical(rule: Rule, view: View) -> Iterator[Issue]:
    """Names with the same statistics in every run, gathered over configurations."""
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for rows in view.configurations.values():
        same: dict[object, list[int]] = defaultdict(list)
        for index in rows:
            if signature := _signature(view, index):
                # Without spread equality proves little, and among unrelated names nothing.
                kin = "" if _varies(view, index) else view.key(index).rpartition(".")[0]
                same[kin, signature].append(index)
        for group in same.values():
            names = tuple(sorted({view.key(index) for index in group}))
            if len(names) > 1 and (_varies(view, group[0]) or _is_long(view, group[0])):
                found[names] += group
    for names, group in found.items():
        runs = sum(len(view.summaries[index]) for index in group) // len(names)
        mean = next((s.mean for s in view.summaries[group[0]] if s.mean is not None), None)
        instance = "" if mean is None else f", for instance mean {mean:g}"
        if any(_varies(view, index) for index in group):
            what = f"{listed(names)} have the same statistics in {runs} run(s){instance}"
            level = rule.level if runs > 1 else "warning"  # once may be chance
            yield Issue(rule.id, level, what, tuple(group))
        elif runs >= _RUNS:
            what = f"{listed(names)} have the same mean without spread in {runs} runs{instance}"
            yield Issue(rule.id, "note", what, tuple(group))


def _is_long(view: View, index: int) -> bool:
    """Whether a latency has steps enough to tell two rows apart; exact counts are often equal."""
    mean = view.means[index]
    return mean is not None and mean >= _SHORT and not view.rows[index].clock.exact


def _two_configurations(rule: Rule, view: View) -> Iterator[Issue]:
    """Two builds that one image explains: equal to the digit, or nearer than their runs are."""
    if any(row.clock.exact for row in view.rows):
        return  # there a build option that does not matter rightly gives the same digits
    by_key = [{view.key(index): index for index in rows} for rows in view.configurations.values()]
    prints = [{key: _figures(view, index) for key, index in rows.items()} for rows in by_key]
    for one, other in combinations(range(len(by_key)), 2):
        common = [key for key in by_key[one] if prints[one][key] and prints[other].get(key)]
        equal = [key for key in common if prints[one][key] == prints[other][key]]
        with_spread = all(len(prints[one][key]) > 1 for key in common)
        level, alike, how = rule.level, equal, "equal to the digit"
        if not (len(common) >= (3 if with_spread else 8) and len(equal) >= 0.8 * len(common)):
            if len(common) < _MANY or _are_versions(view, by_key[one], by_key[other]):
                continue
            near = [key for key in common if _is_near(view, by_key[one][key], by_key[other][key])]
            level, alike, how = "note", near, "no farther apart than runs of one build are"
            if len(near) < 0.95 * len(common):
                continue
        first, second = (by_key[one][alike[0]], by_key[other][alike[0]])
        what = (
            f"{len(alike)} of {len(common)} rows are {how}: {view.name(first)}, {view.name(second)}"
        )
        rows = [rows[key] for key in alike for rows in (by_key[one], by_key[other])]
        yield Issue(rule.id, level, what, tuple(rows))


def _are_versions(view: View, one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    """Whether two builds differ in nothing but versions, of which most change no latency."""
    a, b = (view.rows[next(iter(rows.values()))].configuration for rows in (one, other))
    return all(a.get(name) == b.get(name) for name in {*a, *b} - set(VERSIONS))


def _is_near(view: View, one: int, other: int) -> bool:
    """Whether the means of two rows of several runs differ by less than either's runs do."""
    a, b = (list(view.run_means(index).values()) for index in (one, other))
    if min(len(a), len(b)) < _RUNS:
        return False
    return max(min(a), min(b)) <= min(max(a), max(b))


def _figures(view: View, index: int) -> tuple[float, ...]:
    """Mean and, where printed, sd of a row's first run; empty for a row without spread in a column
    of spreads.
    """
    printed = [s for s in view.summaries[index] if s.mean is not None]
    if not printed or printed[0].mean is None or printed[0].sd == 0:
        return ()
    return (printed[0].mean,) if printed[0].sd is None else (printed[0].mean, printed[0].sd)


def _early_and_late(view: View) -> Iterator[tuple[int, int, list[int]]]:
    """(early row, late row, rows of their configuration): one circle by two methods of the same
    tool.
    """
    for rows in view.configurations.values():
        by_key = {view.key(index): index for index in rows}
        for key, index in by_key.items():
            if key.endswith(".early") and key.removesuffix(".early") in by_key:
                yield index, by_key[key.removesuffix(".early")], rows


def _plus_overhead(rule: Rule, view: View) -> Iterator[Issue]:
    """Only of rows that do not vary: there the difference is exact, and not an accident."""
    found = Gathered(list)
    for early, late, rows in _early_and_late(view):
        difference, spread = _difference(view, early, late), view.spread(late)
        if difference is None or spread is None or spread[0] > 0.5:
            continue
        for index in (i for i in rows if is_overhead_of(view.key(i), view.key(late))):
            near = [o for o in _overheads(view, index) if o >= 1 and abs(difference - o) <= 0.5]
            if near:
                what = (
                    f"{view.name(early)} is {view.key(late)} plus the {near[0]:g} of "
                    f"{view.key(index)}"
                )
                found[view.key(early)].append((what, [early, late, index]))
    yield from once(rule, found)


def _overheads(view: View, index: int) -> list[float]:
    """What a tool may take off: an overhead's mean, or as sel4bench does the least of each run."""
    least = [s.minimum for s in view.summaries[index]]
    return [o for o in dict.fromkeys([view.means[index], *least]) if o is not None]


def _difference(view: View, one: int, other: int) -> float | None:
    a, b = view.means[one], view.means[other]
    return None if a is None or b is None else a - b


def _methods(rule: Rule, view: View) -> Iterator[Issue]:
    found, asked = Gathered(list), Counter[str]()
    for early, late, _ in _early_and_late(view):
        a, b, noise = view.means[early], view.means[late], _noise(view, early, late)
        asked[view.key(late)] += 1
        if a is not None and b and noise is not None and abs(a - b) > max(_LAYOUT * b, 5 * noise):
            what = f"{view.name(late)}: {b:g} by values, {a:g} by sums ({(a - b) / b:+.1%})"
            found[view.key(late)].append((what, [early, late]))
    yield from once(rule, found, asked)


def _noise(view: View, one: int, other: int) -> float | None:
    """Standard error of the difference of two rows' means, of their tests or of their runs,
    whichever is more; None if a spread is unknown.
    """
    a, b = view.spread(one), view.spread(other)
    if a is None or b is None:
        return None
    squared = a[0] ** 2 / a[1] + b[0] ** 2 / b[1]
    runs = [list(view.run_means(index).values()) for index in (one, other)]
    if min(map(len, runs)) >= _RUNS:
        squared = max(squared, sum(statistics.variance(means) / len(means) for means in runs))
    return math.sqrt(squared)


_ORDER = ((".same", ".cross"), (".to_thread", ".to_process"))


def _order(rule: Rule, view: View) -> Iterator[Issue]:
    found, asked = Gathered(list), Counter[str]()
    for rows in view.configurations.values():
        by_key = {view.key(index): index for index in rows}
        for near, far in _ORDER:
            for key, index in by_key.items():
                other = by_key.get(key.replace(near, far)) if near in key else None
                if other is None:
                    continue
                asked[key] += 1
                if _is_slower(view, index, other):
                    slow, fast = _mean(view, index), _mean(view, other)
                    what = f"{view.name(index)}: {slow} is slower than {view.key(other)}: {fast}"
                    found[key].append((what, [index, other]))
    yield from once(rule, found, asked)


def _is_slower(view: View, one: int, other: int) -> bool:
    """Whether a latency is above another by more than another layout moves it and by four standard
    errors.
    """
    a, b = view.means[one], view.means[other]
    if view.rows[one].better != "lower" or not view.is_time(one) or a is None or b is None:
        return False
    return a - b > max(_LAYOUT * b, 4 * (_noise(view, one, other) or 0.0))


_CONDITIONS = ("immediate", "blocking", "wake+ctx")


def _corrections(rule: Rule, view: View) -> Iterator[Issue]:
    """Operations on one object under one condition that are not corrected alike, gathered over
    threads and builds.
    """
    siblings: dict[tuple[object, ...], dict[str, int]] = defaultdict(dict)
    for index, row in enumerate(view.rows):
        parts = row.contract.key.split(".")
        at = next((i for i, part in enumerate(parts) if part in _CONDITIONS), 0)
        if at >= 2:
            same = (parts[0], parts[at], *parts[at:], *sorted(row.configuration.items()))
            siblings[same][".".join(parts[1:at])] = index
    found: dict[tuple[str, str, str, str], list[tuple[int, int]]] = defaultdict(list)
    for (where, condition, *_), operations in siblings.items():
        for (one, a), (other, b) in combinations(sorted(operations.items()), 2):
            if (
                _alike(one, other)
                and view.rows[a].contract.correction != view.rows[b].contract.correction
            ):
                found[str(where), str(condition), one, other].append((a, b))
    for (where, condition, one, other), pairs in found.items():
        a, b = pairs[0]
        how = {one: view.rows[a].contract.correction, other: view.rows[b].contract.correction}
        figures = f"{_mean(view, a)} against {_mean(view, b)}"
        what = (
            f"{where}: {one} ({how[one]}) and {other} ({how[other]}) are not corrected alike in "
            f"{len(pairs)} "
            f"{condition} pair(s), for instance {view.name(a)}, {figures}"
        )
        yield rule.found(what, [index for pair in pairs for index in pair])


def _alike(one: str, other: str) -> bool:
    """Whether people hold the two operations against each other: `set` and `post`, `get` and
    `get.free`.
    """
    return (
        one.count(".") == other.count(".")
        or other.startswith(f"{one}.")
        or one.startswith(f"{other}.")
    )


def _mean(view: View, index: int) -> str:
    mean = view.means[index]
    return "unknown" if mean is None else f"{mean:g}"


RULES = (
    Rule(
        "identical",
        "error",
        "one result under two names",
        "Two circles never have the same mean, spread and count in every run: one name carries the "
        "other's data. A note: they have one mean and no spread, which chance can give.",
        "Find which circle was really measured, and drop the other row until the tool is repaired.",
        _identical,
    ),
    Rule(
        "two-configurations",
        "error",
        "one result under two configurations",
        "Two builds with the same figures to the digit were one image measured twice; a note: "
        "twenty rows or more, of several runs each, of which hardly one tells the builds apart.",
        "Record what booted (kernel version, build options) in the result itself, and measure "
        "again.",
        _two_configurations,
    ),
    Rule(
        "plus-overhead",
        "error",
        "a row equal to another plus the overhead",
        "The overhead is subtracted from one of two rows of the same circle and not from the "
        "other.",
        "Subtract it from both or from none.",
        _plus_overhead,
    ),
    Rule(
        "early-late",
        "warning",
        "two methods disagree about one circle",
        "Values kept one by one and sums kept in registers time the same circle and differ by more "
        "than noise, so the "
        "rig of one of them is inside the interval.",
        "Find what differs between the two loops before using either.",
        _methods,
    ),
    Rule(
        "order",
        "warning",
        "inside one address space slower than across two",
        "What crosses an address space does all that the same operation inside one does, and more.",
        "Look for labels that were exchanged, for alignment, and for a cold first row.",
        _order,
    ),
    Rule(
        "correction",
        "warning",
        "rows that are not corrected alike",
        "One row had the cost of reading the clock taken off and its sibling had not, so a "
        "difference between them is "
        "in part a difference of the rig.",
        "Compare each row with itself only, or add the cost of two readings to the corrected one.",
        _corrections,
    ),
)
