# SPDX-License-Identifier: BSD-2-Clause
"""One estimate with its samples, and names that distinguish estimates: what printers, exporters and
charts share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import Bundle, Row, Samples
from cyclometer.errors import UsageError
from cyclometer.estimate.rows import Estimate

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Tests:
    """Measured tests of one circle, in order of runs and then of arrival; all arrays of one
    length.
    """

    run: NDArray[np.int32]
    test: NDArray[np.int32]
    turns: NDArray[np.int64]
    value: FloatArray  # A: of the whole test, as measured
    # of a turn, less the fixed cost or the overhead of the reading, as the estimate takes it
    latency: FloatArray
    good: NDArray[np.bool_]  # not set aside

    def __len__(self) -> int:
        return len(self.run)

    def runs(self) -> list[int]:
        """Numbers of the runs, in their order."""
        return [int(run) for run in np.unique(self.run)]

    def of(self, mask: NDArray[np.bool_]) -> Tests:
        """The tests that `mask` picks."""
        return Tests(
            self.run[mask],
            self.test[mask],
            self.turns[mask],
            self.value[mask],
            self.latency[mask],
            self.good[mask],
        )


@dataclass(frozen=True)
class ReportedCircle:
    """An estimate, the tests it rests on, its passes from cold to hot, and the label of the side it
    stands for.
    """

    estimate: Estimate
    tests: Tests
    passes: Tests
    label: str = ""

    @property
    def unit(self) -> str:
        return self.estimate.clock.unit


def circles(bundle: Bundle, found: Sequence[Estimate], label: str = "") -> list[ReportedCircle]:
    """Every estimate of `found` with its samples out of `bundle`."""
    samples = bundle.samples
    measured = np.flatnonzero(samples.kind == 0)
    order = measured[np.lexsort((samples.run[measured], samples.row[measured]))]
    ends = np.searchsorted(samples.row[order], np.arange(len(bundle.identity.rows) + 1))
    rows = [order[start:stop] for start, stop in pairwise(ends)]
    none = np.zeros(0, np.intp)
    result = []
    for e in found:
        passes = _passes_row(bundle.identity.rows, e)
        tests = _tests(samples, rows[e.row], e)
        result.append(
            ReportedCircle(
                e, tests, _tests(samples, none if passes is None else rows[passes], None), label
            )
        )
    return result


def _passes_row(rows: Sequence[Row], e: Estimate) -> int | None:
    """The row of passes that belongs to the estimate's own row: where a method has several rows,
    the one as far on.
    """
    here = _like(rows, rows[e.row], e.method).index(e.row)
    return next(iter(_like(rows, rows[e.row], "passes")[here : here + 1]), None)


def _like(rows: Sequence[Row], one: Row, method: str) -> list[int]:
    wanted = (one.contract.key, one.configuration, one.clock.name, method)
    return [
        i
        for i, r in enumerate(rows)
        if (r.contract.key, r.configuration, r.clock.name, r.method) == wanted
    ]


def _tests(samples: Samples, rows: NDArray[np.intp], e: Estimate | None) -> Tests:
    """The samples at `rows`; without an estimate nothing is subtracted."""
    value, turns, good = samples.value[rows], samples.turns[rows], samples.tags[rows] == 0
    subtracted = 0.0
    if e is not None and e.tails is not None:
        subtracted = e.tails.overhead.value
    elif e is not None and e.fixed_cost is not None and np.all(e.fixed_cost.c < value[good]):
        subtracted = e.fixed_cost.c
    return Tests(
        samples.run[rows], samples.test[rows], turns, value, (value - subtracted) / turns, good
    )


def names(found: Sequence[Estimate]) -> list[str]:
    """One name per estimate, all different: the key, then in what configuration, clock or flow
    differ from namesakes'.

    `fifo.put` stays `fifo.put`; two configurations of it become `fifo.put/mcs=off` and
    `fifo.put/mcs=on`, two rows that nothing distinguishes `fifo.put/1` and `fifo.put/2`.
    """
    keys = Counter(e.contract.key for e in found)
    unique = [
        e.contract.key + (_difference(e, found) if keys[e.contract.key] > 1 else "") for e in found
    ]
    again, seen = Counter(unique), Counter[str]()
    for place, name in enumerate(unique):
        if again[name] > 1:
            seen[name] += 1
            unique[place] = f"{name}/{seen[name]}"
    return unique


def chosen(found: Sequence[Estimate], wanted: str) -> list[Estimate]:
    """The estimates whose key or name in `names` is `wanted`. Raises UsageError if there is
    none.
    """
    picked = [
        e for name, e in zip(names(found), found, strict=True) if wanted in (name, e.contract.key)
    ]
    if not picked:
        close = get_close_matches(wanted, [e.contract.key for e in found], n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise UsageError(
            f"the bundle has no circle {wanted!r}{hint}; `cyclometer show` lists those it has"
        )
    return picked


def _difference(e: Estimate, found: Sequence[Estimate]) -> str:
    namesakes = [other for other in found if other.contract.key == e.contract.key]
    options = sorted({option for other in namesakes for option in other.configuration})
    distinguishing = [
        o for o in options if len({other.configuration.get(o) for other in namesakes}) > 1
    ]
    parts = [f"{option}={e.configuration.get(option, 'unset')}" for option in distinguishing]
    if len({other.clock.name for other in namesakes}) > 1:
        parts.append(f"clock={e.clock.name}")
    if len({other.method for other in namesakes}) > 1:
        parts.append(f"method={e.method}")
    if len({_sizes(other) for other in namesakes}) > 1:
        parts.append(f"turns={_sizes(e)}")
    return "".join(f"/{part}" for part in parts)


def _sizes(e: Estimate) -> str:
    """The test sizes of its flow."""
    if e.flow is None:
        return "unset"
    last = e.flow.initial + (e.flow.groups - 1) * e.flow.delta
    return f"{e.flow.initial}-{last}" if last != e.flow.initial else str(last)
