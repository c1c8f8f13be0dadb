# SPDX-License-Identifier: BSD-2-Clause
"""One axis of time for all runs of a session.

A sample's `at` counts from the origin of its run. A bundle either states where the origins lie
(`plan.origins`, FORMAT.md), or it states the order of all visits (`plan.order`). The order bounds
the origins: a visit cannot begin before the previous one has ended, whichever runs the two belong
to. These difference constraints leave each origin a window of a few milliseconds.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import Bundle
from cyclometer.estimate.interval import FloatArray
from cyclometer.units import NS_PER_S

_MOST_RUNS = 1000  # beyond that many the bounds, a square table, are not worked out


class _Planned(msgspec.Struct, frozen=True):
    run: int
    circle: str
    method: str


def seconds(bundle: Bundle) -> FloatArray | None:
    """When each sample was taken, in seconds from the first one on one axis, shape (samples,).

    NaN for samples of a run that took no part in the order, such as the proof's. None if nothing
    connects the runs. Where a clock's rate is unknown its seconds are so many billion units.
    """
    samples, clocks = bundle.samples, [row.clock for row in bundle.identity.rows]
    hz = np.array([clock.hz if clock.hz > 0 else NS_PER_S for clock in clocks])
    if not len(samples) or min(samples.run.min(), samples.at.min()) < 0:
        return None
    try:
        origin = _stated_origins(bundle) if "origins" in bundle.identity.plan else _origins(bundle)
    except msgspec.ValidationError:
        return None
    if origin is None:
        return None
    when = (samples.at + origin[samples.run]) / hz[samples.row]
    axis: FloatArray = when - np.nanmin(when)
    return axis


def _stated_origins(bundle: Bundle) -> FloatArray:
    """The clock's reading at the origin of each run, shape (highest run + 1,); NaN: not stated."""
    stated = msgspec.convert(bundle.identity.plan["origins"], dict[str, int])
    origin = np.full(int(bundle.samples.run.max()) + 1, np.nan)
    for run in range(origin.size):
        origin[run] = stated.get(str(run), np.nan)
    return origin


def _origins(bundle: Bundle) -> FloatArray | None:
    """Origins that agree with the order of the visits, as `_stated_origins`; None if there are
    none.

    Of all that agree it is the mean of the earliest and the latest.
    """
    runs = int(bundle.samples.run.max()) + 1
    visits = _ordered_visits(bundle)
    if not visits or runs > _MOST_RUNS:
        return None
    # later[a, b]: by how much the origin of run b lies behind that of run a at least
    later = np.full((runs, runs), -np.inf)
    np.fill_diagonal(later, 0)
    for (a, _, end), (b, begin, _) in pairwise(visits):
        later[a, b] = max(later[a, b], end - begin)
    # what follows by way of a third origin (Floyd and Warshall)
    for via in range(runs):
        later = np.maximum(later, later[:, [via]] + later[[via], :])
    first = visits[0][0]
    took_part = np.unique([run for run, _, _ in visits])
    bounds = np.stack([later[first, took_part], -later[took_part, first]])
    if not np.isfinite(bounds).all() or np.any(bounds[0] > bounds[1]):
        return None
    origin = np.full(runs, np.nan)
    origin[took_part] = bounds.mean(axis=0)
    return origin


def _ordered_visits(bundle: Bundle) -> list[tuple[int, float, float]]:
    """(run, begin, end) of every visit that the order lists, by the clock of its run."""
    planned = msgspec.convert(bundle.identity.plan.get("order", []), list[_Planned])
    waiting: defaultdict[_Planned, list[tuple[int, float, float]]] = defaultdict(list)
    for run, row, begin, end in _visits(bundle):
        contract = bundle.identity.rows[row]
        waiting[_Planned(run, contract.contract.key, contract.method)].append((run, begin, end))
    for alike in waiting.values():
        alike.reverse()  # the first one is taken first, from the end
    return [waiting[visit].pop() for visit in planned if waiting.get(visit)]


def _visits(bundle: Bundle) -> list[tuple[int, int, float, float]]:
    """(run, row, begin, end) of every visit, visits of a run in their order."""
    samples = bundle.samples
    number: NDArray[np.int64] = (samples.run.astype(np.int64) << 32) + samples.visit
    _, first, visit = np.unique(number, return_index=True, return_inverse=True)
    begin, end = np.full(first.size, np.inf), np.full(first.size, -np.inf)
    np.minimum.at(begin, visit, samples.at)
    np.maximum.at(end, visit, samples.at + samples.value)
    return list(
        zip(
            samples.run[first].tolist(),
            samples.row[first].tolist(),
            begin.tolist(),
            end.tolist(),
            strict=True,
        )
    )
