# SPDX-License-Identifier: BSD-2-Clause
"""What a bundle holds: the stage between decoding a stream (or a foreign file) and estimating.

A bundle is a list of *rows* (a circle in one configuration, by one method, on one clock), raw
*samples* that point to rows, and, for foreign files that print only statistics, *summaries*.
Schema history: 1 (2026-11) first version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from cyclometer.record.schema import MAX_NUMBER, Clock, Contract, Flow, Index, Span

SCHEMA = 1

# As in record.schema: bounds of what a stored bundle may hold, checked where it is decoded.
Number = Annotated[float, msgspec.Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Spread = Annotated[float, msgspec.Meta(ge=0, le=MAX_NUMBER)]
Size = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]

__all__ = [
    "COLUMNS",
    "MISSING",
    "SCHEMA",
    "TAGS",
    "Bundle",
    "Clock",
    "Contract",
    "Flow",
    "Identity",
    "Problem",
    "Row",
    "Samples",
    "Source",
    "Span",
    "Summary",
    "no_samples",
    "samples",
    "tag_bit",
]


class Source(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a foreign row stood: the kept raw file, its line (from 1; 0 unknown) and its literal
    name there.
    """

    file: str
    line: int = 0
    name: str = ""


class Row(msgspec.Struct, frozen=True):
    """One row of a bundle. `configuration` says how the target was built, in the target's own
    option names.
    """

    contract: Contract
    clock: Clock
    method: str  # accumulated | direct | passes | reported (a foreign tool's own figure)
    configuration: dict[str, str] = {}
    flow: Flow | None = None
    better: str = "lower"  # or "higher", for rates
    source: Source | None = None


class Summary(msgspec.Struct, frozen=True, omit_defaults=True):
    """Statistics that a foreign tool printed for `row`, run by run; None if it printed none.

    They describe values as `Samples` holds them: a whole test's where a test has more than one
    turn. `run` is -1 for a figure over all runs. `visit` and `group` are -1 unless the figure is of
    one visit (a foreign suite's iteration) or one group alone. `status`: ok, failed or
    inconclusive, as the tool said. `quantiles`: probability as text ("0.99") -> value.
    """

    row: Index
    run: Index = 0
    visit: Index = -1
    group: Index = -1
    n: Size | None = None
    mean: Number | None = None
    sd: Spread | None = None
    minimum: Number | None = None
    maximum: Number | None = None
    median: Number | None = None
    quantiles: dict[str, Number] = {}
    step: Spread = 0.0  # smallest difference that the figures can show; 0 unknown
    status: str = "ok"
    note: str = ""
    # figures with a name of their own, e.g. {"change_pct": -43.51, "us": 1.97}
    extra: dict[str, Number] = {}
    source: Source | None = None  # of this very figure, if a row has one line per run


class Problem(msgspec.Struct, frozen=True):
    """Something the reader of this bundle must know: a damaged record, a failed circle, a line not
    understood.
    """

    what: str
    where: str = ""  # "console line 12", "circle pipe.round_trip"
    kind: str = "note"  # damaged | failed | skipped | unread | environment | note


# Tags say why a test is set aside; bits of the `tags` column, in this order, for ever.
TAGS = (
    "invalid",
    "interrupt",
    "preempted",
    "steal",
    "migrated",
    "throttled",
    "frequency",
    "unsteady clock",
    "shared core",
    "host tick",
)


@dataclass(frozen=True)
class Samples:
    """Raw samples in arrival order; arrays of one length. A value is the whole test's, over `turns`
    turns.
    """

    row: NDArray[np.int32]  # index into Bundle.rows
    run: NDArray[np.int32]
    visit: NDArray[np.int32]  # -1 if the source has no visits
    group: NDArray[np.int32]
    test: NDArray[np.int32]
    turns: NDArray[np.int64]
    value: NDArray[np.float64]  # in the row's clock unit
    at: NDArray[np.int64]  # clock at the test's begin since the run's origin; -1 unknown
    tags: NDArray[np.int32]  # bits of TAGS; 0 = undisturbed and valid
    kind: NDArray[np.int8]  # 0 measurement, 1 overhead of the reading
    # deltas; MISSING where not counted
    counters: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.value)

    def of_row(self, row: int) -> NDArray[np.intp]:
        """Indices of a row's samples of either kind, shape (n,), in arrival order; empty for a row
        that is not there.
        """
        order, ends = self._by_row
        return order[ends[row] : ends[row + 1]] if 0 <= row < len(ends) - 1 else order[:0]

    def tests(self, row: int, kind: int = 0, untagged: bool = False) -> NDArray[np.intp]:
        """Indices of a row's samples of one kind, shape (n,), in arrival order; `kind` 1 are empty
        readings, and `untagged` leaves out excluded tests.
        """
        of_row = self.of_row(row)
        mask: NDArray[np.bool_] = self.kind[of_row] == kind
        return of_row[mask & (self.tags[of_row] == 0)] if untagged else of_row[mask]

    @cached_property
    def _by_row(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """All samples sorted by row, and where each row begins: found once, because every estimate
        asks for it.
        """
        counts = np.bincount(self.row) if len(self) else np.zeros(0, np.intp)
        return np.argsort(self.row, kind="stable"), np.concatenate(([0], np.cumsum(counts)))


COLUMNS = {
    "row": np.int32,
    "run": np.int32,
    "visit": np.int32,
    "group": np.int32,
    "test": np.int32,
    "turns": np.int64,
    "value": np.float64,
    "at": np.int64,
    "tags": np.int32,
    "kind": np.int8,
}
MISSING = np.iinfo(np.int64).min  # a counter that was not read for this sample


class Identity(msgspec.Struct, frozen=True):
    """Everything but the samples, as `bundle.json` stores it."""

    schema: int
    created: str  # ISO 8601 with offset
    target: str
    rows: tuple[Row, ...]
    summaries: tuple[Summary, ...] = ()
    problems: tuple[Problem, ...] = ()
    environment: dict[str, Any] = {}
    plan: dict[str, Any] = {}  # runs, order and seed, as executed
    title: str = ""
    tool: str = ""  # what produced the data, e.g. "cyclometer 0.1.0", "sel4bench"
    files: dict[str, str] = {}  # kept raw file name -> sha256 of its bytes


@dataclass(frozen=True)
class Bundle:
    """One measurement, immutable. `digest` names its content; `path` is None until it is stored."""

    identity: Identity
    samples: Samples
    digest: str = ""
    path: str | None = None


def tag_bit(name: str) -> int:
    """The bit of a tag in the `tags` column."""
    return 1 << TAGS.index(name)


def samples(
    columns: Mapping[str, Any], counters: Mapping[str, NDArray[np.int64]] | None = None
) -> Samples:
    """Samples from columns of any numeric type, by name; KeyError names a missing one."""
    typed: dict[str, Any] = {
        name: np.asarray(columns[name], dtype) for name, dtype in COLUMNS.items()
    }
    return Samples(**typed, counters=counters or {})


def no_samples() -> Samples:
    """An empty set of samples, for bundles that hold summaries only."""
    return samples(dict.fromkeys(COLUMNS, ()))
