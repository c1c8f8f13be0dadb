# SPDX-License-Identifier: BSD-2-Clause
"""Two sides in one session: what is visited when, with a harness made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclometer.bundle.model import Contract
from cyclometer.record.schema import Flow, Record
from cyclometer.targets import build
from cyclometer.targets.linux.paired import Paired
from tests.targets.linux.test_measurement import Answers


@pytest.fixture(autouse=True)
def _no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "harness", lambda: Path("/bin/true"))


class Half(Answers):
    """A side that writes down what was visited, and how the machine was set then."""

    def __init__(self, side: int, log: list[tuple[int, int, str, str, Flow]], state: list[int]):
        super().__init__(per_turn=100 * (side + 1))
        self.side, self.log, self.state = side, log, state

    def _visit(self, run: int, key: str, method: str, flow: Flow) -> tuple[list[Record], float]:
        assert self.state == [self.side]
        self.log.append((self.side, run, key, method, flow))
        return super()._visit(run, key, method, flow)


def test_each_visit_has_a_neighbour_and_the_first_one_alternates() -> None:
    log: list[tuple[int, int, str, str, Flow]] = []
    state, switched = [-1], []

    def switch(side: int) -> None:
        switched.append(side)
        state[0] = side

    halves = [Half(side, log, state) for side in (0, 1)]
    paired = Paired(halves, switch)
    paired.run()
    paired.close()
    timed = [one for one in log if one[1] <= paired.settings.runs and one[3] != "proof"]
    assert len(timed) == 2 * 2 * 2  # a circle's runs and rounds on both sides, and no cold passes
    for first, second in zip(timed[::2], timed[1::2], strict=True):
        assert {first[0], second[0]} == {0, 1}
        assert first[1:] == second[1:]
    assert len({first[0] for first in timed[::2]}) == 2
    results = [half.result(interrupted=False).bundle for half in halves]
    values = [one.samples.value / one.samples.turns for one in results]
    assert {float(v) for v in values[0]} == {100.0}
    assert {float(v) for v in values[1]} == {200.0}
    assert results[0].identity.plan["order"] == results[1].identity.plan["order"]


def test_references_are_pairs_like_all_others() -> None:
    log: list[tuple[int, int, str, str, Flow]] = []
    state = [-1]
    halves = [Half(side, log, state) for side in (0, 1)]
    for half in halves:
        half.contracts["floor.empty"] = Contract("floor.empty")
        half.methods["floor.empty"] = "accumulated"
    paired = Paired(halves, lambda side: state.__setitem__(0, side))
    paired.run()
    paired.close()
    settings = paired.settings
    timed = [key for _, run, key, method, _ in log if run <= settings.runs and method != "proof"]
    assert timed.count("floor.empty") == timed.count("good") == 2 * settings.runs * settings.rounds


def test_tests_are_as_long_as_the_slower_side_allows() -> None:
    log: list[tuple[int, int, str, str, Flow]] = []
    state = [-1]
    halves = [Half(side, log, state) for side in (0, 1)]
    paired = Paired(halves, lambda side: state.__setitem__(0, side))
    paired._calibrate_all()
    cost = paired.halves[1].costs["good"]
    assert cost.turn_s == pytest.approx(200e-9)
    assert paired.halves[0].costs["good"] == cost
