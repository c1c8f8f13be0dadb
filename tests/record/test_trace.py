# SPDX-License-Identifier: BSD-2-Clause
"""The trace file: what is written is read, and nothing else is taken for it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclometer.errors import BadFile
from cyclometer.record import trace
from cyclometer.record.instructions import RISCV64, X86_64, matches
from cyclometer.record.schema import Group, Overhead, Pass
from tests.explain import machine


def steps(turns: int = 2) -> trace.Steps:
    return machine.window([0] * turns)[0].steps()


def refused(data: bytes, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        trace.windows(trace.decode(data, "x.trace"), "x.trace")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    one, two = steps(), steps(3)
    two["clock"] += 5000
    path = tmp_path / "x.trace"
    path.write_bytes(trace.encode(np.concatenate([one, two])))
    found = trace.windows(trace.load(path), str(path))
    assert [len(window) for window in found] == [len(one), len(two)]
    assert all(np.array_equal(a, b) for a, b in zip(found, (one, two), strict=True))


def test_a_step_has_80_bytes_as_the_format_says() -> None:
    data = trace.encode(steps())
    assert data[:16] == b"CYCTRACE" + bytes([2, 0, 0, 0, 80, 0, 0, 0])
    assert len(data) == 16 + 80 * len(steps())
    assert int.from_bytes(data[32:36], "little") == RISCV64.opens


def test_a_file_of_version_1_has_no_stack_pointers() -> None:
    now = steps()
    now["stack"] = 9
    rows = trace.encode(now)[16:]
    old = b"".join(rows[at : at + 72] for at in range(0, len(rows), 80))
    found = trace.decode(b"CYCTRACE" + bytes([1, 0, 0, 0, 72, 0, 0, 0]) + old, "x")
    assert not found["stack"].any()
    now["stack"] = 0
    assert np.array_equal(found, now)


def test_lanes_are_the_steps_of_each_hart() -> None:
    first, second = steps(), steps(3)
    second["flags"] |= 1 << 2
    found = trace.lanes(np.concatenate([first, second]))
    assert list(found) == [0, 1]
    assert np.array_equal(found[0], first)
    assert np.array_equal(found[1], steps(3))


def test_a_window_of_the_first_hart_holds_what_others_executed_meanwhile() -> None:
    first, second = steps(), steps(3)
    second["flags"] |= 1 << 2
    both = np.concatenate([first[:2], second, first[2:]])
    (found,) = trace.windows(both, "x")
    assert np.array_equal(found, both)
    wrong = both.copy()
    wrong["clock"][9:] += 1
    with pytest.raises(BadFile, match="the causes sum to"):
        trace.windows(wrong, "x")


def test_what_is_taken_apart_is_joined_again_by_the_clock() -> None:
    first, second = steps(), steps(3)
    second["flags"] |= trace.GIVEN_UP
    found = trace.lanes(trace.joined({0: first, 5: second}))
    assert np.array_equal(found[0], first)
    assert np.array_equal(found[5], second)
    assert (np.diff(trace.joined({0: first, 5: second})["clock"].astype(int)) >= 0).all()


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"cannot be read \(No such file"):
        trace.load(tmp_path / "none")


def test_other_bytes_are_refused() -> None:
    data = trace.encode(steps())
    refused(b"", "not a trace of version 1 or 2")
    refused(b"CYCTRACE" + bytes(8), "not a trace of version 1 or 2")
    refused(data[:8] + b"\3" + data[9:], "not a trace of version 1 or 2")
    refused(data[:-1], "ends inside a step")
    refused(trace.encode(steps()[1:]), "does not begin with the hint")


def test_a_file_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "FILE_MAX_BYTES", 1 << 10)
    refused(trace.encode(steps(9)), "is longer than")


@pytest.mark.parametrize(("field", "value"), [("privilege", 2), ("privilege", 9), ("flags", 64)])
def test_what_the_format_does_not_know_is_refused(field: str, value: int) -> None:
    wrong = steps()
    wrong[field][7] = value
    refused(trace.encode(wrong), "in step 7")


def test_causes_that_are_not_the_clock_are_refused() -> None:
    wrong = steps()
    wrong["clock"][9:] += 1
    refused(trace.encode(wrong), "window 0, step 9: the causes sum to 1, the clock went on by 2")
    back = steps()
    back["clock"][9] -= 3
    refused(trace.encode(back), "step 9")


def test_causes_too_large_for_their_sum_do_not_wrap() -> None:
    wrong = steps()
    wrong["causes"][5] = 2**32 - 1
    refused(trace.encode(wrong), f"step 5: the causes sum to {12 * (2**32 - 1)}")


@pytest.mark.parametrize("cut", [slice(0, -1), slice(0, 5)])
def test_a_window_without_end_is_refused(cut: slice) -> None:
    refused(trace.encode(steps()[cut]), "do not alternate")


def test_windows_inside_each_other_are_refused() -> None:
    inner = steps()
    refused(trace.encode(np.concatenate([inner[:4], inner, inner[4:]])), "do not alternate")


def test_no_steps_are_no_windows() -> None:
    assert trace.windows(trace.decode(trace.encode(steps()[:0]), "x"), "x") == []


@given(st.binary(max_size=400))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    whole = trace.encode(steps(1))
    for hostile in (
        data,
        whole[:16] + data,
        whole + data,
        whole[:100] + data + whole[100 + len(data) :],
    ):
        with suppress(BadFile):
            trace.windows(trace.decode(hostile, "x"), "x")


def test_instructions_are_known_by_their_bits() -> None:
    insn = np.array([0xC0202573, 0xC02025F3, 0xC0102573, 0xC02525F3], np.uint32)
    assert matches(insn, RISCV64.clock_reads["instret"]).tolist() == [True, True, False, False]
    calls = np.array(
        [0x008000EF, 0x0080006F, 0x000780E7, 0x9782, 0x9002 | 7 << 7, 0x8782], np.uint32
    )
    assert matches(calls, RISCV64.calls).tolist() == [True, False, True, True, True, False]
    returns = np.array([0x8082, 0x00008067, 0x10200073, 0x8782], np.uint32)
    assert matches(returns, RISCV64.returns).tolist() == [True, True, True, False]
    # rdtsc, rdtscp, each with what follows it
    reads = np.array([0x6690310F, 0x89F9010F], np.uint32)
    assert matches(reads, X86_64.clock_reads["tsc"]).all()


def values(
    kind: type[Group | Pass | Overhead], method: str, *given: int
) -> Group | Pass | Overhead:
    return kind(0, "x.y", method, 0, 0, 4, list(given), [0] * len(given))


def test_the_telling_test_is_the_last_of_a_flow_and_the_first_from_cold() -> None:
    flow = [values(Group, "accumulated", 40, 41), values(Group, "accumulated", 80, 81)]
    assert (
        trace.to_explain(flow, ["x.y"])["x.y"].window,
        trace.to_explain(flow, ["x.y"])["x.y"].value,
    ) == (3, 81)
    passes = [values(Overhead, "passes", 1, 1, 1), values(Pass, "passes", 900, 500)]
    assert (
        trace.to_explain(passes, ["x.y"])["x.y"].window,
        trace.to_explain(passes, ["x.y"])["x.y"].value,
    ) == (3, 900)
    direct = [values(Overhead, "direct", 1, 1), values(Pass, "direct", 900, 500)]
    assert trace.to_explain(direct, ["x.y"])["x.y"].window == 3
    assert trace.to_explain(direct, ["other"]) == {}
