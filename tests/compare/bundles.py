# SPDX-License-Identifier: BSD-2-Clause
"""Bundles made by hand for comparisons: a circle is its latencies, one a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cyclometer.bundle.model import (
    COLUMNS,
    SCHEMA,
    Bundle,
    Clock,
    Contract,
    Identity,
    Problem,
    Row,
    Summary,
    no_samples,
    samples,
    tag_bit,
)
from cyclometer.compare.pairing import Side, side

TSC = Clock("tsc", "ticks", 2.6e9)
ICOUNT = Clock("icount", "instructions", exact=True)
RTL = Clock("cycle", "cycles", exact=True)


@dataclass(frozen=True)
class Spec:
    """A circle of printed figures: one mean a run; `contract`, `row` and `summary` override what
    stands there.
    """

    key: str
    runs: Sequence[float]
    clock: Clock = TSC
    configuration: dict[str, str] = field(default_factory=dict)
    contract: dict[str, Any] = field(default_factory=dict)
    row: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)


def bundle(
    *specs: Spec,
    problems: Sequence[Problem] = (),
    created: str = "2026-11-01T00:00:00+00:00",
    **env: Any,
) -> Bundle:
    """A bundle of printed figures of target `linux`; `env` is its environment."""
    rows = tuple(
        Row(
            Contract(s.key, **s.contract),
            s.clock,
            **({"method": "reported", "configuration": s.configuration} | s.row),
        )
        for s in specs
    )
    figures = tuple(
        Summary(index, run, **({"mean": value} | s.summary))
        for index, s in enumerate(specs)
        for run, value in enumerate(s.runs)
    )
    return Bundle(
        Identity(SCHEMA, created, "linux", rows, figures, tuple(problems), env), no_samples()
    )


def one_side(*specs: Spec, **members: Any) -> Side:
    """The side of one such bundle."""
    return side([bundle(*specs, **members)])


def measured(
    latencies: dict[str, Sequence[float]],
    noise: float = 0.002,
    seed: int = 1,
    broken: Sequence[str] = (),
    created: str = "2026-11-01T00:00:00+00:00",
    **env: Any,
) -> Bundle:
    """A bundle of raw accumulated tests: key -> latency of a turn, one a run; `broken` circles
    broke their contract.
    """
    rng = np.random.default_rng(seed)
    parts = [
        (index, run, y)
        for index, runs in enumerate(latencies.values())
        for run, y in enumerate(runs)
    ]
    row, run, latency = (np.repeat(column, 60) for column in zip(*parts, strict=True))
    turns = np.tile(np.repeat([20, 40, 60], 20), len(parts))
    value = 500 + turns * latency * (1 + noise * rng.standard_normal(turns.size))
    bad = np.isin(row, [index for index, key in enumerate(latencies) if key in broken])
    columns = dict.fromkeys(COLUMNS, np.zeros(turns.size)) | {
        "row": row,
        "run": run,
        "turns": turns,
        "value": value,
    }
    data = samples(columns | {"tags": bad * tag_bit("invalid")}, {"switches": 2 * turns + bad})
    rows = tuple(
        Row(Contract(key, expect={"switches": 2}), TSC, "accumulated") for key in latencies
    )
    return Bundle(Identity(SCHEMA, created, "linux", rows, environment=env), data)
