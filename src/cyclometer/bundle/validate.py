# SPDX-License-Identifier: BSD-2-Clause
"""What the types of a stored bundle cannot say: references, sample values, printable texts.

The bounds of single numbers stand in their types (`record.schema`, `bundle.model`). Everything
behind `store.read` relies on both, so that no later stage has to doubt a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import TAGS, Bundle, Samples, Summary
from cyclometer.record.schema import MAX_NUMBER, MAX_TURNS, MIN_NUMBER
from cyclometer.text import printable

# Smallest and largest value of a column; time stamps and counters have all of 64 bits.
_RANGES = {
    "run": (-1, (1 << 31) - 1),
    "visit": (-1, (1 << 31) - 1),
    "group": (-1, (1 << 31) - 1),
    "test": (0, (1 << 31) - 1),
    "turns": (1, MAX_TURNS),
    "tags": (0, (1 << len(TAGS)) - 1),
    "kind": (0, 1),
}


def validated(bundle: Bundle) -> Bundle:
    """`bundle` with printable texts. Raises ValueError, naming what is wrong, if a summary or a
    sample refers to a row that does not exist or holds a number that cannot be.
    """
    rows = len(bundle.identity.rows)
    for number, summary in enumerate(bundle.identity.summaries):
        if not 0 <= summary.row < rows:
            raise ValueError(f"summary {number} is of row {summary.row}, and there are {rows} rows")
    if not is_possible([x for summary in bundle.identity.summaries for x in numbers(summary)]):
        raise ValueError(f"a summary has a figure below {MIN_NUMBER:g} or above {MAX_NUMBER:g}")
    if len(bundle.samples):
        _check_samples(bundle.samples, rows)
    return replace(bundle, identity=printable(bundle.identity))


def _check_samples(samples: Samples, rows: int) -> None:
    for name, (low, high) in {"row": (0, rows - 1), **_RANGES}.items():
        column = getattr(samples, name)
        if not low <= column.min() <= column.max() <= high:
            raise ValueError(f"{name} is not between {low} and {high} in every sample")
    if not is_possible(samples.value):
        raise ValueError(f"a value is not 0 or between {MIN_NUMBER:g} and {MAX_NUMBER:g}")


def is_possible(figures: Sequence[float] | NDArray[np.float64]) -> bool:
    """Whether all figures, in any unit, are finite, and 0 or between MIN_NUMBER and MAX_NUMBER in
    size.
    """
    sizes = np.abs(np.asarray(figures, np.float64))
    return bool(np.all((sizes == 0) | ((sizes >= MIN_NUMBER) & (sizes <= MAX_NUMBER))))


def numbers(summary: Summary) -> list[float]:
    """Every figure that a printed summary has, each in the row's unit but those of `extra`."""
    single = (summary.mean, summary.sd, summary.minimum, summary.maximum, summary.median)
    several = (*summary.quantiles.values(), *summary.extra.values())
    return [figure for figure in (*single, *several) if figure is not None]
