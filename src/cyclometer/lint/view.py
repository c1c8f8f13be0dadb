# SPDX-License-Identifier: BSD-2-Clause
"""A bundle as rules look at it: printed statistics and raw values by row and run, rows by
configuration.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import Bundle, Row, Summary

TIMES = ("cycles", "ticks", "instructions", "ns")
Configuration = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Issue:
    """What a rule found: a sentence with the figures, and the indices of the rows it is about."""

    rule: str
    level: str  # error: a figure is wrong; warning: it misleads; note: it needs care
    what: str
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """`explanation`: why it matters; `fix`: what to do. `check` yields the findings."""

    id: str
    level: str
    title: str
    explanation: str
    fix: str
    check: Callable[[Rule, View], Iterator[Issue]]

    def found(self, what: str, rows: Iterable[int]) -> Issue:
        return Issue(self.id, self.level, what, tuple(rows))


# key -> (sentence, rows) of each configuration
Gathered = defaultdict[str, list[tuple[str, list[int]]]]
_SELDOM = 0.1  # share of the configurations with a pair below which a finding is of single builds


class Stretch(NamedTuple):
    """The raw values of one visit of one row in one run, in arrival order; `values` are whole
    tests.
    """

    run: int
    visit: int
    values: NDArray[np.float64]
    turns: NDArray[np.int64]
    groups: NDArray[np.int32]

    @property
    def per_turn(self) -> NDArray[np.float64]:
        return self.values / self.turns


class View:
    """Everything is computed on first use, so that a rule pays for what it looks at only."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.rows: tuple[Row, ...] = bundle.identity.rows

    @cached_property
    def summaries(self) -> list[list[Summary]]:
        """Printed statistics of each row, without rows that the tool itself called failed."""
        by_row: list[list[Summary]] = [[] for _ in self.rows]
        for summary in self.bundle.identity.summaries:
            if summary.status == "ok":
                by_row[summary.row].append(summary)
        return by_row

    @cached_property
    def stretches(self) -> list[list[Stretch]]:
        """Raw measurements of each row, a stretch per run and visit.

        Left out are readings of the overhead, and proofs: counting changes what they time, and
        nobody claims it.
        """
        s = self.bundle.samples
        by_row: list[list[Stretch]] = [[] for _ in self.rows]
        order = np.lexsort((s.visit, s.run, s.row))
        order = order[s.kind[order] == 0]
        if not len(order):
            return by_row
        keys = np.stack([column[order] for column in (s.row, s.run, s.visit)])
        starts = np.flatnonzero(np.r_[True, (np.diff(keys) != 0).any(axis=0)])
        for part in np.split(order, starts[1:]):
            row, run, visit = (int(column[part[0]]) for column in (s.row, s.run, s.visit))
            if self.rows[row].method == "proof":
                continue
            by_row[row].append(Stretch(run, visit, s.value[part], s.turns[part], s.group[part]))
        return by_row

    @cached_property
    def configurations(self) -> dict[Configuration, list[int]]:
        """Rows of each configuration."""
        found: dict[Configuration, list[int]] = defaultdict(list)
        for index, row in enumerate(self.rows):
            found[tuple(sorted(row.configuration.items()))].append(index)
        return dict(found)

    @cached_property
    def means(self) -> list[float | None]:
        """A row's latency per turn: the mean of its raw values, else of its printed means; None
        without either.
        """
        return [self._mean(index) for index in range(len(self.rows))]

    def _mean(self, index: int) -> float | None:
        if self.stretches[index]:
            parts = [stretch.per_turn for stretch in self.stretches[index]]
            return float(np.concatenate(parts).mean())
        printed = [s.mean for s in self.summaries[index] if s.mean is not None and s.run >= 0]
        return sum(printed) / len(printed) if printed else None

    def run_means(self, index: int) -> dict[int, float]:
        """Run -> a row's latency per turn in it, of its raw values or else as printed."""
        found: dict[int, list[float]] = defaultdict(list)
        for stretch in self.stretches[index]:
            found[stretch.run].append(float(stretch.per_turn.mean()))
        if not found:
            for summary in self.summaries[index]:
                if summary.mean is not None and summary.run >= 0:
                    found[summary.run].append(summary.mean)
        return {run: sum(means) / len(means) for run, means in found.items()}

    def spread(self, index: int) -> tuple[float, int] | None:
        """(sd, n) of a row over all runs, as printed or of the raw values; None if neither is
        known.
        """
        if self.stretches[index]:
            values = np.concatenate([stretch.per_turn for stretch in self.stretches[index]])
            return (float(values.std(ddof=1)), len(values)) if len(values) > 1 else None
        known = [(s.sd, s.n) for s in self.summaries[index] if s.sd is not None and s.n]
        if not known:
            return None
        return (sum(sd**2 for sd, _ in known) / len(known)) ** 0.5, sum(n for _, n in known if n)

    def is_time(self, index: int) -> bool:
        """Whether the row's clock measures time (or instructions), not counts or rates."""
        return self.rows[index].clock.unit in TIMES

    def key(self, index: int) -> str:
        return self.rows[index].contract.key

    def name(self, index: int) -> str:
        """Key, configuration and method, for people; options and a method that all rows share are
        left out.
        """
        row = self.rows[index]
        shown = [
            f"{option} {value}"
            for option, value in row.configuration.items()
            if option in self._varying
        ]
        if len(self._methods) > 1:
            shown.append(row.method)
        return f"{self.key(index)} ({', '.join(shown)})" if shown else self.key(index)

    @cached_property
    def _methods(self) -> set[str]:
        return {row.method for row in self.rows}

    @cached_property
    def _varying(self) -> set[str]:
        seen: dict[str, set[str | None]] = defaultdict(set)
        names = {option for row in self.rows for option in row.configuration}
        for row in self.rows:
            for option in names:
                seen[option].add(row.configuration.get(option))
        return {option for option, values in seen.items() if len(values) > 1}


def once(rule: Rule, found: Gathered, asked: Mapping[str, int] | None = None) -> Iterator[Issue]:
    """A finding for each key, with the number of configurations that show it; of `asked`, the
    number that have it, those that few show are left out.
    """
    for key, places in found.items():
        if asked and len(places) < _SELDOM * asked[key]:
            continue
        more = f", and in {len(places) - 1} more configuration(s)" if len(places) > 1 else ""
        yield rule.found(places[0][0] + more, [index for _, rows in places for index in rows])


def listed(items: Sequence[str], most: int = 4) -> str:
    """`a, b, c and 5 more`."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[:most])} and {len(items) - most} more"


def decimals(value: float) -> int:
    """How many decimals a figure was printed with, as far as its shortest text shows (trailing
    zeros are lost).
    """
    text = repr(value)
    return 0 if "e" in text or text.endswith(".0") else len(text.partition(".")[2])


_OVERHEADS = {  # an overhead row -> the beginning of the keys that it is subtracted from
    "overhead.signal": "notification.signal.to_",
    "overhead.signal.scheduler": "notification.signal.to_",
    "overhead.fault": "fault.",
    "overhead.interrupt": "interrupt.",
    "overhead.nop_syscall": "syscall.null",
}


def is_overhead_of(key: str, other: str) -> bool:
    """Whether row `key` is the rig's own cost in row `other`."""
    beginning = _OVERHEADS.get(key)
    return beginning is not None and other.startswith(beginning)
