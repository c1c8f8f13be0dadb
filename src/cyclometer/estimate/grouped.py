# SPDX-License-Identifier: BSD-2-Clause
"""Medians and midmeans of many small groups at once, such as the tests of every visit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .interval import FloatArray

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Grouped:
    """Values sorted by group and, within a group, by size; group g is `ordered[first[g]:end[g]]`.

    `first` and `end` have shape (groups,); no group is empty.
    """

    ordered: FloatArray
    first: Indices
    end: Indices

    def medians(self) -> FloatArray:
        """The median of each group, shape (groups,)."""
        last = self.end - 1
        low, high = (self.first + last) // 2, (self.first + last + 1) // 2
        middle: FloatArray = (self.ordered[low] + self.ordered[high]) / 2
        return middle

    def midmeans(self) -> FloatArray:
        """The mean of the middle half of each group, as `midmean.midmean`, shape (groups,)."""
        cut = (self.end - self.first) // 4
        low, high = self.first + cut, self.end - cut
        total = np.concatenate(([0.0], np.cumsum(self.ordered)))
        mean: FloatArray = (total[high] - total[low]) / (high - low)
        return mean


def grouped(values: FloatArray, group: NDArray[np.integer], groups: int) -> Grouped:
    """Part values, shape (n,), by group number; all numbers from 0 to groups - 1 occur."""
    order = np.lexsort((values, group))
    end = np.cumsum(np.bincount(group, minlength=groups))
    return Grouped(values[order], np.concatenate(([0], end[:-1])), end)
