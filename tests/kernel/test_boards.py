# SPDX-License-Identifier: BSD-2-Clause
"""A board is added in three places: its block in board.h, its function, and its name."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from findings import ROOT

PLACES = {
    "kernel/board.h",
    "src/cyclometer/targets/qemu/target.py",
    "src/cyclometer/targets/registry.py",
}


def make(kernel: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "-n", "-C", str(kernel), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_block_in_board_h_is_all_that_the_kernel_needs(tmp_path: Path) -> None:
    for name in ("kernel", "core"):
        shutil.copytree(ROOT / name, tmp_path / name)
    kernel = tmp_path / "kernel"
    refused = make(kernel, "board=made_up")
    assert refused.returncode != 0
    assert "choose one of cva6 rocket sifive_u spike virt" in refused.stderr
    header = (kernel / "board.h").read_text()
    block = "#elif defined(BOARD_MADE_UP)\n#define UART_BASE 1\n#elif defined(BOARD_SIFIVE_U)"
    (kernel / "board.h").write_text(header.replace("#elif defined(BOARD_SIFIVE_U)", block))
    made = make(kernel, "board=made_up")
    assert made.returncode == 0, made.stderr
    assert "-DBOARD_MADE_UP -include board.h" in made.stdout


@pytest.mark.parametrize("board", ["sifive_u(?!54)", "board_spike|qemu-spike|def spike"])
def test_a_board_of_ours_is_named_in_three_places(board: str) -> None:
    files = [
        path
        for folder in ("src/cyclometer/targets", "kernel", "core")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".c", ".h", ".S", ".ld", "") and path.is_file()
    ]
    named = {
        str(path.relative_to(ROOT))
        for path in files
        if "test" not in path.relative_to(ROOT).parts
        and re.search(board, path.read_text(errors="replace"), re.I)
    }
    assert named == PLACES
