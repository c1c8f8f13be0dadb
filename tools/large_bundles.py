# SPDX-License-Identifier: BSD-2-Clause
"""Write a store of large bundles, to time `cyclometer show` and `cyclometer compare` on.

Usage: large_bundles.py FOLDER [SAMPLES] [COUNT]     (two bundles of a million samples by default)

Each bundle has 100 circles, five runs and three test sizes; the runs differ, the machine wanders
between two regimes, and every further bundle is 2 % slower. The same seed gives the same bundles.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from cyclometer.bundle import store
from cyclometer.bundle.model import (
    COLUMNS,
    SCHEMA,
    Bundle,
    Clock,
    Contract,
    Identity,
    Row,
    Samples,
    samples,
)

CIRCLES, RUNS, SIZES = 100, 5, (30, 60, 90)
SPREAD = 0.003  # standard deviation between runs, and half of it between tests


def make(seed: int, slower: float, count: int) -> Samples:
    """About `count` tests, visit after visit."""
    rng = np.random.default_rng(seed)
    tests = max(1, count // (CIRCLES * RUNS * len(SIZES)))
    run, circle, group = (axis.ravel() for axis in np.indices((RUNS, CIRCLES, len(SIZES))))
    latency = (
        1000
        * (1 + circle / 10)
        * slower
        * (1 + SPREAD * rng.standard_normal((RUNS, CIRCLES)))[run, circle]
    )
    turns = np.repeat(np.array(SIZES)[group], tests)
    regime = 1 + 0.1 * (rng.random(turns.size) < 0.3)
    noise = 1 + SPREAD / 2 * rng.standard_normal(turns.size)
    value = np.round(700 + turns * np.repeat(latency, tests) * regime * noise)
    columns = dict.fromkeys(COLUMNS, np.zeros(turns.size)) | {
        "row": np.repeat(circle, tests),
        "run": np.repeat(run, tests),
        "visit": np.repeat(group, tests),
        "group": np.repeat(group, tests),
        "test": np.tile(np.arange(tests), group.size),
        "turns": turns,
        "value": value,
        "at": np.cumsum(value),
    }
    return samples(columns, {"switches": 2 * turns})


def write(folder: Path, count: int = 1_000_000, bundles: int = 2) -> list[Path]:
    """`bundles` bundles in `folder`; their paths."""
    rows = tuple(
        Row(
            Contract(f"object{i}.operation", expect={"switches": 2}),
            Clock("tsc", "ticks", 2.5e9),
            "accumulated",
        )
        for i in range(CIRCLES)
    )
    paths = [folder / f"large-{number}" for number in range(bundles)]
    for number, path in enumerate(paths):
        identity = Identity(SCHEMA, f"2026-01-{number + 1:02}T00:00:00+00:00", "linux", rows)
        store.write(Bundle(identity, make(number, 1.02**number, count)), path, {})
    return paths


if __name__ == "__main__":
    write(Path(sys.argv[1]), *map(int, sys.argv[2:4]))
