# SPDX-License-Identifier: BSD-2-Clause
"""What a measurement does with circles that cannot be timed here, with a harness of ours in the
real one's place.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import Clock, Contract
from cyclometer.errors import UsageError
from cyclometer.record.schema import Circle, Failed, Flow, Group, Record, Skipped
from cyclometer.targets.api import Progress, Request
from cyclometer.targets.linux import measurement, target
from cyclometer.targets.linux.measurement import Measurement, MeasurementSettings

KEYS = ("good", "hangs", "absent")


class Answers(Measurement):
    """A measurement whose visits are answered at once, `per_turn` clock units a turn; `visited` is
    what was asked.
    """

    def __init__(self, per_turn: int = 100) -> None:
        contracts = [Contract(key) for key in KEYS]
        settings = MeasurementSettings(runs=2, rounds=2, budget_s=1.0)
        super().__init__(
            settings,
            Clock("tsc", "ticks", 1e9),
            contracts,
            Progress(),
            Assembler("linux", {}),
            Path("/bin/true"),
        )
        self.per_turn = per_turn
        self.visited: list[tuple[str, str, int]] = []

    def _visit(self, run: int, key: str, method: str, flow: Flow) -> tuple[list[Record], float]:
        del run
        self.visited.append((key, method, flow.initial))
        if key == "hangs":
            return [Failed(0, key, "did not finish")], 10.0
        if key == "absent":
            return [Skipped(0, key, "this kernel has none")], 0.01
        values = [self.per_turn * flow.initial] * flow.tests
        group = Group(1, key, method, 0, 0, flow.initial, values, list(range(flow.tests)))
        return [Circle(0, Contract(key), method, flow), group], 0.01


def test_rounds_of_a_spread_measurement_begin_at_equal_distances(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By a clock that only sleeping moves; what was slept is not taken from the time to measure."""
    now, slept = [100.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=sleep)
    monkeypatch.setattr(measurement, "time", clock)
    steady, spread = Answers(), Answers()
    spread.settings = replace(spread.settings, rounds=4, spread_s=120.0)
    steady.settings = replace(steady.settings, rounds=4)
    steady.run()
    steady.close()
    assert slept == []
    spread.run()
    spread.close()
    assert slept == [30.0] * 3
    assert spread.visited == steady.visited
    assert spread.result(interrupted=False).bundle.identity.plan["settings"]["spread_s"] == 120


@pytest.mark.parametrize(
    ("budget_s", "spread_s", "rounds"), [(0.19, 0.0, 5), (0.05, 0.0, 3), (0.19, 9.0, 7)]
)
def test_where_time_is_short_there_are_fewer_rounds(
    monkeypatch: pytest.MonkeyPatch, budget_s: float, spread_s: float, rounds: int
) -> None:
    """A visit takes 12 ms with the fewest tests, and two of them are a round; two cold ones take
    40 ms. An analysis counts the rounds that have pauses between them.
    """
    clock = SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: None)
    monkeypatch.setattr(measurement, "time", clock)
    found = Answers()
    found.settings = replace(found.settings, rounds=7, budget_s=budget_s, spread_s=spread_s)
    found.run()
    found.close()
    assert found.rounds == rounds
    assert len(found.order) >= 2 + 2 * rounds  # the cold visits, those planned, and some again


class Disturbed(Answers):
    """The same; time was stolen from the last `disturbed` of four tests of each visit."""

    def __init__(self, disturbed: int) -> None:
        super().__init__()
        self.settings = replace(self.settings, runs=4, budget_s=60.0)
        self.disturbed = disturbed

    def _visit(self, run: int, key: str, method: str, flow: Flow) -> tuple[list[Record], float]:
        four = Flow(flow.initial, flow.delta, flow.groups, 4)
        records, took_s = super()._visit(run, key, method, four)
        stolen_ns = {"steal_ns": [0] * (4 - self.disturbed) + [9] * self.disturbed}
        return [
            msgspec.structs.replace(one, visit=len(self.visited), counters=stolen_ns)
            if isinstance(one, Group)
            else one
            for one in records
        ], took_s


@pytest.mark.parametrize(("disturbed", "visits"), [(0, 8), (1, 8), (2, 16), (4, 16)])
def test_a_circle_without_enough_undisturbed_visits_is_visited_again(
    disturbed: int, visits: int
) -> None:
    """A visit needs three tests that count; eight are planned, and as many may be repeated."""
    found = Disturbed(disturbed)
    found.run()
    found.close()
    assert sum(entry["method"] == "accumulated" for entry in found.order) == visits


def test_no_circle_is_visited_again_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Disturbed(4)
    monkeypatch.setattr(measurement, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    seconds = itertools.count(0.0, 10.0)
    found.run()
    found.close()
    assert sum(entry["method"] == "accumulated" for entry in found.order) == 8


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (Request(spread_s=80.0), "no longer than the 80 s of measuring"),
        (Request(spread_s=600.0, flow=Flow(30, 1, 5, 30)), "leave --kbench out"),
    ],
)
def test_a_spread_that_cannot_be_is_refused(request_: Request, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        target.settings_of(request_)
    assert target.settings_of(Request(spread_s=20.0, quick=True)).rounds > 1


def test_a_circle_that_failed_its_proof_is_not_visited_again() -> None:
    measurement = Answers()
    measurement.run()
    measurement.close()
    asked = [key for key, _, _ in measurement.visited]
    assert (asked.count("hangs"), asked.count("absent")) == (1, 1)
    assert asked.count("good") > 4
    problems = {
        p.where: p.what for p in measurement.result(interrupted=False).bundle.identity.problems
    }
    assert problems["circle hangs"] == "did not finish"
    assert problems["circle absent"] == "this kernel has none"


def test_calibration_fills_a_quarter_of_a_test() -> None:
    measurement = Answers(per_turn=100)
    cost = measurement._calibrate("good")
    assert cost is not None
    assert cost.turn_s == pytest.approx(100e-9)
    assert [turns for _, _, turns in measurement.visited] == [4, 1500]


def test_a_clock_too_coarse_for_a_few_turns_is_given_more() -> None:
    measurement = Answers(per_turn=0)
    assert measurement._calibrate("good") is not None
    first, *more = (turns for _, _, turns in measurement.visited)
    assert (first, len(more), more[-1]) == (4, 2, 1 << 22)


def test_a_negative_latency_ends_calibration_at_once() -> None:
    measurement = Answers(per_turn=-100)
    cost = measurement._calibrate("good")
    assert len(measurement.visited) == 1
    assert cost is not None
    assert 0 < cost.turn_s <= 0.01
