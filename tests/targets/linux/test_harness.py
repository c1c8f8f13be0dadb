# SPDX-License-Identifier: BSD-2-Clause
"""A run's process: what it says is read visit by visit, and its death loses nothing that came
before.
"""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cyclometer.errors import MeasurementFailed, NotComparable
from cyclometer.record.schema import Circle, End, Flow, Group, Hello
from cyclometer.targets.linux import harness
from cyclometer.targets.linux.harness import Harness, Visit, list_circles

SCRIPT = """#!{python}
import os, sys
sys.path.insert(0, {root!r})
from tests.streams import circle, end, group, hello, line
out = lambda data: (sys.stdout.buffer.write(data), sys.stdout.buffer.flush())
out(line(hello()))
seq, values = 1, 0
for number, text in enumerate(sys.stdin):
    out(line(circle(seq)))
    {misbehave}
    out(line(group(seq + 1, [10, 11])))
    seq, values = seq + 2, values + 2
    out(b"done %d\\n" % number)
out(line(end(seq, values)))
"""
VISIT = Visit(1, "pipe.round_trip.cross.equal", "accumulated", Flow(10, 0, 1, 2))


def program(tmp_path: Path, misbehave: str = "pass") -> Path:
    path = tmp_path / "harness"
    root = str(Path(__file__).parents[3])
    path.write_text(SCRIPT.format(python=sys.executable, root=root, misbehave=misbehave))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_each_visit_returns_its_own_records(tmp_path: Path) -> None:
    runner = Harness(program(tmp_path), 1, [], watchdog_s=10)
    for _ in range(3):
        assert [type(r) for r in runner.visit(VISIT)][-2:] == [Circle, Group]
    runner.finish()
    assert runner.decoder.ended
    assert runner.decoder.damage == []
    assert runner.console.count(b"@cyc ") == 8


def test_records_wait_until_they_are_taken(tmp_path: Path) -> None:
    """A visit is over when the harness says so; decoding belongs to the pause behind it."""
    runner = Harness(program(tmp_path), 1, [], watchdog_s=10)
    runner.perform(VISIT)
    assert runner.decoder.records == 0
    assert [type(r) for r in runner.take()] == [Hello, Circle, Group]
    assert runner.take() == []
    runner.perform(VISIT)
    assert [type(r) for r in runner.finish()] == [Circle, Group, End]
    assert runner.finish() == []


@pytest.mark.parametrize(("passed_s", "pause_s"), [(0.0, 0.07), (0.05, 0.02), (0.2, 0.0)])
def test_what_is_done_behind_a_visit_is_part_of_the_pause(
    monkeypatch: pytest.MonkeyPatch, passed_s: float, pause_s: float
) -> None:
    slept: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: 10.0 + passed_s, sleep=slept.append)
    monkeypatch.setattr(harness, "time", clock)
    harness.pause_for_throttling(1.0, 10.0)
    assert slept == pytest.approx([pause_s])


def test_a_killed_harness_leaves_what_it_had_measured(tmp_path: Path) -> None:
    runner = Harness(
        program(tmp_path, "number == 1 and os.kill(os.getpid(), 9)"), 1, [], watchdog_s=10
    )
    assert len(runner.visit(VISIT)) == 3
    runner.visit(VISIT)
    assert not runner.alive
    assert runner.why_gone == "ended (status -9)"
    assert runner.decoder.values == 2
    assert any("without its `end`" in damage.what for damage in runner.decoder.damage)
    assert runner.visit(VISIT) == []


def test_an_interrupted_visit_leaves_its_records_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C between two reads: what was decoded, contract and all, comes with `finish`."""
    runner = Harness(program(tmp_path), 1, [], watchdog_s=10)
    read = runner._read

    def read_once() -> bool:
        read()
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "_read", read_once)
    with pytest.raises(KeyboardInterrupt):
        runner.visit(VISIT)
    monkeypatch.undo()
    assert [type(r) for r in runner.finish()][:3] == [Hello, Circle, Group]
    assert runner.decoder.damage == []


def test_a_silent_harness_is_given_up(tmp_path: Path) -> None:
    runner = Harness(program(tmp_path, "import time; time.sleep(60)"), 1, [], watchdog_s=10)
    runner._patience_s = 0.5
    runner.visit(VISIT)
    assert not runner.alive
    assert runner.why_gone == "was silent for 0.5 s and was ended"


def test_a_harness_that_lists_nothing_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "harness"
    path.write_text("#!/bin/sh\nexec sleep 60\n")
    path.chmod(0o755)
    monkeypatch.setattr(harness, "_LIST_S", 0.2)
    with pytest.raises(MeasurementFailed, match=r"did not list its circles within 0\.2 s"):
        list_circles(path, [])


@pytest.mark.parametrize(("status", "error"), [(4, NotComparable), (5, MeasurementFailed)])
def test_a_refusal_is_passed_on_in_its_own_words(
    tmp_path: Path, status: int, error: type[Exception]
) -> None:
    path = tmp_path / "harness"
    path.write_text(f"#!/bin/sh\necho 'cyclometer-linux: no such clock here' >&2; exit {status}\n")
    path.chmod(0o755)
    with pytest.raises(error, match=r"^no such clock here$"):
        list_circles(path, [])
