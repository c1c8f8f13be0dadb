# SPDX-License-Identifier: BSD-2-Clause
"""The speed of the core during each visit: the reference series x of a bundle.

x is the logarithm of how many clock units one cycle of the core lasts, so that y - x is the
logarithm of a latency in cycles where y is that of the latency in clock units. A constant may be
added to all x of a bundle; `zero` says how to align the x of two bundles. There are two sources,
the best one first:

- readings beside each test (`bundle.core_cycles`): the core's own cycles, or what a chain of
  instructions of known length took;
- visits of the `floor.*` circles, which execute user code alone: what they took about that time
  against what they took over the session. It knows no common constant, and follows the core's
  speed as closely as these visits lie (half a second in a default run).

A clock that counts the core's cycles is its own reference: x is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle import core_cycles
from cyclometer.bundle.model import Bundle, Samples
from cyclometer.estimate.grouped import grouped
from cyclometer.estimate.interval import FloatArray

FLOOR = "floor."
"""Keys of the circles that serve as reference begin with this."""
CONTENTION = ("floor.cache", "floor.code")
"""Circles that tell what else used the caches and the front end, and not only the core's speed."""
WINDOW_S = 0.3
"""Standard deviation of the Gaussian weights of floor visits about a moment."""
_BLOCK = 512  # visits whose weights are worked out at once

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Reference:
    """Where x comes from. Either `tests` holds x of every sample (NaN if it was not read), or x
    follows from floor visits: their moments in seconds and x at them, both of shape (visits,).

    `zero`: for each floor circle the constant that its visits leave in x; None if x has none.
    `taken`: the bundle's values are in core cycles by these very readings, so that x has to be
    added to y to have the latency in units of the clock.
    """

    tests: FloatArray | None = None
    seconds: FloatArray = field(default_factory=lambda: np.zeros(0))
    floors: FloatArray = field(default_factory=lambda: np.zeros(0))
    zero: Mapping[str, float] | None = None
    taken: bool = False

    def at(self, tests: Indices, visit: NDArray[np.integer], seconds: FloatArray) -> FloatArray:
        """x of some visits, shape (visits,).

        Args:
            tests: indices of the visits' samples, shape (n,).
            visit: which of the visits each sample belongs to, shape (n,).
            seconds: the middle of each visit, shape (visits,).
        """
        if self.tests is not None:
            return grouped(self.tests[tests], visit, seconds.size).medians()
        x = np.empty_like(seconds)
        for start in range(0, seconds.size, _BLOCK):
            some = slice(start, start + _BLOCK)
            apart = np.subtract.outer(seconds[some], self.seconds) / WINDOW_S
            # relative to the nearest visit, so that a moment far from all of them has weights, too
            nearest = np.abs(apart).min(axis=1, keepdims=True)
            weight = np.exp((nearest**2 - apart**2) / 2)
            x[some] = weight @ self.floors / weight.sum(axis=1)
        return x


def reference(bundle: Bundle, seconds: FloatArray) -> Reference | None:
    """The best reference that a bundle has; None if it has none.

    Args:
        seconds: the moment of every sample (`timeline.seconds`).
    """
    beside = core_cycles.speed(bundle)
    clocks = {(row.clock.name, row.clock.unit) for row in bundle.identity.rows}
    if beside is not None:
        return Reference(tests=beside, taken=clocks == {(core_cycles.NAME, "cycles")})
    if {unit for _, unit in clocks} == {"cycles"}:
        return Reference(tests=np.zeros(len(bundle.samples)))
    return _of_floors(bundle, seconds)


def shift(before: Reference | None, after: Reference | None) -> float | None:
    """What to add to x of `after` so that its zero is that of `before`; None if nothing says.

    Floor circles give the median of what each of them says: one whose loop lies otherwise in the
    two programs does not decide it.
    """
    if before is None or after is None:
        return None
    if before.zero is None or after.zero is None:
        # both None: readings beside tests need no alignment; one None: nothing aligns two sources
        return 0.0 if before.zero is after.zero else None
    common = before.zero.keys() & after.zero.keys()
    moved = [after.zero[key] - before.zero[key] for key in common]
    return float(np.median(moved)) if moved else None


def _of_floors(bundle: Bundle, seconds: FloatArray) -> Reference | None:
    samples, moments, deviations, zero = bundle.samples, [], [], {}
    for index, row in enumerate(bundle.identity.rows):
        tests = samples.of_row(index)
        tests = tests[(samples.kind[tests] == 0) & (samples.tags[tests] == 0)]
        tests = tests[(samples.value[tests] > 0) & np.isfinite(seconds[tests])]
        key = row.contract.key
        is_floor = key.startswith(FLOOR) and key not in CONTENTION
        if row.method != "accumulated" or not is_floor or not tests.size:
            continue
        visit, visits = visits_of(samples, tests)
        y = np.log(grouped(samples.value[tests] / samples.turns[tests], visit, visits).medians())
        zero[row.contract.key] = float(np.median(y))
        deviations.append(y - zero[row.contract.key])
        moments.append(np.bincount(visit, seconds[tests]) / np.bincount(visit))
    if not zero:
        return None
    return Reference(None, np.concatenate(moments), np.concatenate(deviations), zero)


def visits_of(samples: Samples, tests: Indices) -> tuple[NDArray[np.intp], int]:
    """The number of the visit that each test belongs to, counted from 0, and how many there are.

    Args:
        tests: which of the samples are meant, shape (n,); the numbers have that shape.
    """
    # a visit's number counts within its run only
    number = (samples.run[tests].astype(np.int64) << 32) + samples.visit[tests]
    found, visit = np.unique(number, return_inverse=True)
    return visit, found.size
