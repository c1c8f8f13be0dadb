# SPDX-License-Identifier: BSD-2-Clause
"""Small bundles to try a rule on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cyclometer.bundle.model import (
    Bundle,
    Clock,
    Contract,
    Identity,
    Row,
    Summary,
    no_samples,
    samples,
)

CYCLES = Clock("cycle counter", "cycles")


@dataclass
class Builder:
    """Add rows, printed figures and raw values; `bundle` gives what they make."""

    rows: list[Row] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    columns: list[tuple[int, int, int, Any]] = field(default_factory=list)  # row, run, kind, values

    def row(
        self,
        key: str,
        *,
        clock: Clock = CYCLES,
        method: str = "reported",
        better: str = "lower",
        **more: Any,
    ) -> int:
        contract = Contract(key, correction=more.pop("correction", "none"))
        self.rows.append(Row(contract, clock, method, more.pop("configuration", {}), better=better))
        return len(self.rows) - 1

    def printed(self, row: int, **figures: Any) -> None:
        self.summaries.append(Summary(row, **figures))

    def values(self, row: int, values: ArrayLike, run: int = 0, kind: int = 0) -> None:
        self.columns.append((row, run, kind, np.asarray(values, np.float64)))

    def bundle(self) -> Bundle:
        identity = Identity(
            1, "2026-11-21T00:00:00+00:00", "test", tuple(self.rows), tuple(self.summaries)
        )
        if not self.columns:
            return Bundle(identity, no_samples())
        lengths = [len(values) for *_, values in self.columns]
        n = sum(lengths)
        columns = {
            "row": np.repeat([row for row, *_ in self.columns], lengths),
            "run": np.repeat([run for _, run, *_ in self.columns], lengths),
            "kind": np.repeat([kind for _, _, kind, _ in self.columns], lengths),
            "value": np.concatenate([values for *_, values in self.columns]),
            "turns": np.ones(n, int),
            "test": np.concatenate([np.arange(length) for length in lengths]),
            **{name: np.full(n, -1) for name in ("visit", "group", "at")},
            "tags": np.zeros(n, int),
        }
        return Bundle(identity, samples(columns, {}))
