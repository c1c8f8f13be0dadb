# SPDX-License-Identifier: BSD-2-Clause
"""A random machine state that an image restores on QEMU reads back equal."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from cyclometer.errors import MeasurementFailed
from cyclometer.targets.qemu.debugger import Debugger
from cyclometer.targets.rocket_linux import m_mode
from cyclometer.targets.rocket_linux.device_tree import RAM_BASE
from cyclometer.targets.rocket_linux.moved_image import moved_image, moved_supervisor, time_ticks
from cyclometer.targets.rocket_linux.state import CSRS, MachineState, read_state

MISSING = [name for name in ("qemu-system-riscv64", *m_mode.PACKAGES) if not shutil.which(name)]
pytestmark = [pytest.mark.e2e, pytest.mark.skipif(bool(MISSING), reason=f"needs {MISSING}")]

RAM_BYTES = 2 << 20
LOOP_AT = 0x1_2340  # of RAM; behind it is where the guest goes on, in a page table's reach
PC = RAM_BASE + LOOP_AT
TABLE_AT = 0x10_0000
SELF_JUMP = 0x0000006F.to_bytes(4, "little")
GIGAPAGE = 0xCF  # valid, readable, writable, executable, accessed, dirty
FOR_USER = 0x10

# What of a CSR is kept, where not all of it; as QEMU's sifive-u54 has it.
MASKS = {
    "fcsr": 0xFF,
    "mtvec": ~3,
    "stvec": ~3,
    "sepc": ~1,
    "medeleg": 0xB109,
    "mideleg": 0x222,
    "mie": 0xAAA,
    "mip": 0x22,
    "mcounteren": 0x7,
    "scounteren": 0x7,
    "scause": 0xFF,
    "mcause": 0xFF,
    **{f"pmpaddr{i}": (1 << 30) - 1 for i in range(8)},
}
STATUS_KEPT = 0x0008_6122 | 0x8  # MXR, SUM, FS, SPP, SPIE, SIE, MIE


def random_state(seed: int, privilege: int) -> MachineState:
    rng = random.Random(seed)
    csrs = {name: rng.getrandbits(64) & MASKS.get(name, -1) for name in CSRS}
    csrs["satp"] = 8 << 60 | (RAM_BASE + TABLE_AT) >> 12
    csrs["pmpcfg0"] = 0x1F1F_1F1F_1F1F_1F1F  # all RAM for everyone, by the last entry at least
    csrs["pmpaddr7"] = (1 << 30) - 1
    csrs["mcycle"], csrs["minstret"] = 1 << 40, 1 << 40
    csrs["mstatus"] = rng.getrandbits(64) & (STATUS_KEPT & ~0x6000) | 0x6000
    csrs["mie"] = 0  # else what is pending would interrupt the guest at once
    return MachineState(
        pc=PC,
        privilege=privilege,
        x=[rng.getrandbits(64) for _ in range(31)],
        f=[rng.getrandbits(64) for _ in range(32)],
        csrs=csrs,
        bytes_=[(0x1000_0003, 0x13), (0x1000_0002, 1), (0x1000_0004, 0x0B), (0x1000_0001, 0x05)],
        words=[
            *((0xC00_0000 + 4 * source, rng.randrange(8)) for source in range(1, 9)),
            *((0xC00_2000, 0x1F4), (0xC00_2080, 0x2)),
            *((0xC20_0000, rng.randrange(8)), (0xC20_1000, rng.randrange(8)), (0x200_0000, 1)),
        ],
        doubles=[
            (0x200_4000, 2**64 - 1),
            (0x200_BFF8, 5_000_000_000),
            (0x200_4000, 2**62 + rng.getrandbits(60)),
        ],
    )


def restored(state: MachineState, folder: Path) -> MachineState:
    ram = bytearray(RAM_BYTES)
    ram[LOOP_AT : LOOP_AT + 4] = SELF_JUMP
    flags = GIGAPAGE | (0 if state.privilege else FOR_USER)
    entry = (RAM_BASE >> 12 << 10 | flags).to_bytes(8, "little")
    ram[TABLE_AT + 8 * 2 : TABLE_AT + 8 * 3] = entry  # 0x80000000 to 0xc0000000, as it is
    image = folder / "moved.elf"
    image.write_bytes(moved_image(bytes(ram), m_mode.restore_program(), state))
    # from the image's own entry
    return at_pc(state, "-bios", "none", "-device", f"loader,file={image},cpu-num=0")


def at_pc(state: MachineState, *options: str) -> MachineState:
    """The state of a machine that has come to where `state` goes on."""
    command = ["qemu-system-riscv64", "-M", "virt", "-cpu", "sifive-u54", "-m", "16"]
    command += ["-icount", "shift=0,sleep=on", "-nodefaults", "-display", "none"]
    with Debugger([*command, "-serial", "stdio", *options], bound_s=60) as machine:
        machine.run_to([state.pc])
        return read_state(machine)


@pytest.mark.parametrize("privilege", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_a_restored_state_reads_back_equal(seed: int, privilege: int, tmp_path: Path) -> None:
    state = random_state(seed, privilege)
    found = restored(state, tmp_path)
    assert (found.pc, found.privilege) == (state.pc, privilege)
    assert list(found.x) == list(state.x)
    assert list(found.f) == list(state.f)
    assert list(found.bytes_) == list(state.bytes_)
    assert list(found.words) == list(state.words)
    assert found.doubles[2] == state.doubles[2]
    # It goes on while QEMU stands still, by the host's clock.
    assert 0 <= found.doubles[1][1] - state.doubles[1][1] < 10_000_000
    for name in set(CSRS) - {"mstatus", "mepc", "mcycle", "minstret"}:
        kept = MASKS.get(name, -1)
        assert found.csrs[name] & kept == state.csrs[name] & kept, name
    assert (found.csrs["mstatus"] ^ state.csrs["mstatus"]) & STATUS_KEPT == 0
    assert found.csrs["minstret"] >= state.csrs["minstret"]


KERNEL_AT = 2 << 20  # of RAM; below it is the firmware
# QEMU starts a kernel at its lowest address: auipc t0, 0x200; jr t0
TO_PROGRAM = 0x00028067_00200297.to_bytes(8, "little")
USER_AT = 0xC000_0000  # where the guest's page tables show it all RAM


def restored_above_firmware(state: MachineState, folder: Path) -> MachineState:
    ram = bytearray(2 * KERNEL_AT)
    ram[KERNEL_AT + LOOP_AT : KERNEL_AT + LOOP_AT + 4] = SELF_JUMP
    ram[KERNEL_AT : KERNEL_AT + 8] = TO_PROGRAM
    entry = (RAM_BASE >> 12 << 10 | GIGAPAGE | FOR_USER).to_bytes(8, "little")
    table = KERNEL_AT + TABLE_AT
    ram[table + 8 * 3 : table + 8 * 4] = entry
    image = folder / "moved.elf"
    image.write_bytes(moved_supervisor(bytes(ram), m_mode.restore_program(True), state))
    assert time_ticks(image) == state.doubles[1][1]
    return at_pc(state, "-bios", str(m_mode.firmware()), "-kernel", str(image))


@pytest.mark.parametrize("seed", range(4))
def test_what_a_supervisor_has_is_restored_above_firmware(seed: int, tmp_path: Path) -> None:
    drawn = random_state(seed, privilege=0)
    csrs = {**drawn.csrs, "satp": 8 << 60 | (RAM_BASE + KERNEL_AT + TABLE_AT) >> 12}
    state = replace(drawn, pc=USER_AT + KERNEL_AT + LOOP_AT, csrs=csrs)
    found = restored_above_firmware(state, tmp_path)
    assert (found.pc, found.privilege) == (state.pc, 0)
    assert (list(found.x), list(found.f)) == (list(state.x), list(state.f))
    assert list(found.bytes_) == list(state.bytes_)
    assert list(found.words[:-1]) == list(state.words[:-1])  # the last is M mode's
    assert found.doubles[2] == state.doubles[2]
    for name in ("fcsr", "scounteren", "sscratch", "stvec", "scause", "stval", "satp"):
        kept = MASKS.get(name, -1)
        assert found.csrs[name] & kept == csrs[name] & kept, name
    supervisors = 0xC_6000  # MXR, SUM, FS
    assert (found.csrs["mstatus"] ^ csrs["mstatus"]) & supervisors == 0
    assert bool(found.csrs["mstatus"] & 2) == bool(csrs["mstatus"] & 2)  # SIE


def test_a_guest_that_uses_the_place_of_ram_is_not_moved_above_firmware() -> None:
    state = random_state(0, privilege=0)
    satp = 8 << 60 | (RAM_BASE + KERNEL_AT + TABLE_AT) >> 12
    ram = bytearray(2 * KERNEL_AT)
    ram[KERNEL_AT + TABLE_AT + 8 * 2] = GIGAPAGE
    with pytest.raises(MeasurementFailed, match="mapped memory at 0x80000000, where --firmware"):
        moved_supervisor(bytes(ram), b"", replace(state, csrs={**state.csrs, "satp": satp}))
