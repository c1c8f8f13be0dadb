# SPDX-License-Identifier: BSD-2-Clause
"""One axis of time for runs that each count from an origin of their own."""

from __future__ import annotations

import numpy as np
import pytest

from cyclometer.bundle.model import Clock
from cyclometer.estimate import timeline
from tests.estimate.visited import Visits


def interleaved(origins: dict[int, int], visits: int = 40, gap: int = 3, seed: int = 1) -> Visits:
    """Visits of runs with these origins in random order, one after another with `gap` ticks
    between.
    """
    rng = np.random.default_rng(seed)
    made, now = Visits(), max(origins.values())
    a, b = made.row("a"), made.row("b", "direct")
    for _ in range(visits):
        run, row = int(rng.choice(list(origins))), int(rng.choice([a, b]))
        values = rng.integers(5, 50, 3).tolist()
        made.add(row, run, now - origins[run], values)
        now += sum(values) + gap
    return made


def test_the_order_recovers_the_origins_to_the_gaps_between_visits() -> None:
    origins = {1: 0, 2: 12_345, 3: -700}
    bundle = interleaved(origins).bundle()
    seconds = timeline.seconds(bundle)
    assert seconds is not None
    truth = (bundle.samples.at + np.vectorize(origins.get)(bundle.samples.run)) / 1000
    assert seconds == pytest.approx(truth - truth.min(), abs=0.0031)
    assert np.all(np.diff(seconds) > 0)  # arrival order is the order of time


def test_the_origins_lie_in_the_middle_of_what_the_order_allows() -> None:
    """Run 2 ends at most at 100 + d, and begins at least at 10 + d, between the visits of run 1
    from 0 to 20 and from 150 on: its origin d is in [10, 50].
    """
    made = Visits()
    a = made.row("a")
    made.add(a, 1, 0, [20]).add(a, 2, 10, [90]).add(a, 1, 150, [5])
    seconds = timeline.seconds(made.bundle())
    assert seconds is not None
    assert seconds.tolist() == [0, (10 + 30) / 1000, 0.150]


def test_runs_are_connected_through_others() -> None:
    """Run 3 never stands beside run 1; run 2 between them says when it ran."""
    made = Visits()
    a = made.row("a")
    made.add(a, 1, 0, [10]).add(a, 2, 5, [10]).add(a, 3, 1000, [10])
    made.add(a, 2, 35, [10]).add(a, 1, 50, [10])
    seconds = timeline.seconds(made.bundle())
    assert seconds is not None
    # run 2: [5, 15] + d in [10, 50] and [35, 45] + d <= 50, so d = 5; run 3 then within [20, 40]
    assert seconds.tolist() == pytest.approx([0, 0.010, 0.025, 0.040, 0.050])


def test_stated_origins_need_no_order() -> None:
    made = interleaved({1: 0, 2: 500})
    stated = timeline.seconds(made.bundle(ordered=False, origins={"1": 7, "2": 507}))
    assert stated is not None
    at = np.array(made.columns["at"]) + 500 * (np.array(made.columns["run"]) == 2)
    assert stated == pytest.approx((at - at.min()) / 1000)
    half = timeline.seconds(made.bundle(ordered=False, origins={"2": 0}))
    assert half is not None
    assert np.isnan(half).tolist() == (np.array(made.columns["run"]) == 1).tolist()


def test_samples_outside_the_order_have_no_time() -> None:
    made = Visits()
    a, proof = made.row("a"), made.row("a", "proof")
    made.add(proof, 0, 0, [5]).add(a, 1, 0, [10]).add(a, 1, 20, [10])
    del made.order[0]
    seconds = timeline.seconds(made.bundle())
    assert seconds is not None
    assert np.isnan(seconds).tolist() == [True, False, False]
    assert seconds[1:].tolist() == [0, 0.020]


def test_visits_that_gave_no_samples_are_passed_over() -> None:
    """The plan lists what was tried: two visits of `a` in run 1, of which one gave nothing, and
    one of a circle that does not exist.
    """
    made = Visits()
    a = made.row("a")
    made.add(a, 1, 0, [10]).add(a, 2, 0, [10])
    made.order += [made.order[0], {"run": 1, "circle": "b", "method": "direct"}]
    seconds = timeline.seconds(made.bundle())
    assert seconds is None  # nothing bounds run 2 from above
    made.add(a, 1, 40, [10])
    assert timeline.seconds(made.bundle()) is not None


def test_a_clock_without_a_rate_is_taken_for_one_of_a_gigahertz() -> None:
    made = Visits()
    a = made.row("a", clock=Clock("cycle", "cycles"))
    made.add(a, 1, 0, [10]).add(a, 1, 2_000_000_000, [10])
    seconds = timeline.seconds(made.bundle())
    assert seconds is not None
    assert seconds.tolist() == [0, 2]


@pytest.mark.parametrize(
    "plan",
    [
        {},
        {"order": "nonsense"},
        {"order": [{"run": "1"}]},
        {"order": [{"run": 9, "circle": "a", "method": "accumulated"}]},
        {"origins": {"1": "x"}},
        {"origins": 5},
    ],
)
def test_a_plan_that_says_nothing_gives_no_axis(plan: dict[str, object]) -> None:
    bundle = interleaved({1: 0, 2: 500}).bundle(ordered=False, **plan)
    assert timeline.seconds(bundle) is None


def test_contradictions_give_no_axis() -> None:
    """Run 2 is to end before it began."""
    made = Visits()
    a = made.row("a")
    made.add(a, 1, 0, [20]).add(a, 2, 10, [90]).add(a, 1, 60, [5])
    assert timeline.seconds(made.bundle()) is None


def test_unknown_moments_and_empty_bundles_give_no_axis() -> None:
    made = Visits()
    a = made.row("a")
    assert timeline.seconds(made.bundle()) is None
    made.add(a, 1, -1, [10]).add(a, 1, 20, [10])
    assert timeline.seconds(made.bundle()) is None


def test_more_runs_than_a_table_should_hold_give_no_axis() -> None:
    made = Visits()
    a = made.row("a")
    made.add(a, 1, 0, [10]).add(a, timeline._MOST_RUNS - 1, 0, [10]).add(a, 1, 30, [10])
    assert timeline.seconds(made.bundle()) is not None
    made.add(a, timeline._MOST_RUNS, 0, [10]).add(a, 1, 90, [10])
    assert timeline.seconds(made.bundle()) is None
