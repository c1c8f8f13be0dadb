# SPDX-License-Identifier: BSD-2-Clause
"""What `rocket-linux` refuses, how much it measures, and how it names what a kernel executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cyclometer.errors import MeasurementFailed, NothingMeasured, UsageError
from cyclometer.targets.api import Progress, Request
from cyclometer.targets.qemu_linux.symbols import Symbols
from cyclometer.targets.rocket_linux import checkpoint, target, trace
from cyclometer.targets.rocket_linux.state import CSRS, MachineState

lacking = target.RocketLinuxTarget().missing()
needs_tools = pytest.mark.skipif(bool(lacking), reason=lacking)


def kernel(folder: Path, config: str = "", magic: bytes = b"RSC\x05") -> str:
    head = bytearray(0x400)
    head[0x38:0x3C] = magic
    (folder / "Image").write_bytes(head)
    (folder / "Image.config").write_text(config)
    return str(folder / "Image")


def refused(**request: Any) -> str:
    with pytest.raises((UsageError, MeasurementFailed)) as caught:
        target.guest_of(target._with_config(Request(**request)))
    return f"{caught.value.exit_code} {caught.value}"


def test_what_cannot_run_there_is_one_sentence(tmp_path: Path) -> None:
    assert refused().startswith("2 target rocket-linux needs a kernel")
    assert "5 Image is a kernel for aarch64" in refused(kernel=kernel(tmp_path, magic=b"ARM\x64"))
    without = "# CONFIG_SIFIVE_PLIC is not set\nCONFIG_SERIAL_8250_CONSOLE=m\nCONFIG_FPU=y\n"
    assert (
        "5 Image is built without SERIAL_8250_CONSOLE and SIFIVE_PLIC, which it needs"
        in refused(kernel=kernel(tmp_path, without))
    )


def test_settings_of_a_matrix_are_those_of_the_options() -> None:
    assert "no setting colour" in refused(config={"colour": "red"})
    assert "memory_latency=x is not a number" in refused(config={"memory_latency": "x"})
    found = target._with_config(Request(config={"memory_latency": "20", "append": "quiet"}))
    assert (found.memory_latency_cyc, found.append, found.config) == (20, "quiet", {})


@needs_tools
def test_options_of_other_targets_and_circles_that_are_not_there_are_refused() -> None:
    one = target.RocketLinuxTarget()
    with pytest.raises(UsageError, match="--seed does not apply to target rocket-linux"):
        one.measure(Request(kernel="x", seed=1), {}, Progress())
    with pytest.raises(NothingMeasured, match="no circle matches --only"):
        one._chosen(("no.such.circle",))


@pytest.mark.parametrize("cost", [2, 300, 17_000, 60_000, 5_000_000])
def test_a_circle_is_measured_in_three_sizes_within_what_the_simulator_can_do(cost: int) -> None:
    flow = target.flow(cost)
    instructions = 6 * flow.initial * flow.tests * cost
    assert (flow.groups, flow.delta) == (3, flow.initial)
    assert instructions <= target._INSTRUCTIONS or (flow.initial, flow.tests) == (1, 2)
    assert 2 <= flow.tests <= 4


def state(**changed: Any) -> MachineState:
    csrs = dict.fromkeys(CSRS, 0) | {"satp": 8 << 60 | 0x81234}
    return MachineState(**{"pc": 0, "privilege": 0, "x": [], "f": [], "csrs": csrs} | changed)


def test_a_state_that_the_core_does_not_have_is_refused() -> None:
    checkpoint._check(state(), "k")
    for changed, says in (
        ({"privilege": 1}, "outside of user code"),
        ({"csrs": {"satp": 9 << 60}}, "translation mode 9"),
        ({"csrs": {"satp": 8 << 60 | 1 << 44}}, "address-space identifiers"),
    ):
        with pytest.raises(MeasurementFailed, match=says):
            checkpoint._check(state(**changed), "k")


@needs_tools
def test_executed_instructions_are_disassembled_where_they_stood() -> None:
    base = 0xFFFF_FFFF_8000_1000
    code = {
        base: 0x8082,  # ret
        base + 2: 0x0000_0073,  # ecall
        base + 0x100: 0xF01F_F0EF,  # jal ra, base
        base + 0x104: 0x0040_006F,  # j four further
    }
    known = Symbols([base, base + 0x100], ["first", "second"])
    found = trace.kernel_places(code, known)
    assert [(p.function, p.text.split()[0], p.starts) for p in found.values()] == [
        ("first", "ret", True),
        ("first", "ecall", False),
        ("second", "jal", True),
        ("second", "j", False),
    ]
    assert found[base + 0x100].text.endswith("ffffffff80001000 <first>")
    assert found[base + 0x104].text.endswith("ffffffff80001108 <second>")
    assert [place.insn for place in found.values()] == list(code.values())
