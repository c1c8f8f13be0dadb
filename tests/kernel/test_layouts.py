# SPDX-License-Identifier: BSD-2-Clause
"""Layouts: the same program elsewhere, linked anew and not compiled."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cyclometer.targets import build, reference_kernel

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        bool(lacks := reference_kernel.lacking("rocket", reference_kernel.PACKAGES)), reason=lacks
    ),
]
SHIFT_BYTES = 512  # a multiple of what functions are aligned to


def make(folder: Path, layout: int) -> dict[str, tuple[str, int]]:
    """The kernel's functions with their sizes and addresses, of one layout."""
    words = ["board=rocket", f"layout={layout}", f"BUILD={folder}"]
    command = ["make", "--no-print-directory", "-s", "-C", build.sources() / "kernel", *words]
    subprocess.run([*command, "all"], check=True, capture_output=True)
    out = subprocess.run([*command, "name"], check=True, capture_output=True, text=True).stdout
    nm = ["riscv64-unknown-elf-nm", "-S", Path(out.strip()) / "kernel.elf"]
    listed = subprocess.run(nm, check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {row[3]: (row[1], int(row[0], 16)) for row in rows if len(row) == 4 and row[2] in "tT"}


def test_a_layout_is_the_same_program_elsewhere_and_is_only_linked(tmp_path: Path) -> None:
    here = make(tmp_path, 0)
    compiled = {path: path.stat().st_mtime_ns for path in (tmp_path / "rocket").rglob("*.o")}
    there = make(tmp_path, SHIFT_BYTES)
    assert {name: size for name, (size, _) in here.items()} == {
        name: size for name, (size, _) in there.items()
    }
    moved = {at - here[name][1] for name, (_, at) in there.items() if at > here["kernel_main"][1]}
    assert moved == {SHIFT_BYTES}
    assert compiled == {path: path.stat().st_mtime_ns for path in compiled}
    own = (tmp_path / f"rocket-layout_{SHIFT_BYTES}").rglob("*.o")
    assert {path.name for path in own} == {"program.S.o", "runner.c.o"}
