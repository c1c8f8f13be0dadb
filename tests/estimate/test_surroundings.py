# SPDX-License-Identifier: BSD-2-Clause
"""Rates of what happened beside visits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cyclometer.bundle.model import SCHEMA, Identity
from cyclometer.estimate import surroundings


def identity(*order: Any) -> Identity:
    return Identity(SCHEMA, "2026-11-01T00:00:00+00:00", "linux", (), plan={"order": list(order)})


def visit(circle: str, **counts: Any) -> dict[str, Any]:
    return {"run": 1, "circle": circle, "method": "accumulated", "counts": counts}


def test_counts_become_rates_of_each_visit() -> None:
    found = surroundings.rates(
        identity(
            visit("a", elapsed_ns=2_000_000, foreign_switches=1, steal_ns=500_000, idle_us=300),
            visit("b", elapsed_ns=4_000_000, foreign_switches=0, pressure_us=1000),
            {"run": 1, "circle": "a", "method": "accumulated"},
        )
    )
    np.testing.assert_allclose(found["foreign_switches"], [500, 0])
    np.testing.assert_allclose(found["steal_ns"], [0.25])
    np.testing.assert_allclose(found["pressure_us"], [0.25])
    np.testing.assert_allclose(found["idle_us"], [0.15])


def test_a_circle_has_its_own_and_what_was_not_counted_is_absent() -> None:
    one = identity(visit("a", elapsed_ns=1000, steal_ns=10), visit("b", elapsed_ns=1000))
    assert list(surroundings.rates(one, "a")) == ["steal_ns"]
    assert surroundings.rates(one, "b") == {}


def test_idle_states_are_summed_over_the_visits_of_a_circle() -> None:
    one = identity(
        visit("a", elapsed_ns=1, idle_states={"POLL": 1, "C1": 2}),
        visit("a", elapsed_ns=1, idle_states={"C1": 3}),
        visit("b", elapsed_ns=1, idle_states={"C6": 4}),
    )
    assert surroundings.idle_states(one, "a") == {"POLL": 1, "C1": 5}
    assert surroundings.idle_states(one, "c") == {}


@pytest.mark.parametrize(
    "order", [["x"], [{"circle": 1}], [visit("a", elapsed_ns=-1)], [visit("a", elapsed_ns=0)]]
)
def test_a_plan_that_makes_no_sense_tells_nothing(order: list[Any]) -> None:
    assert surroundings.rates(identity(*order)) == {}


def test_shares_of_the_time_have_two_digits_and_no_exponent() -> None:
    said = [surroundings.in_words("pressure_us", share) for share in (1, 0.104, 0.0034)]
    assert [words.split(" of")[0] for words in said] == ["100 %", "10 %", "0.34 %"]
