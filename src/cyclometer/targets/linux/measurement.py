# SPDX-License-Identifier: BSD-2-Clause
"""A measurement of the Linux harness: proves contracts, calibrates, then visits circles and runs in
random order.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import Clock, Contract, Problem
from cyclometer.bundle.undisturbed import undisturbed_visits
from cyclometer.errors import MeasurementFailed, NothingMeasured
from cyclometer.record.schema import Circle, Failed, Flow, Group, Pass, Record, Skipped, Visited
from cyclometer.targets.api import MeasurementResult, Progress
from cyclometer.targets.linux import harness, kernel_trace, plan
from cyclometer.targets.linux.harness import PLAIN, Harness, Launch, Visit
from cyclometer.targets.linux.kernel_trace import KernelTrace
from cyclometer.targets.linux.placement import CpuPair
from cyclometer.targets.linux.plan import Cost
from cyclometer.units import NS_PER_S

# the proof is a run of its own; timed runs count from 1, and the first one calibrates
PROOF_RUN = 0
_FIRST_RUN = 1
# two sizes: what a turn adds to a counter is their difference
_PROOF_FLOW = Flow(initial=8, delta=32, groups=2, tests=5)
_PASSES_S = 20e-3  # one eviction and ten passes
_COLD_RUNS = 3  # runs that evict: enough for a median of the first passes


@dataclass(frozen=True)
class MeasurementSettings:
    """How to measure; `budget_s` is the wish for the whole measurement."""

    runs: int = 5
    rounds: int = 42  # at most; visits differ by more than the tests of one, so many short ones
    flow: Flow | None = None  # of every circle asked for, instead of one that fits the budget
    budget_s: float = 80.0
    spread_s: float = 0.0  # in which rounds begin at equal distances; 0: one after the other
    only: tuple[str, ...] = ("*",)
    method: str | None = None  # None: each circle's own
    cpu: int = 0
    clock: str = "referenced"
    seed: int = 0
    watchdog_s: int = 10
    policy: str = "auto"  # SCHED_FIFO if the kernel allows it, else the ordinary scheduler
    nice: int | None = None
    slice_ns: int | None = None
    break_on_ns: int | None = None  # the first single pass above it ends the measurement
    pair: CpuPair | None = None  # None: no circles of two CPUs

    def options(self) -> list[str]:
        """Options of the harness."""
        options = ["--clock", self.clock, "--cpu", str(self.cpu), "--policy", self.policy]
        options += [] if self.pair is None else self.pair.options()
        options += [] if self.nice is None else ["--nice", str(self.nice)]
        if self.break_on_ns is not None:
            options += ["--break-on", str(self.break_on_ns), "--tracing", str(kernel_trace.FOLDER)]
        return options + ([] if self.slice_ns is None else ["--slice", str(self.slice_ns)])


class LatencyAbove(Exception):
    """Ends a measurement: a test was above the latency to break on."""


class Measurement:
    """Calibrate, prove, then visit circles and runs in random order."""

    def __init__(
        self,
        settings: MeasurementSettings,
        clock: Clock,
        contracts: Sequence[Contract],
        progress: Progress,
        assembler: Assembler,
        program: Path,
        launch: Launch = PLAIN,
        options: Sequence[str] = (),
    ):
        """`options` are those of the harness that no setting stands for."""
        self.settings, self.clock, self.progress, self.assembler = (
            settings,
            clock,
            progress,
            assembler,
        )
        self.options = [*settings.options(), *options]
        self.harnesses: dict[int, Harness] = {}
        self.order: list[dict[str, Any]] = []
        self.program, self.launch = program, launch
        self.calibrating = _FIRST_RUN  # the run whose harness calibrates
        self.sides = 1  # that share the time
        self.broken = False  # a run's harness ended before its plan
        self.cold_runs = min(settings.runs, _COLD_RUNS)
        self.rounds = settings.rounds  # fewer where time is short
        self.contracts = {contract.key: contract for contract in contracts}
        self.costs: dict[str, Cost] = {}
        self.flows: dict[str, Flow] = {}  # of one visit; calibration gives them
        self.trace = None if settings.break_on_ns is None else KernelTrace()
        self.methods = {
            key: settings.method or own_method(contract) for key, contract in self.contracts.items()
        }

    def run(self) -> None:
        deadline_s = time.monotonic() + self.settings.budget_s
        self._prove()
        self._calibrate_all()
        reserve_s = plan.AGAIN_SHARE * self.settings.budget_s
        deadline_s += self._visit_all(deadline_s - reserve_s)
        self._visit_again(deadline_s)

    def close(self) -> None:
        """Ends every harness and takes what it still says."""
        for run, runner in self.harnesses.items():
            self._take(run, runner.finish())
            self.assembler.add_damage(run, runner.decoder.damage)
        if self.trace is not None:
            self.trace.close()

    def result(self, interrupted: bool, above: str = "") -> MeasurementResult:
        assembler = self.assembler
        if not assembler.values() and not interrupted:
            raise NothingMeasured(self._why_nothing())
        assembler.plan |= {
            "settings": asdict(self.settings),
            "order": self.order,
            "process": "visit",
            "interrupted": interrupted,
        }
        assembler.plan["calibration"] = {key: asdict(cost) for key, cost in self.costs.items()}
        consoles = {f"run-{run}": bytes(runner.console) for run, runner in self.harnesses.items()}
        trace = {kernel_trace.NAME: self.trace.newest()} if self.trace and above else {}
        return MeasurementResult(
            assembler.bundle(), consoles, interrupted, self.broken, above, files=trace
        )

    def _why_nothing(self) -> str:
        reasons = [f"{p.where}: {p.what}" for p in self.assembler.problems]
        return "nothing was measured" + (f" ({reasons[0]})" if reasons else "; see the console")

    def _harness(self, run: int, extra: Sequence[str] = ()) -> Harness:
        if run not in self.harnesses:
            self.harnesses[run] = Harness(
                self.program,
                run,
                [*self.options, *extra],
                self.settings.watchdog_s,
                self.launch,
            )
        return self.harnesses[run]

    def _take(self, run: int, records: Iterable[Record]) -> None:
        self.assembler.add(run, records)

    def _visit(self, run: int, key: str, method: str, flow: Flow) -> tuple[list[Record], float]:
        """One visit, unless the run's harness is gone; returns its records and the seconds it
        took.
        """
        runner = self._harness(run)
        if not runner.alive:
            return [], 0.0
        started = time.monotonic()
        runner.perform(Visit(run, key, method, flow))
        ended = time.monotonic()
        took_s = ended - started
        records = runner.take()  # in the time of the pause
        if not runner.alive:
            self.broken = True
            what = f"the harness {runner.why_gone} during {key}; its earlier visits are kept"
            self.assembler.problems.append(Problem(what, f"run {run}", "failed"))
        harness.pause_for_throttling(took_s, ended)
        return records, took_s

    def _prove(self) -> None:
        """Checks each contract with the expensive counters, in a run that ends before anything is
        timed.

        A circle that fails, or that this machine does not have, is visited no more: a hung one
        takes a watchdog's time.
        """
        self._harness(PROOF_RUN, ["--proof"])
        for done, key in enumerate(list(self.contracts)):
            self.progress.visits(done, len(self.methods), f"proof of {key}")
            records, _ = self._visit(PROOF_RUN, key, "proof", _PROOF_FLOW)
            self._take(PROOF_RUN, records)
            if any(isinstance(record, Failed | Skipped) for record in records):
                del self.contracts[key]
        self._take(PROOF_RUN, self._harness(PROOF_RUN).finish())

    def _calibrate_all(self) -> None:
        for done, key in enumerate(self.contracts):
            self.progress.visits(done, len(self.contracts), f"calibration of {key}")
            if cost := self._calibrate(key):
                self.costs[key] = cost

    def _calibrate(self, key: str) -> Cost | None:
        """Doubles the turns until a test fills a quarter of TEST_S. None if the circle cannot
        run.
        """
        turns, overhead_s = 4, 0.0
        while True:
            records, took_s = self._visit(
                self.calibrating, key, "accumulated", Flow(turns, 0, 1, 3)
            )
            group = next((r for r in records if isinstance(r, Group)), None)
            self._take(self.calibrating, [r for r in records if not isinstance(r, Group | Circle)])
            if group is None:
                return None
            best_s = min(group.values) / self._hz()
            # the ends of one way are out of order, as without priorities: more turns tell no more
            if best_s < 0:
                return Cost(turn_s=took_s / (3 * turns), visit_s=took_s)
            overhead_s = max(took_s - 3 * best_s, 1e-3)
            if best_s >= plan.TEST_S / 4 or turns >= 1 << 22:
                return Cost(turn_s=max(best_s, 1e-12) / turns, visit_s=overhead_s)
            turns = min(turns * max(2, int(plan.TEST_S / max(best_s, 1e-9))), 1 << 22)

    def _hz(self) -> float:
        return NS_PER_S if self.clock.unit == "ns" else self.clock.hz or NS_PER_S

    def _visit_all(self, deadline_s: float) -> float:
        """The planned visits; the seconds that were slept between rounds."""
        s, rng = self.settings, random.Random(self.settings.seed)
        keys = list(self.costs)
        left_s = deadline_s - time.monotonic() - self.cold_runs * len(keys) * _PASSES_S
        left_s /= 1 + plan.REFERENCE_SHARE  # references are visited besides
        rounds = self.rounds = self._rounds(left_s)
        share_s = left_s / max(1, len(keys))
        flows = self.flows = {key: self._flow(key, share_s, rounds) for key in keys}
        order = plan.shuffled(keys, s.runs, rounds, rng)
        began_s, reached, slept_s = time.monotonic(), 0, 0.0
        for done, (number, run, key) in enumerate(order):
            if number > reached:
                slept_s += self._wait(began_s + number * s.spread_s / rounds, number)
                reached = number
            self.progress.visits(done, len(order), key)
            if done % plan.REFERENCE_EVERY == 0:
                self._visit_references(run)
            if number == 0 and run <= self.cold_runs:
                self._timed(run, key, "passes", plan.single_flow(plan.PASSES))
            left_s = deadline_s + slept_s - time.monotonic()
            pace = plan.pace(left_s, len(order) - done, share_s / (s.runs * rounds))
            # a flow that was asked for is not cut, however late it is
            flow = flows[key] if flows[key] is s.flow else plan.paced(flows[key], pace)
            self._timed(run, key, self.methods[key], flow)
        self.progress.visits(len(order), len(order), "")
        return slept_s

    def _visit_again(self, deadline_s: float) -> None:
        """Further visits of circles of which most visits were disturbed, while there is time: a
        machine that other guests use now and then leaves some without any undisturbed test.
        """
        s = self.settings
        if s.flow is not None:
            return
        order = plan.again(self._undisturbed(), s.runs * self.rounds, random.Random(s.seed))
        for done, key in enumerate(order):
            if time.monotonic() > deadline_s:
                break
            self.progress.visits(done, len(order), f"{key} again")
            self._timed(done % s.runs + 1, key, self.methods[key], self.flows[key])

    def _undisturbed(self) -> dict[str, int]:
        """How many visits of each circle that has been timed were undisturbed."""
        found = undisturbed_visits(self.assembler.bundle())
        return {key: found[key] for key in self.flows if key in found}

    def _wait(self, due_s: float, number: int) -> float:
        """Sleeps until a round is due; the seconds slept."""
        wait_s = max(0.0, due_s - time.monotonic())
        if wait_s:
            rounds = self.settings.rounds
            self.progress.visits(number, rounds, f"waiting for round {number + 1} of {rounds}")
            time.sleep(wait_s)
        return wait_s

    def _rounds(self, left_s: float) -> int:
        """The rounds of visits that fit a time. Rounds with pauses between them stay as many as
        were planned: an analysis counts them.
        """
        s = self.settings
        if s.spread_s or s.flow is not None:
            return s.rounds
        visits_s = (
            plan.least_s(self._shape(key), cost) * (1 + harness.PAUSE_SHARE)
            for key, cost in self.costs.items()
        )
        return plan.rounds_within(left_s, s.runs * self.sides * sum(visits_s), s.rounds)

    def _shape(self, key: str) -> Flow:
        """The sizes of a circle's tests, with one test of each."""
        cost, method = self.costs[key], self.methods[key]
        return plan.accumulated_flow(cost, 1) if method == "accumulated" else plan.single_flow(1)

    def _flow(self, key: str, share_s: float, rounds: int) -> Flow:
        """The flow of one visit, so that all visits of a circle take about its share of the
        budget.
        """
        cost, method, s = self.costs[key], self.methods[key], self.settings
        if method == "passes":
            return plan.single_flow(plan.PASSES)
        if s.flow is not None and method == "accumulated" and key not in plan.REFERENCES:
            return s.flow
        flow = self._shape(key)
        tests = plan.tests_within(flow, cost, share_s, s.runs * self.sides, rounds)
        return Flow(flow.initial, flow.delta, flow.groups, tests)

    def _visit_references(self, run: int) -> None:
        for key in plan.REFERENCES:
            if key in self.costs:
                self._timed(run, key, "accumulated", plan.reference_flow(self.costs[key]))

    def _timed(self, run: int, key: str, method: str, flow: Flow) -> None:
        if not self._harness(run).alive:
            return  # the order on record is what was done
        records, _ = self._visit(run, key, method, flow)
        self._take(run, records)
        done: dict[str, Any] = {"run": run, "circle": key, "method": method}
        beside = [msgspec.to_builtins(r.counts) for r in records if isinstance(r, Visited)]
        self.order.append(done | ({"counts": beside[0]} if beside else {}))
        if self.trace is not None and self.trace.stopped:
            raise self._trace_stopped(key, records)

    def _trace_stopped(
        self, key: str, records: Iterable[Record]
    ) -> LatencyAbove | MeasurementFailed:
        """What stopped the kernel's trace during a visit with these records."""
        values = [value for r in records if isinstance(r, Pass) for value in r.values]
        largest_ns = max(values, default=0) / self._hz() * NS_PER_S
        if largest_ns < (self.settings.break_on_ns or 0):
            return MeasurementFailed(
                f"another program stopped the kernel's trace during {key}; run it again alone"
            )
        return LatencyAbove(f"a test of {key} took {largest_ns / 1e3:.5g} us, above --break-on")


def own_method(contract: Contract) -> str:
    """Accumulated, unless the interval's ends lie apart so that turns cannot be joined."""
    return "direct" if contract.interval.kind == "one_way" else "accumulated"
