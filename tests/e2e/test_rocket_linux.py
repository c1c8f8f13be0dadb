# SPDX-License-Identifier: BSD-2-Clause
"""Debian's riscv64 kernel, moved from QEMU to the RTL before a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclometer.errors import CyclometerError
from cyclometer.estimate.rows import estimates
from cyclometer.explain.explanation import explain
from cyclometer.explain.sources import trace
from cyclometer.record.schema import Flow
from cyclometer.targets.api import MeasurementResult, Progress, Request
from cyclometer.targets.linux.harness import Visit
from cyclometer.targets.qemu_linux import debian
from cyclometer.targets.qemu_linux.guest import Guest
from cyclometer.targets.rocket_linux.checkpoint import checkpoint
from cyclometer.targets.rocket_linux.target import RocketLinuxTarget, guest_of

TARGET = RocketLinuxTarget()
pytestmark = [pytest.mark.e2e, pytest.mark.skipif(bool(TARGET.missing()), reason=TARGET.missing())]
KERNEL = "debian@trixie:linux-image-6.12*-riscv64"
OPENSBI = Path("/usr/share/qemu/opensbi-riscv64-generic-fw_dynamic.elf")
SWITCHING = "futex.hand_off.same.equal"


@pytest.fixture(scope="module")
def kernel() -> str:
    try:
        return str(debian.fetch(KERNEL)[1]["vmlinuz"])
    except CyclometerError as error:
        pytest.skip(f"{KERNEL} cannot be fetched here: {error}")


@pytest.fixture(scope="module")
def measured(kernel: str) -> MeasurementResult:
    request = Request(only=("syscall.null",), kernel=kernel, runs=2, flow=Flow(8, 8, 2, 2))
    return TARGET.measure(request, {}, Progress())


def test_a_moved_circle_keeps_its_contract_and_is_timed_in_cycles(
    measured: MeasurementResult,
) -> None:
    (row,) = estimates(measured.bundle)
    assert (row.valid, row.reason, row.unproven) == (True, "", ())
    assert (row.clock.name, row.clock.unit, row.clock.exact) == ("cycle", "cycles", True)
    result = row.configuration
    assert (result["memory_latency"], result["machine"]) == ("0", "riscv64")
    assert 200 < row.latency.value < 1000  # 277 instructions in version 6.12
    assert len(measured.bundle.identity.plan["checkpoints"]["syscall.null"]) == 64


def test_a_moved_system_call_has_the_same_pc_as_in_qemu_at_every_step(kernel: str) -> None:
    found = TARGET.prove(Request(kernel=kernel), "syscall.null")
    assert found.identical
    assert (found.turns, found.differing, found.unexplained) == (8, {}, {})
    assert found.rtl_steps > 8 * 200


def test_a_moved_turn_is_explained_to_the_cycle(kernel: str) -> None:
    request = Request(only=(SWITCHING,), kernel=kernel)
    turn = explain(trace(TARGET, request, [SWITCHING], steady_only=True)[SWITCHING]["steady"])
    assert sum(part.total for part in turn.functions) == turn.whole.total
    assert sum(turn.whole.by_cause.values()) == turn.whole.total
    assert turn.whole.by_cause.get("unattributed", 0) <= 0.001 * turn.whole.total


@pytest.mark.usefixtures("measured")  # it has booted
def test_a_further_circle_needs_no_boot_and_its_checkpoint_repeats(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:

    def boots(*_: object) -> None:
        raise AssertionError("the kernel is booted again")

    monkeypatch.setattr(Guest, "unordered", boots)
    guest = guest_of(Request(kernel=kernel))
    contents = []
    for _ in range(2):
        visit = Visit(1, SWITCHING, "accumulated", Flow(3, 1, 2, 1))
        image = checkpoint(guest, visit, 600, supervisor=False).image
        contents.append(image.read_bytes())
        image.unlink()
    assert contents[0] == contents[1]


def test_two_runs_of_a_checkpoint_are_equal_to_the_byte(measured: MeasurementResult) -> None:
    assert measured.consoles["run-1"] == measured.consoles["run-2"]
    assert b'"kind":"group"' in measured.consoles["run-1"]


@pytest.mark.long
def test_a_moved_kernel_runs_above_opensbi(kernel: str) -> None:
    """A thread that switches reads the time, which takes ten times as long as in our firmware."""
    if not OPENSBI.exists():
        pytest.skip(f"needs {OPENSBI}")
    rows = {}
    for below in (None, str(OPENSBI)):
        asked = Request(only=(SWITCHING,), kernel=kernel, flow=Flow(2, 2, 2, 2), firmware=below)
        found = TARGET.measure(asked, {}, Progress())
        (rows[below],) = estimates(found.bundle)
        assert (b"OpenSBI v" in found.consoles["run-1"]) == (below is not None)
    ours, theirs = rows[None], rows[str(OPENSBI)]
    assert (theirs.valid, theirs.reason, theirs.unproven) == (True, "", ours.unproven)
    assert theirs.configuration["firmware"] == OPENSBI.name
    assert theirs.latency.value > 1.05 * ours.latency.value
