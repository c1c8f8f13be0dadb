# SPDX-License-Identifier: BSD-2-Clause
"""A saved machine is given its orders where the harness left pages for them, wherever they lie."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cyclometer.errors import MeasurementFailed, UsageError
from cyclometer.targets.qemu_linux import orders
from cyclometer.targets.qemu_linux.orders import PAGE_BYTES, PAGES

STOOD = b"globalstate" + bytes(8) + b"\0\0\0\6" + b"debug" + bytes(95)


def page(number: int) -> bytes:
    return (b"cyclometer: orders %02d\n\0" % number).ljust(PAGE_BYTES, b".")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Pages in any order with others between them, and the format that the program holds."""
    numbers = list(range(PAGES))
    random.Random(1).shuffle(numbers)
    pages = b"".join(b"head" + page(number) + bytes(100) for number in numbers)
    path = tmp_path / "state"
    path.write_bytes(b"cyclometer: orders %02u\n\0" + pages + STOOD)
    return path


def test_orders_stand_in_the_pages_in_their_order_and_the_state_is_kept(state: Path) -> None:
    before = state.read_bytes()
    where = orders.places(before)
    plan = "visit a accumulated 1 1 1 1\n" * 300
    with orders.given(state, "--run\n1\n", plan) as copy:
        machine = copy.read_bytes()
    written = b"".join(machine[at : at + PAGE_BYTES] for at in where)
    assert written.rstrip(b"\0").decode() == f"--run\n1\n\n{plan}"
    assert len(machine) == len(before)
    assert state.read_bytes() == before
    assert not copy.exists()


def test_a_machine_that_a_debugger_stopped_runs_when_it_is_continued(state: Path) -> None:
    orders.make_ready(state)
    assert state.read_bytes().count(b"running" + bytes(93)) == 1
    assert b"debug" not in state.read_bytes()


def test_a_machine_without_such_pages_and_too_many_orders_are_refused(state: Path) -> None:
    with (
        pytest.raises(UsageError, match="fewer of them by --only"),
        orders.given(state, "", "visit\n" * PAGE_BYTES * PAGES),
    ):
        pass
    state.write_bytes(state.read_bytes().replace(page(3), page(4)))
    with pytest.raises(MeasurementFailed, match="no place for its orders"):
        orders.make_ready(state)
    with (
        pytest.raises(MeasurementFailed, match="cannot be copied"),
        orders.given(state.with_name("gone"), "", ""),
    ):
        pass
