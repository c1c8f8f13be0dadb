# SPDX-License-Identifier: BSD-2-Clause
"""The least and the most of single turns, for those to whom only the tail matters.

Nothing is left out: a turn that an interrupt hit took as long as it took. No number of turns bounds
a latency; the largest value seen is not the worst case.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cyclometer.bundle.model import TAGS, Bundle, tag_bit


@dataclass(frozen=True)
class Extremes:
    """Over `passes` single turns, in the clock's unit; `at_s`: when the largest one began, in
    seconds of its run; `tags`: what hit it.

    `passes`, `at_s` and `run` are None if a tool printed the figures and not when they were.
    """

    least: float
    most: float
    passes: int | None
    at_s: float | None
    run: int | None
    tags: tuple[str, ...]


def extremes(bundle: Bundle, key: str) -> Extremes | None:
    """Of the circle `key`: of its samples of one turn, else of what a tool printed; None if there
    is neither.
    """
    rows = [i for i, row in enumerate(bundle.identity.rows) if row.contract.key == key]
    samples = bundle.samples
    tests = [samples.tests(i) for i in rows if bundle.identity.rows[i].method != "proof"]
    single = np.concatenate(tests) if tests else np.empty(0, np.intp)
    single = single[samples.turns[single] == 1]
    if len(single):
        top = int(single[np.argmax(samples.value[single])])
        hz, at = bundle.identity.rows[int(samples.row[top])].clock.hz, int(samples.at[top])
        return Extremes(
            least=float(samples.value[single].min()),
            most=float(samples.value[top]),
            passes=len(single),
            at_s=at / hz if hz and at >= 0 else None,
            run=int(samples.run[top]),
            tags=tuple(name for name in TAGS if samples.tags[top] & tag_bit(name)),
        )
    return _printed(bundle, set(rows))


def _printed(bundle: Bundle, rows: set[int]) -> Extremes | None:
    mine = [one for one in bundle.identity.summaries if one.row in rows]
    least = [one.minimum for one in mine if one.minimum is not None]
    most = [one.maximum for one in mine if one.maximum is not None]
    if not least or not most:
        return None
    return Extremes(min(least), max(most), None, None, None, ())
