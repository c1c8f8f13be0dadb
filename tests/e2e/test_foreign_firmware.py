# SPDX-License-Identifier: BSD-2-Clause
"""OpenSBI, as QEMU's package carries it, below S-mode images on the RTL."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cyclometer.errors import UsageError
from cyclometer.record.span import Spanned, Wanted
from cyclometer.targets.api import Request
from cyclometer.targets.rocket import firmware
from cyclometer.targets.rocket import target as rocket
from cyclometer.targets.rocket_linux import m_mode

COMPILER = "riscv64-unknown-elf-gcc"
OPENSBI = Path("/usr/share/qemu/opensbi-riscv64-generic-fw_dynamic.elf")
ROCKET = rocket.rocket()
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(ROCKET.missing()), reason=ROCKET.missing()),
    pytest.mark.skipif(not OPENSBI.exists(), reason=f"needs {OPENSBI}"),
]
MACHINE_MODE = 3
TIME_TICKS = 5_000_000_000

# Tells whether the time is as late as it was set, reads it once more, and shuts down.
CODE = f"""
    .globl _start, window, behind
_start:
    rdtime  s0
    li      t0, {TIME_TICKS}
    li      a0, 'y'
    bgeu    s0, t0, 1f
    li      a0, 'n'
1:  li      a7, 1                   # putchar
    ecall
    j       window
window:
    rdtime  s1
behind:
    li      a7, 0x53525354          # system reset: shut down
    li      a6, 0
    li      a0, 0
    li      a1, 0
    ecall
2:  j       2b
"""


def linked(folder: Path, at: int) -> Path:
    source, image = folder / "image.S", folder / f"image-{at:x}.elf"
    source.write_text(CODE)
    flags = ["-nostdlib", "-static", "-march=rv64ima_zicsr", "-mabi=lp64", f"-Wl,-N,-Ttext={at:#x}"]
    subprocess.run([COMPILER, *flags, "-o", image, source], check=True)
    return image


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return linked(tmp_path_factory.mktemp("image"), 0x8020_0000)


def explained(image: Path, below: Path) -> Spanned:
    request = Request(image=image, firmware=str(below), machine="virt", watchdog_s=500)
    return ROCKET.spans(request, Wanted("window", "behind", 0, 1))


def test_an_s_mode_image_runs_above_opensbi_and_ends_the_board(image: Path) -> None:
    simulator = ROCKET.build()[0]
    words = [simulator, "--firmware", OPENSBI, "--time", TIME_TICKS, "--max-cycles", 5_000_000]
    done = subprocess.run([*map(str, words), str(image)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"OpenSBI v" in done.stdout
    assert done.stdout.rstrip().endswith(b"y")


def test_reading_the_time_costs_what_the_firmware_below_takes(image: Path) -> None:
    """The window is one `rdtime`, which this core does not have."""
    steps = {}
    for below in (OPENSBI, m_mode.firmware()):
        (window,) = explained(image, below).windows
        steps[below] = int(np.sum(window["privilege"] == MACHINE_MODE))
    assert steps[m_mode.firmware()] < 40
    assert steps[OPENSBI] > 4 * steps[m_mode.firmware()]


def test_an_image_in_the_place_of_its_firmware_is_refused(tmp_path: Path) -> None:
    simulator = ROCKET.build()[0]
    image = linked(tmp_path, 0x8000_0000)
    words = [str(simulator), "--firmware", str(OPENSBI), str(image)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"{image} lies where {OPENSBI} does; link it behind the firmware" in done.stderr


def test_firmware_that_goes_on_where_it_likes_is_refused(image: Path) -> None:
    with pytest.raises(UsageError, match=r"at a fixed address; name OpenSBI's fw_dynamic"):
        firmware.find(str(image))


@pytest.mark.parametrize("name", ["no-such-file", "fw_dynamic.bin"])
def test_what_is_not_an_elf_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "fw_dynamic.bin").write_bytes(bytes(64))
    with pytest.raises(UsageError, match=r"is not an ELF file; name OpenSBI's fw_dynamic\.elf"):
        firmware.find(str(tmp_path / name))


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a compiler of this machine")
def test_firmware_for_another_machine_is_refused() -> None:
    with pytest.raises(UsageError, match="is not firmware for RISC-V"):
        firmware.find("/proc/self/exe")
