# SPDX-License-Identifier: BSD-2-Clause
"""Samples one circle alone while it is timed: which functions are open every so often."""

from __future__ import annotations

import bisect
import os
import statistics
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cyclometer.errors import MeasurementFailed, UsageError
from cyclometer.record.profile import Profile, Stack
from cyclometer.record.schema import Circle, Failed, Flow, Group, Hello, Record, Skipped
from cyclometer.targets.linux import names
from cyclometer.targets.linux.harness import Harness, Visit, pause_for_throttling
from cyclometer.targets.linux.measurement import MeasurementSettings
from cyclometer.targets.linux.names import Mapping
from cyclometer.targets.linux.perf import Sample, Sampler
from cyclometer.units import NS_PER_S

_TEST_S = 20e-3  # long, so that what lies between two tests is a small part
_VISIT_TESTS = 25
_EDGE_NS = 50_000  # of a test: as far as its ends are not known on the clock of the samples
_LOOK_S = 0.01
_TURNS_MAX = 1 << 30


@dataclass
class _Watch(threading.Thread):
    """Takes samples out of the ring, and looks which processes take part and what they map."""

    sampler: Sampler
    root: int
    samples: list[Sample] = field(default_factory=list)
    maps: dict[int, list[Mapping]] = field(default_factory=dict)
    parents: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self._done = threading.Event()

    def __hash__(self) -> int:  # a thread is itself
        return id(self)

    def run(self) -> None:
        while not self._done.wait(_LOOK_S):
            self.samples += self.sampler.read()
            self._look(self.root)

    def end(self) -> None:
        self._done.set()
        self.join()
        self.samples += self.sampler.read()

    def _look(self, parent: int) -> None:
        for child in _children(parent):
            self.parents.add((parent, child))
            if found := names.mappings(child):
                self.maps[child] = found
            self._look(child)

    def participants(self) -> set[int]:
        """The harness's descendants, also those that lived shorter than a look."""
        found, edges = {self.root}, self.parents | self.sampler.born
        while more := {child for parent, child in edges if parent in found} - found:
            found |= more
        return found - {self.root}


def _children(parent: int) -> list[int]:
    """The processes that the threads of a process have started; few or none if it ends meanwhile,
    at any of these calls.
    """
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{parent}/task"):
            children = Path(f"/proc/{parent}/task/{thread}/children")
            found += map(int, children.read_text(encoding="ascii").split())
    return found


def profile(settings: MeasurementSettings, program: Path, key: str, seconds: float) -> Profile:
    """Samples of the circle `key` of a harness over about `seconds` of timed tests.

    Raises UsageError if its turns cannot be joined to long tests, NotComparable if the kernel
    grants no samples, MeasurementFailed if no test was made.
    """
    runner = Harness(program, 1, settings.options(), settings.watchdog_s)
    try:
        flow, records = _fit(runner, key)
        sampler = Sampler(settings.cpu, runner.pid)
        watch = _Watch(sampler, runner.pid)
        watch.start()
        try:
            records += _run(runner, key, flow, seconds)
        finally:
            watch.end()
            sampler.close()
    finally:
        runner.finish()
    return _profile(records, watch)


def _run(runner: Harness, key: str, flow: Flow, seconds: float) -> list[Record]:
    records: list[Record] = []
    for _ in range(max(1, round(seconds / _TEST_S / flow.tests))):
        began = time.monotonic()
        records += runner.visit(Visit(1, key, "accumulated", flow))
        ended = time.monotonic()
        pause_for_throttling(ended - began, ended)
    return records


def _fit(runner: Harness, key: str) -> tuple[Flow, list[Record]]:
    """As many turns as fill a test, and the run's `hello`."""
    turns = 4
    said: list[Record] = []
    while True:
        records = runner.visit(Visit(1, key, "accumulated", Flow(turns, 0, 1, 3)))
        said += [record for record in records if isinstance(record, Hello | Circle)]
        group = next((r for r in records if isinstance(r, Group)), None)
        hello = next((r for r in said if isinstance(r, Hello)), None)
        if group is None or hello is None:
            why = [r.reason for r in records if isinstance(r, Failed | Skipped)]
            why += ["no test was made" if runner.alive else f"the harness {runner.why_gone}"]
            raise MeasurementFailed(f"{key} cannot be sampled: {why[0]}")
        circle = next(r for r in said if isinstance(r, Circle))
        if circle.contract.interval.kind == "one_way":
            raise UsageError(
                f"{key} times a part of a turn, which samples cannot separate from the rest; "
                "explain the circle of its whole turn, or a kernel image with --kernel"
            )
        test_s = max(min(group.values), 1) / (hello.clock.hz or NS_PER_S)
        if test_s >= _TEST_S / 2 or turns >= _TURNS_MAX:
            return Flow(turns, 0, 1, _VISIT_TESTS), said
        turns = min(_TURNS_MAX, int(turns * min(100.0, max(2.0, _TEST_S / test_s))))


def _profile(records: Sequence[Record], watch: _Watch) -> Profile:
    hello = next(r for r in records if isinstance(r, Hello))
    circle = next(r for r in records if isinstance(r, Circle))
    groups = [r for r in records if isinstance(r, Group)]
    windows = _windows(hello, groups)
    if not windows:
        raise MeasurementFailed(f"no test of {circle.contract.key} could be placed in time")
    event, ours = watch.sampler.event, watch.participants()
    starts = [start for start, _ in windows]
    stacks: Counter[tuple[tuple[str, ...], str]] = Counter()
    outside = 0
    known, anyone = names.kernel(), next(iter(watch.maps.values()), [])
    for sample in watch.samples:
        found = bisect.bisect_right(starts, sample.time_ns) - 1
        if found < 0 or sample.time_ns >= windows[found][1]:
            continue
        if sample.pid not in ours:
            outside += 1
            continue
        where = watch.maps.get(sample.pid, anyone)
        frames = [names.user(sample.user[0], where)] if sample.user else []
        frames += [
            known.at(address)[0] if known else "[kernel]" for address in reversed(sample.kernel)
        ]
        stacks[tuple(frames) or ("[unknown]",), "kernel" if sample.in_kernel else "user"] += 1
    window_ns = sum(stop - start for start, stop in windows)
    values = [value / g.turns for g in groups for value in g.values]
    return Profile(
        target="linux",
        contract=circle.contract,
        configuration=hello.configuration,
        clock=hello.clock,
        a_turn=statistics.median(values),
        event=event.name,
        precise=event.precise,
        every=event.every,
        window_ns=window_ns,
        turns=sum(g.turns * len(g.values) for g in groups),
        expected=window_ns / event.every if event.name == "cpu-clock" else None,
        outside=outside,
        lost=watch.sampler.lost,
        kernel_seen=event.kernel_seen,
        stacks=tuple(
            Stack(frames, level, count) for (frames, level), count in stacks.most_common()
        ),
    )


def _windows(hello: Hello, groups: Sequence[Group]) -> list[tuple[int, int]]:
    """When each long test ran, on the clock of the samples, without its edges."""
    scale = NS_PER_S / (hello.clock.hz or NS_PER_S)
    found = []
    for group in groups:
        for at, value in zip(group.at, group.values, strict=True):
            start = hello.origin_ns + int(at * scale) + _EDGE_NS
            stop = hello.origin_ns + int((at + value) * scale) - _EDGE_NS
            if hello.origin_ns and stop > start:
                found.append((start, stop))
    return sorted(found)
