# SPDX-License-Identifier: BSD-2-Clause
"""Latencies whose ends lie on two CPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from cyclometer.bundle.model import Bundle, Contract, Span
from cyclometer.estimate.rows import Estimate, estimates
from tests.report.sample_bundles import TSC, Maker

WAKE = Contract(
    key="wake.one_way.other_cpu",
    title="Wake-up",
    interval=Span("one_way"),
    params={"placement": "other_cpu"},
)
LATENCY = 5000.0  # ticks


def measured(contract: Contract, *bounds_ns: int | None) -> Bundle:
    bundle = Maker(tests=60).direct(contract, LATENCY).bundle()
    order: list[dict[str, Any]] = [
        {
            "run": 1,
            "circle": contract.key,
            "method": "direct",
            "counts": {"elapsed_ns": 1000} | ({} if ns is None else {"clock_offset_ns": ns}),
        }
        for ns in bounds_ns
    ]
    return replace(bundle, identity=structs.replace(bundle.identity, plan={"order": order}))


def estimate(contract: Contract, *bounds_ns: int | None) -> Estimate:
    (found,) = estimates(measured(contract, *bounds_ns))
    return found


def test_each_interval_is_wider_by_the_largest_bound_on_either_side() -> None:
    on_one_cpu = estimate(structs.replace(WAKE, params={}), 10, 40)
    found = estimate(WAKE, 10, 40, None)
    apart = 40e-9 * TSC.hz
    assert found.clock_offset == pytest.approx(apart)
    assert on_one_cpu.clock_offset is None
    for name in ("latency", "base", "overall"):
        wide, narrow = getattr(found, name), getattr(on_one_cpu, name)
        assert wide.value == narrow.value
        assert wide.interval.low == pytest.approx(narrow.interval.low - apart)
        assert wide.interval.high == pytest.approx(narrow.interval.high + apart)
    assert found.tails is not None
    assert on_one_cpu.tails is not None
    for wide, narrow in zip(found.tails.supported, on_one_cpu.tails.supported, strict=True):
        assert wide.interval.half_width == pytest.approx(narrow.interval.half_width + apart)


def test_a_bound_of_more_than_a_twentieth_of_the_latency_refuses_it() -> None:
    limit_ns = round(0.05 * LATENCY / TSC.hz * 1e9)
    assert estimate(WAKE, round(0.9 * limit_ns)).latency is not None
    found = estimate(WAKE, round(1.1 * limit_ns))
    assert found.latency is None
    assert not found.valid
    assert "apart, more than 5 % of its" in found.reason


def test_without_a_bound_there_is_no_latency() -> None:
    assert "is not known" in estimate(WAKE, None).reason


def test_a_round_trip_needs_none() -> None:
    there_and_back = structs.replace(WAKE, interval=Span("round_trip"))
    assert estimate(there_and_back, None).latency is not None
