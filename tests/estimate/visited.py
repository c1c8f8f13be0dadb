# SPDX-License-Identifier: BSD-2-Clause
"""Bundles of visits made by hand: what ran when, in which process, and what each test took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cyclometer.bundle.model import (
    COLUMNS,
    MISSING,
    SCHEMA,
    Bundle,
    Clock,
    Contract,
    Identity,
    Row,
    samples,
)

KHZ = Clock("tsc", "ticks", 1000.0)
"""A clock of 1000 ticks in a second: seconds and ticks are easy to tell apart."""


@dataclass
class Visits:
    """A bundle in the making: rows, and one visit after another in the order of the plan."""

    rows: list[Row] = field(default_factory=list)
    columns: dict[str, list[int | float]] = field(default_factory=lambda: {c: [] for c in COLUMNS})
    counters: dict[str, list[int]] = field(default_factory=dict)
    order: list[dict[str, Any]] = field(default_factory=list)
    environment: dict[str, Any] = field(default_factory=dict)

    def row(self, key: str, method: str = "accumulated", clock: Clock = KHZ, **other: Any) -> int:
        self.rows.append(Row(Contract(key, **other), clock, method))
        return len(self.rows) - 1

    def add(
        self,
        row: int,
        run: int,
        at: int,
        values: Sequence[float],
        turns: Sequence[int] | int = 1,
        tags: int = 0,
        **counters: Sequence[int],
    ) -> Visits:
        """A visit that begins at `at` by the clock of its run, one test after another."""
        sizes = [turns] * len(values) if isinstance(turns, int) else turns
        visit = len(self.order)
        for test, (value, size) in enumerate(zip(values, sizes, strict=True)):
            one = {"row": row, "run": run, "visit": visit, "test": test, "turns": size}
            one |= {"value": value, "at": at, "tags": tags}
            for name, column in self.columns.items():
                column.append(one.get(name, 0))
            at += int(value)
        for name, counts in counters.items():
            self.counters.setdefault(name, [])
            self.counters[name] += [MISSING] * (len(self.columns["row"]) - len(values))
            self.counters[name] = self.counters[name][: len(self.columns["row"]) - len(values)]
            self.counters[name] += counts
        planned = {"run": run, "circle": self.rows[row].contract.key}
        self.order.append(planned | {"method": self.rows[row].method})
        return self

    def bundle(self, ordered: bool = True, **plan: Any) -> Bundle:
        plan |= {"order": self.order} if ordered else {}
        identity = Identity(
            SCHEMA,
            "2026-11-01T00:00:00+00:00",
            "linux",
            tuple(self.rows),
            environment=self.environment,
            plan=plan,
        )
        total = len(self.columns["row"])
        counters = {
            name: np.array(counts + [MISSING] * (total - len(counts)))
            for name, counts in self.counters.items()
        }
        return Bundle(identity, samples(self.columns, counters))
