# SPDX-License-Identifier: BSD-2-Clause
"""Forked boots without their simulator: a program that leaves the files and lines that it does."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from cyclometer.targets.api import Progress
from cyclometer.targets.console import END_RECORD, BootResult
from cyclometer.targets.rocket.forks import forked

BOOTS = [{"only": "floor.empty", "run": "1"}, {"only": "floor.loop", "run": "1"}]
END = END_RECORD.decode() + '"seq":1}\n'


def boots(tmp_path: Path, script: str, bound_s: float = 60) -> list[BootResult]:
    """What a shell script makes of BOOTS; $PLAN is the file with their arguments."""
    simulator = tmp_path / "simulator"
    simulator.write_text(f'#!/bin/sh\nPLAN="$2"\n{script}\n')
    simulator.chmod(simulator.stat().st_mode | stat.S_IXUSR)
    return forked([str(simulator)], Path("kernel.elf"), BOOTS, bound_s, Progress())


def test_each_boot_has_its_arguments_and_its_console_in_the_order_given(tmp_path: Path) -> None:
    ends = boots(
        tmp_path,
        f"""for n in 2 1; do
            sed -n "$n p" "$PLAN" > "$PLAN.$n"; echo '{END}' >> "$PLAN.$n"; echo $n 0
        done""",
    )
    assert all(ended.done and ended.status == 0 for ended in ends)
    assert [ended.console.split()[0] for ended in ends] == [b"only=floor.empty", b"only=floor.loop"]


@pytest.mark.parametrize(
    ("code", "why"),
    [(124, "had not finished after 60 s (--watchdog allows more)"), (5, "ended by itself")],
)
def test_a_boot_that_did_not_finish_says_so_and_the_others_are_kept(
    tmp_path: Path, code: int, why: str
) -> None:
    ends = boots(
        tmp_path, f"""printf '{END}' > "$PLAN.1"; echo 1 0; echo half > "$PLAN.2"; echo 2 {code}"""
    )
    assert [ended.done for ended in ends] == [True, False]
    assert (ends[1].console, ends[1].why, ends[1].status) == (b"half\n", why, code)


def test_an_image_that_ended_before_it_read_its_arguments_is_the_end_of_all(tmp_path: Path) -> None:
    ends = boots(tmp_path, 'echo "panic: early" > "$PLAN.0"; exit 5')
    assert [(ended.console, ended.done) for ended in ends] == [(b"panic: early\n", False)] * 2


def test_a_simulator_that_did_not_start_says_why(tmp_path: Path) -> None:
    ends = boots(tmp_path, 'echo "rocket: kernel.elf cannot be read" >&2; exit 2')
    assert {ended.console for ended in ends} == {b"rocket: kernel.elf cannot be read\n"}


def test_the_command_says_how_many_at_once_and_how_long(tmp_path: Path) -> None:
    ends = boots(tmp_path, 'shift 2; echo "$@" > "$PLAN.0"', bound_s=1.5)
    words = ends[0].console.split()
    assert (words[0], words[2:]) == (b"--at-once", [b"--bound-s", b"2", b"kernel.elf"])
