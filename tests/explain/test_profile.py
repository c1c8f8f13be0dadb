# SPDX-License-Identifier: BSD-2-Clause
"""What samples say, and what chance leaves open."""

from __future__ import annotations

import numpy as np
import pytest

from cyclometer.errors import BadFile
from cyclometer.explain.profile import difference, jeffreys, shares
from cyclometer.record.profile import Profile, Stack, pack, unpack
from cyclometer.record.schema import Clock, Contract
from cyclometer.report import profile as report
from cyclometer.report.html import profile as page

STACKS = (
    Stack(("write", "entry", "pipe_write"), "kernel", 600),
    Stack(("write",), "user", 150),
    Stack(("read", "entry", "entry"), "kernel", 50),
)


def made(latency: float = 1000.0, expected: float | None = 1000.0, kernel: int = 600) -> Profile:
    stacks = (Stack(STACKS[0].frames, "kernel", kernel), *STACKS[1:])
    return Profile(
        target="linux",
        contract=Contract("pipe.round_trip", "Round <trip>"),
        configuration={"policy": "fifo"},
        clock=Clock("tsc", "ticks", 1e9),
        a_turn=latency,
        event="cpu-clock",
        precise=0,
        every=1_000_000,
        window_ns=10**9,
        turns=10**6,
        expected=expected,
        outside=3,
        lost=0,
        kernel_seen=True,
        stacks=stacks,
    )


def test_parts_sum_to_the_latency_and_what_no_sample_saw_is_one() -> None:
    found = shares(made())
    assert {one.name: one.samples for one in found.levels} == {
        "user": 150,
        "kernel": 650,
        "unseen": 200,
    }
    assert sum(one.value for one in found.levels) == pytest.approx(1000)
    assert sum(one.value for one in found.functions) == pytest.approx(1000)
    assert found.functions[0].name == "pipe_write"
    assert found.functions[0].value == pytest.approx(600)


def test_a_function_that_calls_itself_is_open_once() -> None:
    open_at = {one.name: one.samples for one in shares(made()).inclusive}
    assert open_at == {"write": 750, "entry": 650, "pipe_write": 600, "read": 50}


def test_without_an_expectation_nothing_is_unseen() -> None:
    assert [one.name for one in shares(made(expected=None)).levels] == ["user", "kernel"]


def test_the_interval_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    for p in (0.003, 0.1, 0.5):
        counts = rng.binomial(2000, p, 1000)
        covered = np.mean([jeffreys(int(n), 2000, 0.95).contains(p) for n in counts])
        assert covered == pytest.approx(0.95, abs=0.025)
    assert jeffreys(0, 10, 0.95).low == 0
    assert jeffreys(10, 10, 0.95).high == 1


def test_a_difference_is_in_the_clocks_unit_and_finds_the_changed_function() -> None:
    before, after = shares(made(1000, 800)), shares(made(1400, 1200, kernel=1000))
    first, *others = difference(before, after)
    assert first.name == "pipe_write"
    assert first.after - first.before == pytest.approx(1400 * 1000 / 1200 - 750)
    assert first.change.low > 300
    assert all(one.change.contains(0) for one in others)


def test_a_kept_profile_reads_back_and_a_damaged_one_is_said() -> None:
    packed = pack(made())
    assert unpack(packed, "x") == made()
    for damaged in (packed[:-9], b"", pack(made())[:30] + b"xx"):
        with pytest.raises(BadFile, match="not a profile"):
            unpack(damaged, "x")


def test_every_view_says_the_same() -> None:
    found = shares(made())
    assert report.as_json(found).functions[0].samples == 600
    html = page.document([found], [])
    assert "pipe_write" in html
    assert "<trip>" not in html
    assert "skid: a timer interrupt samples" in html
