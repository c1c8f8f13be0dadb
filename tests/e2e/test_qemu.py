# SPDX-License-Identifier: BSD-2-Clause
"""The reference kernel under QEMU: exact, repeatable to the byte, and its findings go the way
of the published ones.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from cyclometer.bundle.model import Bundle
from cyclometer.errors import MeasurementFailed, UsageError
from cyclometer.estimate.rows import estimates
from cyclometer.record.schema import Flow
from cyclometer.targets.api import MeasurementResult, Progress, Request
from cyclometer.targets.qemu import target as qemu

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not shutil.which(qemu.EMULATOR) or not shutil.which(qemu.CROSS),
        reason=qemu.virt().missing(),
    ),
]
SHORT = Flow(initial=4, delta=4, groups=2, tests=2)


def measure(
    board: str = "virt", only: tuple[str, ...] = ("*",), **config: str
) -> MeasurementResult:
    request = Request(only=only, config=config, flow=SHORT)
    return qemu.QemuTarget(board).measure(request, {}, Progress())


def counts(bundle: Bundle) -> dict[str, float]:
    """Instructions a turn by key; every row must be valid."""
    found = estimates(bundle)
    assert {e.contract.key: e.reason for e in found if not e.valid} == {}
    return {e.contract.key: e.latency.value for e in found if e.latency}


@pytest.fixture(scope="module")
def everything() -> MeasurementResult:
    return measure()


def test_two_boots_are_equal_to_the_byte(everything: MeasurementResult) -> None:
    first, second = everything.consoles.values()
    assert first.replace(b'"run":1', b"") != first
    records = [
        [line for line in c.splitlines() if b"@cyc" in line and b'"hello"' not in line]
        for c in (first, second)
    ]
    assert records[0] == records[1]


def test_every_contract_holds_and_every_test_of_a_size_is_the_same(
    everything: MeasurementResult,
) -> None:
    samples = everything.bundle.samples
    assert counts(everything.bundle)
    for index in range(len(everything.bundle.identity.rows)):
        for size in np.unique(samples.turns[samples.row == index]):
            rows = (
                (samples.row == index)
                & (samples.turns == size)
                & (samples.kind == 0)
                & (samples.tags == 0)
            )
            if everything.bundle.identity.rows[index].method == "accumulated":
                assert len(np.unique(samples.value[rows])) == 1, everything.bundle.identity.rows[
                    index
                ].contract.key


def test_the_empty_circle_is_the_loop_of_two_instructions(everything: MeasurementResult) -> None:
    found = counts(everything.bundle)
    assert found["floor.empty.kernel"] == found["floor.empty.user"] == 2


def test_the_first_figures_are_beaten(everything: MeasurementResult) -> None:
    found = counts(everything.bundle)
    assert found["endpoint.round_trip.words_0.same"] <= 300
    assert found["endpoint.round_trip.words_0.cross"] <= 380
    assert found["thread.yield.round_trip.u_to_u.same"] / 2 <= 300
    assert found["semaphore.give.immediate.kernel"] <= 25
    assert max(v for k, v in found.items() if k.startswith("notification.signal.wake+ctx.")) <= 350


def test_crossing_spaces_costs_the_space_switch(everything: MeasurementResult) -> None:
    found = counts(everything.bundle)
    pairs = [(key, key.removesuffix(".same") + ".cross") for key in found if key.endswith(".same")]
    compared = [(found[same], found[cross]) for same, cross in pairs if cross in found]
    assert len(compared) >= 5
    assert all(same < cross for same, cross in compared)


def test_an_image_of_another_kind_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(b"not an image")
    with pytest.raises(UsageError, match="not an ELF file"):
        qemu.virt().measure(Request(image=tmp_path / "image"), {}, Progress())


def test_a_kernel_that_never_speaks_is_given_up() -> None:
    (image,) = qemu.virt().build()
    with pytest.raises(MeasurementFailed, match="neither our records nor a format"):
        qemu.sifive_u().measure(Request(image=image, watchdog_s=3), {}, Progress())


@pytest.mark.parametrize("config", [{"mcs": "maybe"}, {"colour": "on"}])
def test_an_unknown_option_names_those_there_are(config: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="it has userspace=on"):
        measure(**config)
