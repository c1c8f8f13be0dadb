# SPDX-License-Identifier: BSD-2-Clause
"""Evidence from a traced boot, and as a bundle keeps it: the same explanation, and hostile files
are refused.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatch
from fractions import Fraction
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclometer.errors import BadFile, MeasurementFailed, NotComparable, UsageError
from cyclometer.explain import evidence as evidences
from cyclometer.explain import sources
from cyclometer.explain.explanation import explain
from cyclometer.record.schema import Circle, Failed, Flow, Group, Hello, Record
from cyclometer.record.trace import TraceResult
from cyclometer.targets.api import TRACE_FLOW, Request
from tests.explain import machine

KEY = "thing.poke"


def boot() -> TraceResult:
    """Two sizes of a test, the larger one traced."""
    small, large = machine.evidence([0] * 2), machine.evidence([0] * 4)
    contract = large.facts.contract
    records: list[Record] = [
        Hello(0, 1, "made-up", "1", machine.CYCLES, {"mcs": "off"}),
        Circle(1, contract, "accumulated", Flow(2, 2, 2, 1)),
        Group(2, KEY, "accumulated", 0, 0, 2, [small.facts.test.value], [0]),
        Group(3, KEY, "accumulated", 0, 1, 4, [large.facts.test.value], [0]),
        Circle(
            4,
            msgspec.structs.replace(contract, key="floor.empty.kernel"),
            "accumulated",
            Flow(2, 2, 2, 1),
        ),
        Group(5, "floor.empty.kernel", "accumulated", 0, 0, 2, [10], [0]),
        Group(6, "floor.empty.kernel", "accumulated", 0, 1, 4, [15], [0]),
        Failed(7, "thing.broken", "it waits for what never comes"),
    ]
    return TraceResult(records, {KEY: large.steps}, large.places)


class Emulator:
    """A target that can trace."""

    name = "made-up"
    trace_flow = TRACE_FLOW

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def trace(self, request: Request, keys: Sequence[str]) -> TraceResult:
        self.requests.append(request)
        assert keys == [KEY]
        return boot()


def test_the_latency_is_the_slope_between_two_sizes() -> None:
    one = evidences.gather("made-up", boot(), [KEY], "steady")[KEY]
    assert one.latency == machine.LENGTH
    assert one.others == {"floor.empty.kernel": 5 / 2}
    assert explain(one).turn.steady


def test_a_boot_that_was_not_traced_says_what_a_turn_costs() -> None:
    asked = replace(boot(), latencies={KEY: Fraction(machine.LENGTH + 1)})
    assert evidences.gather("made-up", asked, [KEY], "steady")[KEY].latency == machine.LENGTH + 1


def test_a_circle_that_failed_says_why() -> None:
    with pytest.raises(MeasurementFailed, match="it waits for what never comes"):
        evidences.gather("made-up", boot(), ["thing.broken"], "steady")
    with pytest.raises(MeasurementFailed, match="no such circle"):
        evidences.gather("made-up", boot(), ["thing.else"], "steady")
    with pytest.raises(MeasurementFailed, match="wrote no records"):
        evidences.gather("made-up", TraceResult([], {}, boot().places), [KEY], "steady")


def test_what_a_bundle_keeps_explains_the_same() -> None:
    one = evidences.gather("made-up", boot(), [KEY], "steady")[KEY]
    again = evidences.unpack(evidences.pack(one), "x")
    assert again.facts == one.facts
    assert np.array_equal(again.steps, one.steps)
    for view in (
        "phases",
        "modes",
        "functions",
        "lines",
        "instructions",
        "stacks",
        "segments",
        "floor",
    ):
        assert getattr(explain(again), view) == getattr(explain(one), view)
    assert evidences.pack(again) == evidences.pack(one)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "damaged"),
        (b"not gzip", "damaged"),
        (gzip.compress(b"{}\n", mtime=0), "damaged"),
        (gzip.compress(b"[" * 100_000, mtime=0), "damaged"),
        (gzip.compress(b"x", mtime=0)[:-3], "damaged"),
    ],
)
def test_a_damaged_file_is_one_sentence(data: bytes, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        evidences.unpack(data, "x.gz")


def test_a_latency_over_nothing_is_refused() -> None:
    one = machine.evidence([0, 0])
    wrong = replace(one, facts=msgspec.structs.replace(one.facts, latency=(1, 0)))
    with pytest.raises(BadFile, match="over zero turns"):
        evidences.unpack(evidences.pack(wrong), "x.gz")


def test_a_file_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidences, "_UNPACKED_MAX_BYTES", 1 << 20)
    with pytest.raises(BadFile, match="unpacks to more than 1 MiB"):
        evidences.unpack(gzip.compress(bytes(2 << 20)), "x.gz")


@given(st.binary(max_size=300), st.integers(0, 2000))
def test_no_bytes_crash_the_reader(data: bytes, at: int) -> None:
    plain = gzip.decompress(evidences.pack(machine.evidence([0, 0])))
    hostile = gzip.compress(plain[:at] + data + plain[at + len(data) :])
    with suppress(BadFile, MeasurementFailed):
        explain(evidences.unpack(hostile, "x"))


def test_two_boots_tell_a_steady_and_a_cold_turn() -> None:
    emulator = Emulator()
    found = sources.trace(emulator, Request(only=(KEY,)), [KEY])
    assert list(found[KEY]) == ["steady", "cold"]
    steady, cold = emulator.requests
    assert (steady.method, cold.method) == (None, "passes")
    assert all(
        any(fnmatch(key, pattern) for pattern in steady.only) for key in evidences.FLOOR_KEYS
    )
    assert cold.only == (KEY,)
    assert steady.flow == TRACE_FLOW


def test_a_target_that_cannot_trace_says_so() -> None:
    with pytest.raises(NotComparable, match="target it records no instruction traces"):
        sources.trace(type("It", (), {"name": "it"})(), Request(), [KEY])


def test_a_bundle_keeps_traces_by_key_and_role(tmp_path: Path) -> None:
    for name, data in sources.files({KEY: {"steady": machine.evidence([0, 0])}}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    assert list(sources.kept(tmp_path, KEY)) == ["steady"]
    with pytest.raises(
        UsageError, match=r"no trace of 'other'; it has those of thing\.poke; make some"
    ):
        sources.kept(tmp_path, "other")
    with pytest.raises(UsageError, match=r"no trace of '\.\./thing\.poke'"):
        sources.kept(tmp_path, f"../{KEY}")
    with pytest.raises(UsageError, match="it has none"):
        sources.kept(tmp_path / "none", KEY)


class Tracer:
    """A target that has a test of one circle."""

    name = "made-up"
    trace_flow = TRACE_FLOW

    def trace(self, request: Request, keys: Sequence[str]) -> TraceResult:
        del request, keys
        one = boot()
        return replace(one, records=[*one.records, Failed(9, "thing.long", "a turn is too long")])


def test_a_circle_without_a_test_costs_others_nothing_where_its_reason_is_taken() -> None:
    untraced: list[str] = []
    found = sources.trace(Tracer(), Request(), ["thing.long", KEY], untraced=untraced)
    assert {key: sorted(roles) for key, roles in found.items()} == {
        "thing.long": [],
        KEY: ["cold", "steady"],
    }
    assert set(untraced) == {"made-up has no test of thing.long to explain: a turn is too long"}
    with pytest.raises(MeasurementFailed, match="a turn is too long"):
        sources.trace(Tracer(), Request(), ["thing.long", KEY])
