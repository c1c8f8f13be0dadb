# SPDX-License-Identifier: BSD-2-Clause
"""Records of several runs -> one bundle in memory."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np

from cyclometer import __version__
from cyclometer.bundle import tags as tagging
from cyclometer.bundle.core_cycles import TIMED
from cyclometer.bundle.host_ticks import host_ticks
from cyclometer.bundle.model import (
    MISSING,
    SCHEMA,
    Bundle,
    Clock,
    Contract,
    Identity,
    Problem,
    Row,
    Samples,
    no_samples,
    samples,
)
from cyclometer.bundle.sharing import shared_core
from cyclometer.record.decode import Damage
from cyclometer.record.schema import (
    Circle,
    Events,
    Failed,
    Group,
    Hello,
    Overhead,
    Pass,
    Record,
    Skipped,
)
from cyclometer.text import printable

_Chunk = tuple[int, int, Group | Pass | Overhead]  # row, run, record


class Assembler:
    """Collects the streams of a measurement, one run after another, in any interleaving."""

    def __init__(
        self,
        target: str,
        environment: dict[str, Any],
        extra_configuration: dict[str, str] | None = None,
    ):
        self.target = target
        self.environment = environment
        self.plan: dict[str, Any] = {}
        self.problems: list[Problem] = []
        self._extra = extra_configuration or {}
        self._rows: dict[tuple[str, str, str], int] = {}
        self._row_list: list[Row] = []
        self._current: dict[tuple[int, str, str], int] = {}  # run, key, method -> row
        self._hello: dict[int, Hello] = {}
        self._chunks: list[_Chunk] = []

    def add(self, run: int, records: Iterable[Record]) -> None:
        """Takes records of one run as they arrive."""
        for record in records:
            match record:
                case Hello():
                    self._hello[run] = record
                case Circle():
                    self._row(run, record)
                case Group() | Pass() | Overhead():
                    self._chunk(run, record)
                case Events():
                    self.plan.setdefault("events", {})[record.circle] = record.events
                case Failed():
                    self._problem(Problem(record.reason, f"circle {record.circle}", "failed"))
                case Skipped():
                    self._problem(Problem(record.reason, f"circle {record.circle}", "skipped"))

    def add_damage(self, run: int, damage: Iterable[Damage]) -> None:
        """Reports what the decoder of `run` could not use."""
        for item in damage:
            self.problems.append(
                Problem(item.what, f"console of run {run}, line {item.line}", "damaged")
            )

    def add_early_end(self, run: int, what: str) -> None:
        """Reports a run whose stream stopped before its end; `what` as "the boot was killed"."""
        self.problems.append(
            Problem(f"{what}; its records until then are kept", f"run {run}", "failed")
        )

    def bundle(self) -> Bundle:
        """Everything so far, tagged; not stored yet."""
        identity = Identity(
            schema=SCHEMA,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            target=self.target,
            rows=tuple(self._row_list),
            problems=tuple(self.problems),
            environment=self.environment | self._target_facts(),
            plan=self._origins() | self.plan,
            tool=f"cyclometer {__version__}",
        )
        return Bundle(printable(identity), _samples(self._row_list, self._chunks, self._rt_gap_s()))

    def values(self) -> int:
        """How many measured values arrived, overheads not counted."""
        return sum(
            len(record.values) for _, _, record in self._chunks if not isinstance(record, Overhead)
        )

    def _rt_gap_s(self) -> float:
        """How long the kernel pauses real-time threads that used up their share; 0 if it does
        not or is unknown.
        """
        runtime, period = (
            self.environment.get(name, 0) for name in ("rt_runtime_us", "rt_period_us")
        )
        return max(0, period - runtime) / 1e6 if runtime and runtime > 0 else 0.0

    def _problem(self, problem: Problem) -> None:
        if problem not in self.problems:  # a circle that cannot run here says so once a visit
            self.problems.append(problem)

    def _row(self, run: int, record: Circle) -> None:
        hello = self._hello.get(run)
        clock = hello.clock if hello else Clock("unknown", "ticks")
        configuration = self._extra | (hello.configuration if hello else {})
        key = (record.contract.key, record.method, repr(sorted(configuration.items())) + clock.name)
        if key not in self._rows:
            self._rows[key] = len(self._row_list)
            clock = self._first_clock(clock)
            self._row_list.append(
                Row(record.contract, clock, record.method, configuration, record.flow)
            )
        self._current[run, record.contract.key, record.method] = self._rows[key]

    def _first_clock(self, clock: Clock) -> Clock:
        """One rate for all runs: each run finds it anew, to about 1e-5."""
        same = (
            row.clock
            for row in self._row_list
            if (row.clock.name, row.clock.unit) == (clock.name, clock.unit)
        )
        return next(same, clock)

    def _chunk(self, run: int, record: Group | Pass | Overhead) -> None:
        row = self._current.get((run, record.circle, record.method))
        if row is None:
            what = f"values of {record.circle} came without its contract and are left out"
            self._problem(Problem(what, f"run {run}", "damaged"))
        else:
            self._chunks.append((row, run, record))

    def _origins(self) -> dict[str, Any]:
        """Where the runs lie on one axis of time, if all of them say so."""
        stated = {str(run): hello.origin for run, hello in sorted(self._hello.items())}
        return {"origins": stated} if stated and all(stated.values()) else {}

    def _target_facts(self) -> dict[str, Any]:
        hello = next(iter(self._hello.values()), None)
        if hello is None:
            return {}
        chain = {"chain_cycles": hello.chain_cycles} if hello.chain_cycles else {}
        return {"target_kernel": hello.kernel, "build": hello.build} | chain


def _samples(rows: list[Row], chunks: list[_Chunk], rt_gap_s: float) -> Samples:
    """Chunks in arrival order as columns, with tags."""
    if not chunks:
        return no_samples()
    lengths = np.array([len(record.values) for _, _, record in chunks])

    def spread(values: Iterable[int], dtype: type[np.generic]) -> Any:
        return np.repeat(np.fromiter(values, dtype, len(chunks)), lengths)

    def join(lists: Iterable[list[int]]) -> Any:
        return np.concatenate([np.asarray(values, np.int64) for values in lists])

    columns = {
        "row": spread((row for row, _, _ in chunks), np.int32),
        "run": spread((run for _, run, _ in chunks), np.int32),
        "visit": spread((record.visit for _, _, record in chunks), np.int32),
        "group": spread((record.group for _, _, record in chunks), np.int32),
        "turns": spread((record.turns for _, _, record in chunks), np.int64),
        "kind": spread((isinstance(record, Overhead) for _, _, record in chunks), np.int8),
        "test": np.concatenate([np.arange(length) for length in lengths]),
        "value": join(record.values for _, _, record in chunks),
        "at": join(record.at for _, _, record in chunks),
    }
    names = sorted({name for _, _, record in chunks for name in record.counters})
    counters = {
        name: join(
            record.counters.get(name, [MISSING] * len(record.values)) for _, _, record in chunks
        )
        for name in names
    }
    columns["tags"] = _tags(rows, columns, counters, rt_gap_s)
    return samples(columns, counters)


def _tags(
    rows: list[Row], columns: dict[str, Any], counters: dict[str, Any], rt_gap_s: float
) -> Any:
    """Tags of all samples, row by row; an empty reading has no contract, only disturbances."""
    row, kind, turns = columns["row"], columns["kind"], columns["turns"]
    bits = np.zeros(len(row), np.int32)
    for index, one in enumerate(rows):
        for of_kind, expected in ((0, one.contract), (1, Contract(key=one.contract.key))):
            picked = np.flatnonzero((row == index) & (kind == of_kind))
            found = tagging.tags(
                expected, turns[picked], {n: c[picked] for n, c in counters.items()}
            )
            gap = rt_gap_s * one.clock.hz
            bits[picked] = (
                tagging.throttled(found, columns["value"][picked], gap) if gap > 0 else found
            )
    timed = np.array([one.method in TIMED for one in rows], bool)[row] & (kind == 0)
    # an exact clock stands still while its machine does
    hz = np.array([0.0 if one.clock.exact else one.clock.hz for one in rows])[row]
    return shared_core(host_ticks(bits, timed, columns, hz), timed, counters)
