# SPDX-License-Identifier: BSD-2-Clause
"""`make bench` prints what a sweep adds to its tasks; tests do not judge the figures."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="Dask is not installed; run `make setup-all`")
TOOL = Path(__file__).parents[2] / "tools/sweep_speed.py"
Planned = Callable[..., Path]


def speed_of(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, TOOL, path], capture_output=True, text=True, check=False, timeout=120
    )


def test_a_plan_has_a_line_on_overhead_and_one_on_two_workers(planned: Planned) -> None:
    said = speed_of(planned(8))
    added, faster = said.stdout.splitlines()
    assert re.fullmatch(
        r"sweep +\d+ ms a task of qemu-pretend beside its run of 0\.\d\d s, bundle stored "
        r"\(target 50 ms\)",
        added,
    )
    assert re.fullmatch(
        r"sweep +6 tasks of qemu-pretend \d+\.\d\d times as fast on 2 workers as on 1 "
        r"\(target 1\.8\)",
        faster,
    )


def test_a_task_that_fails_leaves_no_figure(planned: Planned) -> None:
    said = speed_of(planned(4, '"config.broken" = [true]'))
    assert said.returncode != 0
    assert said.stdout == ""
    assert "the board is on fire" in said.stderr
