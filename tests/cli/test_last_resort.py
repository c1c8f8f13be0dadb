# SPDX-License-Identifier: BSD-2-Clause
"""What no command expects: exceptions, full disks, closed streams, terminals without Unicode.

Everything runs in processes of its own, because it is the process that ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cyclometer.cli import COMMANDS
from cyclometer.errors import DEFECT, FAILED, PASS, USAGE

DATA = Path(__file__).parents[1] / "data"
ALWAYS = {name: value for name, value in os.environ.items() if name != "CYCLOMETER_DEBUG"}

# Every command in turn with a body that raises `planted`; a line of stdout says the exit code.
PLANT = """
import importlib, os, signal, sys
from cyclometer import cli
def fail(context): raise {planted}
for name, module in cli.COMMANDS.items():
    command = importlib.import_module(module).command
    command.parse_args, command.invoke = lambda context, words: [], fail
    sys.argv = ["cyclometer", name]
    try: cli.main()
    except SystemExit as end: print(name, "ended with", end.code, file=sys.stderr)
"""


def python(code: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=ALWAYS | more,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def shell(line: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """`line` in a shell, in which `cyclometer` is the one under test."""
    function = f'cyclometer() {{ {sys.executable} -m cyclometer "$@"; }}\n'
    return subprocess.run(
        ["bash", "-c", function + line],
        cwd=folder,
        env=ALWAYS | more,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("planted", "code", "sentence"),
    [
        ("ZeroDivisionError('one [/b]\\n\\x1b[31mtwo')", DEFECT, "one [/b] \ufffd[31mtwo); please"),
        ("RecursionError('deep')", DEFECT, "internal error (RecursionError in <string> line 4"),
        ("MemoryError()", DEFECT, "internal error (MemoryError in"),
        ("OSError(28, 'No space left on device', '/a/b')", FAILED, "/a/b: No space left on device"),
        ("BrokenPipeError()", PASS, ""),
        ("KeyboardInterrupt()", FAILED, "interrupted"),
        ("os.kill(os.getpid(), signal.SIGTERM) or SystemExit(1)", FAILED, "interrupted"),
    ],
)
def test_every_command_turns_an_exception_into_one_sentence(
    planted: str, code: int, sentence: str
) -> None:
    done = python(PLANT.format(planted=planted))
    assert done.returncode == 0, done.stderr
    result = [line for line in done.stderr.splitlines() if line.startswith("cyclometer: ")]
    ends = [line for line in done.stderr.splitlines() if " ended with " in line]
    assert ends == [f"{name} ended with {code}" for name in COMMANDS]
    assert len([*filter(None, done.stderr.splitlines())]) == len(result) + len(ends)
    assert len(result) == (len(COMMANDS) if sentence else 0)
    assert all(sentence in line for line in result)


def test_a_defect_prints_its_traceback_when_asked() -> None:
    done = python(PLANT.format(planted="ValueError('x')"), CYCLOMETER_DEBUG="1")
    assert done.stderr.count("Traceback (most recent call last)") == len(COMMANDS)
    assert done.stderr.count("ended with 70") == len(COMMANDS)


def test_a_command_that_cannot_be_imported_is_a_defect() -> None:
    code = "import sys; from cyclometer import cli; cli.COMMANDS['show'] = 'cyclometer.cli.gone'"
    done = python(f"{code}; sys.argv = ['cyclometer', 'show']; cli.main()")
    assert done.returncode == DEFECT
    assert "ModuleNotFoundError" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_full_disk_below_standard_output_is_a_failure(tmp_path: Path) -> None:
    done = shell("cyclometer lint --rules > /dev/full", tmp_path)
    assert done.returncode == FAILED
    assert done.stderr == (
        "cyclometer: No space left on device; free space or choose another place, and try again\n"
    )


def test_closed_streams_lose_what_is_printed_and_nothing_else(tmp_path: Path) -> None:
    log = DATA / "hackbench.txt"
    done = shell(f"cyclometer ingest {log} -o b >&- 2>&- && cyclometer lint b --rules", tmp_path)
    assert done.returncode == PASS, done.stderr
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == [
        "bundle.json",
        "raw",
        "samples.parquet",
    ]
    assert shell("cyclometer show none >&- 2>&-", tmp_path).returncode == USAGE


def test_a_reader_that_has_seen_enough_is_not_a_failure(tmp_path: Path) -> None:
    done = shell("set -o pipefail; cyclometer lint --rules | head -n 1 | wc -l", tmp_path)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (PASS, "1", "")


def test_a_terminal_without_unicode_shows_ascii(tmp_path: Path) -> None:
    log = DATA / "sel4bench_console.log"
    ascii_only = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    lines = f"cyclometer ingest {log} -o b && cyclometer show b"
    done = shell(lines, tmp_path, **ascii_only)
    assert done.returncode == PASS, done.stderr
    assert done.stdout.isascii()
    assert " +- " in done.stdout
