# SPDX-License-Identifier: BSD-2-Clause
"""The largest single turn, whatever hit it, and what a tool printed of one."""

from __future__ import annotations

from pathlib import Path

from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import Bundle
from cyclometer.estimate.extremes import Extremes, extremes
from cyclometer.record.schema import Circle, Clock, Contract, Flow, Group, Hello, Pass

KEY = "timer.nanosleep"


def measured() -> Bundle:
    assembler = Assembler("linux", {})
    contract = Contract(KEY, expect={"faults": 0})
    counters = {"interrupts": [0, 1, 0], "faults": [0, 0, 0]}
    records = [
        Hello(0, 1, "linux", "6", Clock("tsc", "ticks", 1e6)),
        Circle(1, contract, "direct", Flow(1, 0, 1, 3)),
        Pass(2, KEY, "direct", 0, 0, 1, [50, 900, 40], [0, 2_500_000, 3_000_000], counters),
        Circle(3, contract, "accumulated", Flow(100, 0, 1, 1)),
        Group(4, KEY, "accumulated", 1, 0, 100, [10**6], [0], {}),
    ]
    assembler.add(3, records)
    return assembler.bundle()


def test_the_largest_turn_has_its_moment_and_its_cause_though_it_is_excluded() -> None:
    assert extremes(measured(), KEY) == Extremes(40, 900, 3, 2.5, 3, ("interrupt",))


def test_a_circle_without_single_turns_has_none() -> None:
    assert extremes(measured(), "another") is None


def test_what_cyclictest_printed_is_shown(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from cyclometer.cli import cli

    data = Path(__file__).parents[1] / "data" / "cyclictest.txt"
    out = str(tmp_path / "bundle")
    done = CliRunner().invoke(cli, ["ingest", str(data), "-o", out], catch_exceptions=False)
    assert done.exit_code == 0
    shown = CliRunner().invoke(cli, ["show", out], catch_exceptions=False).output
    assert "min " in shown
    key = next(line.split(":")[0] for line in shown.splitlines() if ": min " in line)
    detail = CliRunner().invoke(cli, ["show", out, "--circle", key], catch_exceptions=False).output
    assert "as its tool printed them" in detail
