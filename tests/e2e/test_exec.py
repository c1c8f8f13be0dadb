# SPDX-License-Identifier: BSD-2-Clause
"""Programs of the user's in the real harness: those that answer requests, and plain commands."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cyclometer.errors import UsageError
from cyclometer.record.schema import Circle, Contract, Failed, Flow, Group, Record
from cyclometer.targets import build
from cyclometer.targets.linux import programs
from cyclometer.targets.linux.harness import Harness, Visit, list_circles

pytestmark = pytest.mark.e2e
EXAMPLES = build.sources() / "examples" / "programs"


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in C, compiled."""
    program = tmp_path_factory.mktemp("programs") / "turns"
    subprocess.run([build.compiler(), "-O2", EXAMPLES / "turns.c", "-o", program], check=True)
    return program


def script(folder: Path, text: str) -> Path:
    path = folder / "script"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def options(folder: Path, *commands: str | Path) -> list[str]:
    described = folder / "programs"
    described.write_text(programs.description(programs.parse_all(map(str, commands))))
    return ["--exec", str(described)]


def listed(folder: Path, *commands: str | Path, watchdog_s: int = 50) -> list[Contract]:
    words = [*options(folder, *commands), "--watchdog", str(watchdog_s)]
    records = list_circles(build.harness(), words)
    contracts = [record.contract for record in records if isinstance(record, Circle)]
    return [contract for contract in contracts if contract.key.startswith("exec.")]


def visit(given: list[str], key: str, method: str = "proof") -> tuple[Harness, list[Record]]:
    runner = Harness(build.harness(), 0, ["--proof", *given], watchdog_s=10)
    records = runner.visit(Visit(0, key, method, Flow(4, 4, 2, 5)))
    runner.finish()
    assert runner.decoder.damage == []
    return runner, records


def learned(folder: Path, command: str | Path) -> dict[str, int]:
    """What a turn of a program counts."""
    parsed = programs.parse_all([str(command)])
    _, records = visit(options(folder, command), parsed[0].key)
    groups = [record for record in records if isinstance(record, Group)]
    assert [group.turns for group in groups] == [4, 8]
    (known,) = programs.learn(parsed, groups)
    return dict(known.expect)


def test_a_program_that_says_it_is_ready_gets_requests(tmp_path: Path, turns: Path) -> None:
    (contract,) = listed(tmp_path, turns)
    assert contract.key == "exec.turns"
    assert contract.params == {"turn": "on request"}
    assert contract.title == str(turns)


def test_any_other_program_is_a_turn_by_itself(tmp_path: Path) -> None:
    (contract,) = listed(tmp_path, "true")
    assert contract.params == {"turn": "a run of the program"}


def test_requests_are_no_part_of_what_a_turn_counts(tmp_path: Path, turns: Path) -> None:
    counts = learned(tmp_path, turns)
    assert counts["switches"] == 0
    assert counts.get("entries", 1) == 1  # stat; no tracepoints on some machines


def test_an_interpreters_program_answers_as_well(tmp_path: Path) -> None:
    counts = learned(tmp_path, EXAMPLES / "turns.py")
    assert counts["switches"] == 0
    assert counts.get("entries", 1) == 1


def test_a_command_is_started_and_awaited(tmp_path: Path) -> None:
    counts = learned(tmp_path, "true")
    assert counts["voluntary"] == 1
    assert counts["switches"] == 1
    assert counts.get("entries", 2) == 2  # vfork and wait4, of ours


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exit 3\n", "it ended with an error; a command that is timed must succeed"),
        ("while :; do :; done\n", "it did not end in time without input"),
        ("kill -9 $$\n", "it ended with an error"),
    ],
)
def test_a_program_that_cannot_be_timed_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        listed(tmp_path, script(tmp_path, text), watchdog_s=3)


def test_what_a_command_prints_is_read_and_forgotten(tmp_path: Path) -> None:
    noisy = script(tmp_path, "i=0; while [ $i -lt 30000 ]; do echo 12345678; i=$((i+1)); done\n")
    (contract,) = listed(tmp_path, noisy)
    assert contract.params == {"turn": "a run of the program"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("exit 0", "the program, which has ended"),
        ("printf '%70s' x", "a line of more than 64 bytes"),
        ("sleep 100", "did not finish within 3 s"),
    ],
)
def test_a_program_that_breaks_the_protocol_fails_alone(
    tmp_path: Path, answer: str, reason: str
) -> None:
    broken = script(tmp_path, f"echo cyclometer ready\nread line || exit 0\n{answer}\nsleep 100\n")
    runner = Harness(build.harness(), 0, options(tmp_path, broken), watchdog_s=3)
    bad = runner.visit(Visit(0, "exec.script", "accumulated", Flow(1, 0, 1, 1)))
    good = runner.visit(Visit(0, "syscall.null", "accumulated", Flow(5, 0, 1, 3)))
    runner.finish()
    (failed,) = (record for record in bad if isinstance(record, Failed))
    assert reason in failed.reason
    assert any(isinstance(record, Group) for record in good)


def test_a_command_that_fails_later_fails_its_circle(tmp_path: Path) -> None:
    flag = tmp_path / "started"
    flaky = script(tmp_path, f"[ ! -e {flag} ] || exit 1\n: > {flag}\n")
    _, records = visit(options(tmp_path, flaky), "exec.script")
    (failed,) = (record for record in records if isinstance(record, Failed))
    assert "which ended with an error" in failed.reason
