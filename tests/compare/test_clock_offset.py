# SPDX-License-Identifier: BSD-2-Clause
"""Changes of latencies whose ends lie on two CPUs, within one boot and from one to the next."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cyclometer.bundle.model import Bundle, Span
from cyclometer.compare.clock_offset import between_boots
from cyclometer.compare.pairing import Pair, pairs, side
from cyclometer.compare.statistics import Change, two_sided
from cyclometer.compare.verdicts import compare
from cyclometer.estimate.interval import Interval
from tests.estimate.visited import KHZ, Visits

TURN, BOUND = 1e5, 2e3  # ticks
CHANGE = Change(0.06, 0.01, 20.0, Interval(0.04, 0.08, 0.95), 1e-4)


def session(boot: str, bound: float = BOUND, slower: float = 1.0) -> Bundle:
    rng, made = np.random.default_rng(7), Visits(environment={"boot_id": boot})
    params = {"placement": "other_cpu"} if bound else {}
    row = made.row("a.b", "direct", interval=Span("one_way"), params=params)
    for visit in range(24):
        made.add(row, 1, 10**7 * visit, list(slower * TURN * rng.normal(1, 0.002, 12)))
        if bound:
            counts = {"elapsed_ns": 1, "clock_offset_ns": round(bound / KHZ.hz * 1e9)}
            made.order[-1]["counts"] = counts
    return made.bundle()


def pair(before: Bundle, after: Bundle) -> Pair:
    (found,) = pairs(side([before]), side([after]))
    return found


def test_sessions_of_one_boot_share_the_offset() -> None:
    assert between_boots(pair(session("one"), session("one")), CHANGE) is CHANGE


@pytest.mark.parametrize("boots", [("one", "two"), ("", "")])
def test_another_boot_may_have_another_offset(boots: tuple[str, str]) -> None:
    found = between_boots(pair(*map(session, boots)), CHANGE)
    both = 2 * math.log1p(BOUND / TURN)
    assert found.log_ratio == CHANGE.log_ratio
    assert found.log_interval.low == pytest.approx(0.04 - both, abs=1e-4)
    assert found.log_interval.high == pytest.approx(0.08 + both, abs=1e-4)
    assert found.p == pytest.approx(two_sided(0.06 - both, 0.01, 20), rel=0.01)


def test_what_the_offsets_can_explain_is_no_evidence() -> None:
    small = Change(-0.03, 0.001, 20.0, Interval(-0.032, -0.028, 0.95), 1e-9)
    assert between_boots(pair(session("one"), session("two")), small).p == 1


def test_rows_on_one_cpu_have_none() -> None:
    assert between_boots(pair(session("one", 0), session("two", 0)), CHANGE) is CHANGE


def test_a_verdict_rests_on_it() -> None:
    (within,) = compare(side([session("one")]), side([session("one", slower=1.2)])).findings
    (across,) = compare(side([session("one")]), side([session("two", slower=1.2)])).findings
    assert within.interval is not None
    assert across.interval is not None
    assert across.interval.low < within.interval.low
    assert across.interval.high > within.interval.high


def test_several_bundles_of_a_side_keep_the_largest_bound() -> None:
    merged = side([session("one", BOUND), session("one", 2 * BOUND)])
    assert merged.circles[0].estimate.clock_offset == pytest.approx(2 * BOUND)
