# SPDX-License-Identifier: BSD-2-Clause
"""The SBI firmware answers alike under QEMU and on the RTL, which is what moving a kernel needs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cyclometer.targets.rocket import target as rocket
from cyclometer.targets.rocket_linux import m_mode
from cyclometer.targets.rocket_linux.elf import executable

MISSING = [name for name in ("qemu-system-riscv64", *m_mode.PACKAGES) if not shutil.which(name)]
pytestmark = [pytest.mark.e2e, pytest.mark.skipif(bool(MISSING), reason=f"needs {MISSING}")]

PAYLOAD = Path(__file__).with_name("payload.c")
SAID = """\
hart 0
specification 2000000
implementation 637963
probe ok 1
probe ok 1
probe ok 1
probe ok 1
probe ok 1
probe ok 1
probe ok 1
probe ok 1
probe ok 1
probe ok 0
marchid 1
base 9 unsupported 0
unknown unsupported 0
hart 0 ok 0
hart 1 refused 0
fence all ok 0
fence of another hart refused 0
counter ok 3fc00
counter refused 0
counter ok 3fc02
counter to stop refused 0
getchar ffffffffffffffff
by the debug console
console ok 15
console at the firmware refused 0
!
registers that took the time 1b
sp took the time 1
timer pending 0
timer interrupt 8000000000000005
timer pending 1
timer pending 0
send ok 0
software interrupt 8000000000000001
send to another hart refused 0
software pending 0
satp of Sv48 0
satp before 0
satp is ours 1
identifier bits 0
satp is ours 1
write of the time: cause 2
write of the time: here 1
CSR of machine mode: cause 2
CSR of machine mode: here 1
firmware's memory: cause 5
firmware's memory: address 80000000
lh ffffffffffff8382
lhu 8382
lw ffffffff87868584
lwu 87868584
ld 8d8c8b8a89888786
c.lw ffffffff86858483
c.ld 8f8e8d8c8b8a8988
c.lwsp ffffffff86858483
c.ldsp 8a89888786858483
stored 8821222324111281
stored 3233343536373889
stored 5897414243449231
stored a051525354555657
flw ffffffff21222324
fld 8988212223241112
stored 8821222324111281
stored 8821222324111289
stored 5897412122232489
stored a051525354555657
load into a missing page: cause d
load into a missing page: address 40001000
store into a missing page: cause f
store into a missing page: address 40001000
reset of an unknown type refused 0
"""


@pytest.fixture(scope="module")
def payload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    linked = tmp_path_factory.mktemp("payload") / "payload.elf"
    command = [f"{m_mode.CROSS}gcc", "-std=gnu11", "-O1", "-march=rv64imac_zicsr_zifencei"]
    command += [
        "-mabi=lp64",
        "-mcmodel=medany",
        "-ffreestanding",
        "-nostdlib",
        "-static",
        "-mno-relax",
    ]
    command += ["-no-pie", "-fno-pie", "-Wall", "-Wextra", "-Werror"]
    command += ["-Wl,-N,--no-warn-rwx-segments,--build-id=none,-Ttext=0x80200000"]
    command += ["-Wl,--section-start=.start=0x80200000", "-Wl,-Ttext=0x80200100"]
    subprocess.run([*command, "-o", linked, PAYLOAD], check=True)
    return linked


def content(elf: Path, folder: Path) -> bytes:
    """An image as it lies in memory, without the zeros behind it."""
    flat = folder / f"{elf.stem}.bin"
    subprocess.run([f"{m_mode.CROSS}objcopy", "-O", "binary", elf, flat], check=True)
    return flat.read_bytes()


def test_qemu(payload: Path) -> None:
    command = ["qemu-system-riscv64", "-M", "virt", "-cpu", "sifive-u54", "-m", "16"]
    command += ["-icount", "shift=0,sleep=off", "-nodefaults", "-display", "none"]
    command += ["-serial", "stdio", "-bios", m_mode.firmware(), "-kernel", payload]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == SAID
    assert done.returncode == 0


@pytest.mark.skipif(bool(rocket.rocket().missing()), reason=rocket.rocket().missing())
def test_the_rtl(payload: Path, tmp_path: Path) -> None:
    """Here `time` and misaligned accesses trap, and identifiers and Sv48 do not exist."""
    both = tmp_path / "both.elf"
    parts = {0x8000_0000: m_mode.firmware(), 0x8020_0000: payload}
    segments = [(address, content(elf, tmp_path)) for address, elf in parts.items()]
    both.write_bytes(executable(0x8000_0000, segments))
    simulator = rocket.rocket().build()[0]
    command = [simulator, "--max-cycles", "3000000", both]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == SAID
    assert done.returncode == 0, done.stderr
