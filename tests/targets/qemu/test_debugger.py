# SPDX-License-Identifier: BSD-2-Clause
"""QEMU's debugger stub: registers by their names, memory past all translation."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from cyclometer.errors import MeasurementFailed
from cyclometer.targets.qemu.debugger import TRIED, Debugger

FILES = {
    "target.xml": b'<target><xi:include href="core.xml"/><xi:include href="system.xml"/></target>',
    "core.xml": b'<feature><reg name="x0" bitsize="64" type="int"/><reg name="x1" bitsize="64"/>',
    "system.xml": (
        b'<reg name="TTBR0_EL10" bitsize="64" regnum="7"/><reg name="TTBR0_EL1" bitsize="64" '
        b'regnum="146" group="x"/><reg name="NEXT" bitsize="64"/>'
    ),
}


def test_registers_are_found_by_the_numbers_that_descriptions_in_pieces_give_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def answer(_: object, words: str) -> bytes:
        asked.append(words)
        if words[0] == "p":
            return bytes([int(words[1:], 16), 0, 0, 0, 0, 0, 0, 0]).hex().encode()
        piece = re.fullmatch(r"qXfer:features:read:([a-z.]+):([0-9a-f]+),400", words)
        assert piece
        text, start = FILES[piece[1]], int(piece[2], 16)
        return (b"m" if start + 60 < len(text) else b"l") + text[start : start + 60]

    monkeypatch.setattr(Debugger, "_ask", answer)
    machine = object.__new__(Debugger)
    machine._numbers = {}
    assert [machine.register(name) for name in ("x1", "TTBR0_EL1", "NEXT")] == [1, 146, 147]
    assert [words for words in asked if words[0] == "p"] == ["p1", "p92", "p93"]
    assert len(asked) < 3 + 8  # the descriptions are read once
    with pytest.raises(MeasurementFailed, match="no register SATP"):
        machine.register("SATP")


@pytest.mark.e2e
@pytest.mark.skipif(not shutil.which("qemu-system-riscv64"), reason="needs qemu-system-riscv64")
def test_a_machine_at_its_reset_vector_can_be_read() -> None:
    command = ["qemu-system-riscv64", "-M", "virt", "-nodefaults", "-display", "none"]
    with Debugger([*command, "-serial", "stdio", "-bios", "none"], bound_s=60) as machine:
        assert machine.register("pc") == 0x1000
        assert machine.register("priv") == 3
        assert machine.riscv_csr(0x301) >> 62 == 2  # misa: 64 bits
        assert machine.riscv_csr(0x003) == 0  # fcsr, which QEMU 7.2 does not describe
        code = machine.physical_memory(0x1000, 4)
        assert int.from_bytes(code, "little") == 0x00000297  # auipc t0, 0
        assert machine.physical_memory(0x8000_0000, 3000) == bytes(3000)
        assert machine.memory(0x8000_0000, 3) == bytes(3)
        assert machine.memory(0x1000, 4) == code
        with pytest.raises(MeasurementFailed, match="does not understand"):
            machine.monitor("no such command")
        assert machine.register("pc") == 0x1000  # what it printed is not taken for an answer


def test_memory_that_is_refused_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Debugger, "_ask", lambda *_: b"E14")
    with pytest.raises(MeasurementFailed, match="cannot read its memory at 0x70"):
        object.__new__(Debugger).physical_memory(0x70, 8)


@pytest.mark.parametrize(
    ("version", "said"), [("8.1", ["one-insn-per-tb on"]), ("7.2", ["singlestep on"])]
)
def test_single_steps_are_asked_for_by_the_name_that_a_version_knows(
    monkeypatch: pytest.MonkeyPatch, version: str, said: list[str]
) -> None:
    taken, packets = [], []

    def send(_: object, words: str) -> None:
        command = bytes.fromhex(words.removeprefix("qRcmd,")).decode()
        known = not command.startswith("one-insn") or version == "8.1"
        packets.extend([b"OK"] if known else [b"O" + b"unknown command".hex().encode(), b"OK"])
        taken.extend([command] if known else [])

    monkeypatch.setattr(Debugger, "_send", send)
    monkeypatch.setattr(Debugger, "_packet", lambda _: packets.pop(0))
    object.__new__(Debugger).log("exec")
    assert taken == [*said, "log exec"]
    assert packets == []


def test_the_limits_name_the_version_that_messages_recommend(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = (Path(__file__).parents[3] / "LIMITS.md").read_text()
    assert f"run with QEMU {TRIED}," in limits
    monkeypatch.setattr(Debugger, "_answer", lambda *_: b"unknown command")
    with pytest.raises(MeasurementFailed, match=f"version {re.escape(TRIED)} does"):
        object.__new__(Debugger).monitor("no such command")
