# SPDX-License-Identifier: BSD-2-Clause
"""Several configurations side by side: what each costs against the first one, row by row and by
class of row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from cyclometer.bundle.model import Contract
from cyclometer.compare.finding import Finding, Options
from cyclometer.compare.pairing import Across, ComparedCircle, Side, likeness
from cyclometer.compare.verdicts import compare

_OFF = ("off", "n", "no", "0", "false", "")
_SWITCH = ("ctx", "blocking")  # parts of a key that say that the thread changes
_DIRECTION = re.compile(r"[ku]_to_[ku]")


@dataclass(frozen=True)
class MatrixRow:
    """One circle over all columns: None if a column has no such circle; findings are against
    column 0.
    """

    cells: tuple[ComparedCircle | None, ...]
    findings: tuple[Finding | None, ...]

    @property
    def contract(self) -> Contract:
        """Of the circle, as its first bundle states it."""
        return next(cell for cell in self.cells if cell is not None).estimate.contract

    @property
    def unit(self) -> str:
        """Of the latencies, as the clock of the first bundle names it."""
        return next(cell for cell in self.cells if cell is not None).estimate.clock.unit

    @property
    def of_rates(self) -> bool:
        """Whether more is better, so that half of it costs twice as much."""
        return next(cell for cell in self.cells if cell is not None).estimate.better == "higher"


@dataclass(frozen=True)
class ColumnMean:
    """The geometric mean of a column's costs as multiples of column 0's, over `rows` rows of a
    class; None without.
    """

    ratio: float | None
    rows: int


@dataclass(frozen=True)
class Matrix:
    """Columns by name, rows in the order of their first appearance, and class -> one mean a column.

    `environments` holds what the bundles of each column state about their machine and build.
    """

    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    means: dict[str, tuple[ColumnMean, ...]]
    environments: tuple[Mapping[str, str], ...] = ()


def matrix(
    sides: Mapping[str, Side], options: Options | None = None, across: Across | None = None
) -> Matrix:
    """All configurations of all sides (name -> side); the first configuration of the first side is
    column 0.
    """
    columns = _columns(sides)
    free = {
        name: None
        for side in columns.values()
        for c in side.circles
        for name in c.estimate.configuration
    }
    may_differ = {**free, **(across or {})}
    judged = [
        _findings(side, next(iter(columns.values())), options, may_differ)
        for side in columns.values()
    ]
    cells: dict[Hashable, dict[int, ComparedCircle]] = {}
    for at, side in enumerate(columns.values()):
        for circle in side.circles:
            cells.setdefault(_place(cells, likeness(circle, frozenset(may_differ)), at), {})[at] = (
                circle
            )
    rows = tuple(_row(row, judged) for row in cells.values())
    environments = tuple(side.environment or {} for side in columns.values())
    return Matrix(tuple(columns), rows, _means(rows, len(columns)), environments)


def ratio(finding: Finding | None) -> float | None:
    """After as a multiple of before; None if there is none, as of zero to zero."""
    if finding is None or finding.change is None or not finding.before or finding.before.value <= 0:
        return None
    return 1 + finding.change if finding.change > -1 else None


def classes(contract: Contract) -> list[str]:
    """What a row is counted under: all rows, whether a thread is switched, privilege on either
    side, and its object.
    """
    parts = contract.key.split(".")
    found = ["all rows"]
    switches = contract.expect.get(
        "switches",
        contract.at_least.get("switches", sum(mark in part for part in parts for mark in _SWITCH)),
    )
    if switches or "immediate" in parts:
        found.append("with a thread switch" if switches else "without a thread switch")
    found += [part for part in parts if _DIRECTION.fullmatch(part)]
    return [*found, f"{parts[0]}.*"]


def _columns(sides: Mapping[str, Side]) -> dict[str, Side]:
    """A column for every configuration of every side, named for what distinguishes it."""
    split: list[tuple[str, dict[str, str], Side]] = []
    for name, side in sides.items():
        seen: dict[Hashable, dict[str, str]] = {}
        for circle in side.circles:
            seen.setdefault(_options(circle), circle.estimate.configuration)
        for options, configuration in seen.items():
            split.append((name, configuration, side.chosen(_with(options))))
    distinguishing = _distinguishing([configuration for _, configuration, _ in split])
    named = [
        (_named(configuration, distinguishing), name, side) for name, configuration, side in split
    ]
    alone = len({title for title, _, _ in named}) == len(named)
    return {
        title if alone else f"{name}: {title}" if distinguishing else name: side
        for title, name, side in named
    }


def _with(options: Hashable) -> Callable[[ComparedCircle], bool]:
    return lambda circle: _options(circle) == options


def _options(circle: ComparedCircle) -> Hashable:
    return tuple(sorted(circle.estimate.configuration.items()))


def _distinguishing(configurations: Sequence[dict[str, str]]) -> list[str]:
    """Names of the options in which the configurations differ."""
    names = dict.fromkeys(name for configuration in configurations for name in configuration)
    return [name for name in names if len({c.get(name, "") for c in configurations}) > 1]


def _named(configuration: dict[str, str], distinguishing: Sequence[str]) -> str:
    chosen = {
        n: configuration.get(n, "")
        for n in distinguishing
        if configuration.get(n, "").lower() not in _OFF
    }
    return ", ".join(
        n if value.lower() in ("on", "y", "yes") else f"{n}={value}" for n, value in chosen.items()
    ) or ("default")


def _findings(
    side: Side, first: Side, options: Options | None, across: Across
) -> dict[int, Finding]:
    """Finding by the identity of the column's circle; none for the first column itself."""
    if side is first:
        return {}
    return {
        id(f.pair.after): f
        for f in compare(first, side, options, across).findings
        if f.pair.after is not None
    }


def _place(
    cells: Mapping[Hashable, Mapping[int, ComparedCircle]], name: Hashable, column: int
) -> Hashable:
    """The row for a circle: the first of its likeness that this column has not filled yet."""
    nth = 0
    while column in cells.get((name, nth), {}):
        nth += 1
    return name, nth


def _row(row: dict[int, ComparedCircle], judged: Sequence[dict[int, Finding]]) -> MatrixRow:
    cells = tuple(row.get(column) for column in range(len(judged)))
    return MatrixRow(
        cells, tuple(found.get(id(cell)) for cell, found in zip(cells, judged, strict=True))
    )


def _means(rows: Sequence[MatrixRow], columns: int) -> dict[str, tuple[ColumnMean, ...]]:
    logs: dict[str, list[list[float]]] = {}
    for row in rows:
        for name in classes(row.contract):
            of_class = logs.setdefault(name, [[] for _ in range(columns)])
            for column, finding in enumerate(row.findings):
                if (times := ratio(finding)) is not None:
                    of_class[column].append(-math.log(times) if row.of_rates else math.log(times))
    means = {name: tuple(map(_mean, of_class)) for name, of_class in logs.items()}
    order = ["all rows", "with a thread switch", "without a thread switch"]
    return dict(
        sorted(
            means.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)
        )
    )


def _mean(logs: Sequence[float]) -> ColumnMean:
    return ColumnMean(math.exp(math.fsum(logs) / len(logs)) if logs else None, len(logs))
