# SPDX-License-Identifier: BSD-2-Clause
"""Small bundles made for the tests of printers and exporters: every kind of row, from a fixed
seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cyclometer.bundle.model import (
    SCHEMA,
    Bundle,
    Clock,
    Contract,
    Flow,
    Identity,
    Problem,
    Row,
    Span,
    samples,
)

TSC = Clock("tsc", "ticks", 2.5e9)
ICOUNT = Clock("icount", "instructions", 0.0, exact=True)
PIPE = Contract(
    key="pipe.round_trip.cross.equal",
    title="Round trip over two pipes",
    sequence=(
        "client: write request",
        "server: returns from read",
        "server: write reply",
        "client: returns from read",
    ),
    interval=Span("round_trip", "client: before write", "client: after read"),
    expect={"entries": 4, "switches": 2},
    params={"space": "cross"},
)
SIGNAL = Contract(
    key="signal.self.kill",
    title="Signal to self",
    sequence=("client: kill", "client: handler"),
    expect={"switches": 2},
)
TIMER = Contract(
    key="timer.wakeup.nanosleep", title="Lateness of a wake-up", interval=Span("one_way")
)


@dataclass
class Maker:
    """Collects rows and their samples. `scale` moves every latency, to make an `after` from a
    `before`.
    """

    clock: Clock = TSC
    scale: float = 1.0
    runs: int = 3
    tests: int = 40
    configuration: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    columns: dict[str, list[np.ndarray]] = field(default_factory=dict)
    counters: list[np.ndarray] = field(default_factory=list)

    def accumulated(self, contract: Contract, latency: float, invalid: bool = False) -> Maker:
        """A circle of three sizes; in an invalid one every test counts one switch too many."""
        noise = np.random.default_rng(len(self.rows))
        turns = np.repeat(np.array([10, 20, 30]), self.tests)
        for run in range(1, self.runs + 1):
            level = self.scale * latency * (1 + 0.001 * run)
            value = np.round(500 + level * turns * (1 + 0.002 * noise.standard_normal(turns.size)))
            tags = np.where(np.arange(turns.size) % 17 == 3, 2, 0)  # an interrupt now and then
            self._add(
                run, turns, np.repeat(np.arange(3), self.tests), value, 1 if invalid else tags
            )
            self.counters.append(turns * 2 + (1 if invalid else 0))
        return self._row(contract, "accumulated", Flow(10, 10, 3, self.tests))

    def direct(self, contract: Contract, latency: float) -> Maker:
        """A circle of single turns, each with its empty readings."""
        noise = np.random.default_rng(100 + len(self.rows))
        ones, one_group = np.ones(self.tests, int), np.zeros(self.tests, int)
        for run in range(1, self.runs + 1):
            self._add(
                run,
                ones,
                one_group,
                np.round(30 + self.scale * latency * noise.lognormal(0, 0.1, self.tests)),
            )
            self._add(run, ones, one_group, np.full(self.tests, 30.0), kind=1)
            self.counters += [2 * ones, 0 * ones]
        return self._row(contract, "direct", Flow(1, 0, 1, self.tests))

    def passes(self, contract: Contract, latency: float) -> Maker:
        """Ten passes from cold to hot."""
        warm_up = np.round(latency * self.scale * (1 + 9 / np.arange(1, 11) ** 2))
        for run in range(1, self.runs + 1):
            self._add(run, np.ones(10, int), np.zeros(10, int), warm_up)
            self.counters.append(np.full(10, 2))
        return self._row(contract, "passes", Flow(1, 0, 1, 10))

    def _add(
        self,
        run: int,
        turns: np.ndarray,
        group: np.ndarray,
        value: np.ndarray,
        tags: np.ndarray | int = 0,
        kind: int = 0,
    ) -> None:
        n = turns.size
        constant = {"row": len(self.rows), "run": run, "visit": 2 * run, "tags": tags, "kind": kind}
        whole = {name: np.broadcast_to(v, n) for name, v in constant.items()}
        test = np.concatenate([np.arange(np.count_nonzero(group == g)) for g in np.unique(group)])
        at = np.cumsum(np.full(n, 1000))
        for name, values in (
            whole | {"turns": turns, "group": group, "value": value, "test": test, "at": at}
        ).items():
            self.columns.setdefault(name, []).append(values)

    def _row(self, contract: Contract, method: str, flow: Flow) -> Maker:
        self.rows.append(Row(contract, self.clock, method, self.configuration, flow))
        return self

    def bundle(self, title: str = "", environment: dict[str, object] | None = None) -> Bundle:
        identity = Identity(
            SCHEMA,
            "2026-11-21T12:00:00+00:00",
            "linux",
            tuple(self.rows),
            problems=tuple(self.problems),
            environment=environment or {"cpu_model": "Test CPU", "kernel_release": "6.1"},
            title=title,
            tool="cyclometer test",
        )
        joined = {name: np.concatenate(parts) for name, parts in self.columns.items()}
        return Bundle(
            identity, samples(joined, {"switches": np.concatenate(self.counters)}), digest="0" * 64
        )


def typical(scale: float = 1.0, clock: Clock = TSC) -> Bundle:
    """Accumulated with passes, direct, an invalid circle, and one that failed before its first
    test.
    """
    maker = Maker(clock, scale).accumulated(PIPE, 4000).passes(PIPE, 4000).direct(TIMER, 900)
    maker.accumulated(SIGNAL, 700, invalid=True)
    maker.problems.append(Problem("no answer within 10 s", "circle futex.round_trip", "failed"))
    return maker.bundle("Test bench")


def renamed(bundle: Bundle, keys: Sequence[str]) -> Bundle:
    """`bundle` with other keys and titles, row by row."""
    from msgspec.structs import replace as changed

    pairs = zip(bundle.identity.rows, keys, strict=True)
    rows = tuple(
        changed(row, contract=changed(row.contract, key=key, title=key)) for row, key in pairs
    )
    return replace(bundle, identity=changed(bundle.identity, rows=rows))
