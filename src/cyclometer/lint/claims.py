# SPDX-License-Identifier: BSD-2-Clause
"""Rules about what a source says of its figures: changes, rates, directions, and how much they rest
on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from cyclometer.bundle.model import Summary
from cyclometer.lint.view import Issue, Rule, View, decimals, listed
from cyclometer.units import NS_PER_S


class _Change(NamedTuple):
    """A printed change with the two rows it is between."""

    before: int
    after: int
    printed_pct: float
    of_before_pct: float
    of_after_pct: float

    def fits(self, exact_pct: float) -> bool:
        return abs(exact_pct - self.printed_pct) <= 0.5 * 10.0 ** -decimals(self.printed_pct) + 1e-9


def _changes(view: View) -> Iterator[_Change]:
    states = {
        (
            view.key(i),
            tuple(sorted((k, v) for k, v in row.configuration.items() if k != "state")),
            row.clock.name,
        ): i
        for i, row in enumerate(view.rows)
        if row.configuration.get("state") == "before"
    }
    for after, row in enumerate(view.rows):
        rest = tuple(sorted((k, v) for k, v in row.configuration.items() if k != "state"))
        before = states.get((view.key(after), rest, row.clock.name))
        if before is None or row.configuration.get("state") != "after":
            continue
        old, new = view.means[before], view.means[after]
        for summary in view.summaries[after]:
            printed = summary.extra.get("change_pct")
            if printed is not None and old and new:
                yield _Change(
                    before, after, printed, 100 * (new - old) / old, 100 * (new - old) / new
                )


def _wrong_base(rule: Rule, view: View) -> Iterator[Issue]:
    """Small changes fit both bases; a table that fits `after` throughout and not `before` divides
    by `after`.
    """
    changes = list(_changes(view))
    wrong = [change for change in changes if not change.fits(change.of_before_pct)]
    if wrong and all(change.fits(change.of_after_pct) for change in changes):
        worst = max(wrong, key=lambda change: abs(change.printed_pct - change.of_before_pct))
        what = (
            f"all {len(changes)} printed changes divide by the value after, for instance "
            f"{view.name(worst.after)}: "
            f"{worst.printed_pct:g} % is {worst.of_before_pct:.2f} % of before"
        )
        yield rule.found(
            what, [index for change in changes for index in (change.before, change.after)]
        )
        return
    for change in wrong:
        what = (
            f"{view.name(change.after)}: printed {change.printed_pct:g} %, the means give "
            f"{change.of_before_pct:.2f}"
        )
        yield rule.found(what, [change.before, change.after])


def _noise_claims(rule: Rule, view: View) -> Iterator[Issue]:
    """Changes within twice their standard error, or, where n is not printed, within one standard
    deviation.
    """
    lost, total = [], 0
    for change in _changes(view):
        sds = [_sd(view.summaries[index]) for index in (change.before, change.after)]
        means = [view.means[index] for index in (change.before, change.after)]
        if None in sds or None in means:
            continue
        total += 1
        ns = [
            next((s.n for s in view.summaries[i] if s.n), None)
            for i in (change.before, change.after)
        ]
        errors = [
            (sd or 0.0) / n**0.5 * 2 if n else (sd or 0.0) for sd, n in zip(sds, ns, strict=True)
        ]
        if abs((means[1] or 0.0) - (means[0] or 0.0)) < sum(error**2 for error in errors) ** 0.5:
            lost.append(change)
    if lost:
        names = listed(
            [f"{view.name(change.after)} {change.printed_pct:+g} %" for change in lost], 2
        )
        what = (
            f"{len(lost)} of {total} printed changes are within the spread of their samples: "
            f"{names}"
        )
        yield rule.found(
            what, [index for change in lost for index in (change.before, change.after)]
        )


def _sd(printed: list[Summary]) -> float | None:
    return next((s.sd for s in printed if s.sd is not None), None)


def _few(rule: Rule, view: View) -> Iterator[Issue]:
    alone, small = [], []
    for index, row in enumerate(view.rows):
        printed = [s for s in view.summaries[index] if s.run >= 0]
        runs = {s.run for s in printed} | {stretch.run for stretch in view.stretches[index]}
        if len(runs) == 1 and not row.clock.exact:
            alone.append(index)
        counts = [s.n for s in printed if s.n] + [
            len(stretch.values) for stretch in view.stretches[index]
        ]
        if counts and max(counts) < 10:
            small.append(index)
    for rows, base in ((alone, "one run"), (small, "fewer than 10 values")):
        if rows:
            names = listed([view.name(i) for i in rows], 3)
            yield rule.found(f"{len(rows)} of {len(view.rows)} rows rest on {base}: {names}", rows)


_NS = {"ns": 1.0, "us": 1e3}


class _Pair(NamedTuple):
    """A latency printed both in ticks of a clock and in time."""

    row: int
    cycles: float
    printed: float  # in `unit`
    unit: str

    @property
    def hz(self) -> float:
        return self.cycles / (self.printed * _NS[self.unit]) * NS_PER_S

    def agrees(self, hz: float) -> bool:
        """Within one unit of the last place printed on either side, or half a percent."""
        expected = self.cycles / hz * NS_PER_S / _NS[self.unit]
        last_places = (
            10.0 ** -decimals(self.printed)
            + 10.0 ** -decimals(self.cycles) / self.cycles * expected
        )
        return abs(expected - self.printed) <= max(last_places, 0.005 * expected)


def _rates(rule: Rule, view: View) -> Iterator[Issue]:
    by_clock: dict[str, list[_Pair]] = defaultdict(list)
    for index, row in enumerate(view.rows):
        if row.clock.unit not in ("cycles", "ticks"):
            continue
        for summary in view.summaries[index]:
            for unit in _NS:
                printed = summary.extra.get(unit)
                if printed and printed > 0 and summary.mean and summary.mean > 0:
                    by_clock[row.clock.name].append(_Pair(index, summary.mean, printed, unit))
    for name, pairs in by_clock.items():
        stated = {view.rows[pair.row].clock.hz for pair in pairs} - {0.0}
        # of two that disagree nobody can say which is wrong
        if not stated and len(pairs) < 3:
            continue
        hz = stated.pop() if len(stated) == 1 else median(pair.hz for pair in pairs)
        source = (
            "stated"
            if stated or view.rows[pairs[0].row].clock.hz
            else f"implied by {len(pairs)} pairs"
        )
        for pair in pairs:
            if not pair.agrees(hz):
                right = pair.cycles / hz * NS_PER_S / _NS[pair.unit]
                what = (
                    f"{view.name(pair.row)}: {pair.cycles:.10g} {view.rows[pair.row].clock.unit} "
                    f"are {right:.4g} "
                    f"{pair.unit} at {hz / 1e6:.6g} MHz ({source}, {name}), not {pair.printed:g}"
                )
                yield rule.found(what, [pair.row])


def _directions(rule: Rule, view: View) -> Iterator[Issue]:
    higher = [i for i, row in enumerate(view.rows) if row.better == "higher"]
    for index, row in enumerate(view.rows):
        if (row.better == "higher") == view.is_time(index) and row.clock.unit != "events":
            what = (
                f"{view.name(index)}: a figure in {row.clock.unit} cannot be better when "
                f"{row.better}"
            )
            yield rule.found(what, [index])
    if higher and len(higher) < len(view.rows):
        names = listed([view.name(i) for i in higher], 3)
        what = f"{len(higher)} of {len(view.rows)} rows are better when higher: {names}"
        yield Issue(rule.id, "note", what, tuple(higher))


RULES = (
    Rule(
        "change-base",
        "error",
        "a percent change against the wrong base",
        "A change is a share of what was there before. Divided by the value after, improvements "
        "look larger and "
        "regressions smaller than they are.",
        "Divide by the value before.",
        _wrong_base,
    ),
    Rule(
        "change-noise",
        "warning",
        "changes within the spread",
        "A printed change that is smaller than what the same build shows from sample to sample "
        "says nothing.",
        "Print n, repeat runs, and give the change an interval.",
        _noise_claims,
    ),
    Rule(
        "few",
        "note",
        "too little for a claim",
        "Within one run the spread says nothing about the next boot, and a handful of values says "
        "little about a tail.",
        "Measure three runs at least; `cyclometer run` plans how many a wanted precision needs.",
        _few,
    ),
    Rule(
        "clock-rate",
        "error",
        "cycles and time that do not belong together",
        "The same latency is printed in cycles and in time, and the two need different clock "
        "rates.",
        "Keep the cycles; state the rate of the clock and convert once.",
        _rates,
    ),
    Rule(
        "direction",
        "error",
        "which way is better",
        "A rate is better when higher, a latency when lower; a table with both is misread, and a "
        "gate fires wrongly.",
        "Mark every row; keep rates and latencies apart.",
        _directions,
    ),
)
