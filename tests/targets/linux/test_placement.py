# SPDX-License-Identifier: BSD-2-Clause
"""Which two CPUs are taken, on machines made of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclometer.errors import UsageError
from cyclometer.targets.linux.placement import CpuPair, pair, parse


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Two sockets of two cores of two threads: 0-3 and 4-7 share a last-level cache."""
    for cpu in range(8):
        core, socket = cpu // 2 * 2, cpu // 4 * 4
        folder = tmp_path / f"sys/devices/system/cpu/cpu{cpu}"
        files = {
            "topology/thread_siblings_list": f"{core}-{core + 1}",
            "cache/index0/level": "1",
            "cache/index0/shared_cpu_list": f"{core}-{core + 1}",
            "cache/index3/level": "3",
            "cache/index3/shared_cpu_list": f"{socket}-{socket + 3}",
        }
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content + "\n")
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("llc", CpuPair(5, "llc")),
        ("smt", CpuPair(6, "smt")),
        ("other", CpuPair(3, "other")),
        ("auto", CpuPair(5, "llc")),
    ],
)
def test_a_pair_of_each_kind(machine: Path, kind: str, found: CpuPair) -> None:
    assert pair(7, kind, range(8), machine) == found


def test_only_cpus_that_the_process_may_use_are_taken(machine: Path) -> None:
    assert pair(7, "auto", {7, 6, 1}, machine) == CpuPair(1, "other")
    assert pair(7, "llc", {7, 6, 1}, machine) == CpuPair(None, "llc")
    assert pair(7, "auto", {7}, machine) == CpuPair(None, "")


def test_a_machine_that_says_nothing_has_cpus_that_share_nothing(tmp_path: Path) -> None:
    assert pair(1, "auto", {0, 1}, tmp_path) == CpuPair(0, "other")


def test_what_may_be_asked_for() -> None:
    assert parse("2,3") == (2, 3)
    assert parse("smt") == "smt"
    for wrong in ("2", "2,2", "a,b", "", "near"):
        with pytest.raises(UsageError, match="--cpus takes two CPUs, as 2,3, or one of auto, llc"):
            parse(wrong)


def test_the_harness_is_told() -> None:
    assert CpuPair(3, "llc").options() == ["--other-cpu", "3", "--apart", "llc"]
    assert CpuPair(None, "smt").options() == ["--other-cpu", "none", "--apart", "smt"]
