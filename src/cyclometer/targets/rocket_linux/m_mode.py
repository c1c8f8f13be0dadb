# SPDX-License-Identifier: BSD-2-Clause
"""The programs that run below a kernel: the SBI firmware, and the one that puts the state of a
moved machine back.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from cyclometer.errors import MeasurementFailed
from cyclometer.targets import build

CROSS = "riscv64-linux-gnu-"
PACKAGES = {f"{CROSS}gcc": "gcc-riscv64-linux-gnu", "make": "make"}  # program -> Debian package


def firmware() -> Path:
    """machines/firmware as an ELF file, for `-bios` of QEMU or in front of an image."""
    return _built("firmware", "firmware.elf")


def restore_program(supervisor: bool = False) -> bytes:
    """machines/restore as position-independent code: for M mode, or for S mode above firmware that
    is not moved.
    """
    name = "restore-supervisor.bin" if supervisor else "restore.bin"
    return _built("restore", name).read_bytes()


def _built(name: str, output: str) -> Path:
    """What `make` makes of a folder of machines/, once per content. Raises MeasurementFailed."""
    source = build.sources() / "machines" / name
    parts = sorted(path for path in source.iterdir() if path.suffix != ".md")
    version = subprocess.run(
        [f"{CROSS}gcc", "--version"], capture_output=True, text=True, check=False
    ).stdout
    target = build.cache() / f"{name}-{build.content(source, parts, (version,))}" / output
    with build.alone(target.parent):
        if not target.exists():
            _make(source, target)
    return target


def _make(source: Path, target: Path) -> None:
    """In a folder of its own, so that `target` appears whole or not at all."""
    with build.unfinished(target.parent) as folder:
        command = ["make", "--no-print-directory", "-s", "-C", str(source)]
        command += [f"BUILD={folder}", f"CROSS={CROSS}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            first = next(
                (line for line in done.stderr.splitlines() if "rror" in line), done.stderr[:200]
            )
            raise MeasurementFailed(f"machines/{source.name} does not build: {first}")
        shutil.move(folder / target.name, target)
