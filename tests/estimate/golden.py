# SPDX-License-Identifier: BSD-2-Clause
"""The published KBench tables, as arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cyclometer.estimate.interval import FloatArray

DATA = Path(__file__).parent / "data"


def table(name: str) -> FloatArray:
    """A published table, shape (tests, columns), clock cycles; the file's first line is its
    provenance.
    """
    return np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=2)
