# SPDX-License-Identifier: BSD-2-Clause
"""Commands of the user's: their names, and what is learned about their turns."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cyclometer.errors import UsageError
from cyclometer.record.schema import Group
from cyclometer.targets.linux import programs
from cyclometer.targets.linux.programs import Program


def group(turns: int, counters: dict[str, list[int]], circle: str = "exec.x") -> Group:
    tests = len(next(iter(counters.values())))
    zeros = [0] * tests
    return Group(0, circle, "proof", 0, 0, turns, zeros, zeros, counters)


def test_a_command_is_named_after_its_file_or_by_the_user() -> None:
    plain = programs.parse(f"{sys.executable} -c 'print(1)'")
    assert plain.command == (sys.executable, "-c", "print(1)")
    assert plain.key == "exec." + Path(sys.executable).name
    assert programs.parse("mine=true").key == "exec.mine"
    assert programs.parse("mine=true a=b").command[1:] == ("a=b",)


def test_a_path_with_a_directory_is_kept_as_it_was_called(tmp_path: Path) -> None:
    link = tmp_path / "Other-Name"
    link.symlink_to(sys.executable)
    program = programs.parse(str(link))
    assert program.command == (str(link),)
    assert program.key == "exec.other_name"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "takes a command"),
        ("x=", "takes a command"),
        ("true 'open", "cannot be split"),
        ("true 'two\nlines'", "of one line"),
        ("no-such-program", "no-such-program is not an executable file"),
        ("/", "/ is not an executable file"),
        ("a" * 91 + "=true", "longer than 90 characters"),
    ],
)
def test_a_command_that_cannot_be_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        programs.parse(text)


def test_two_programs_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="two programs are called 'true'"):
        programs.parse_all(["true", "true x"])


def test_the_harness_reads_a_line_for_each_word() -> None:
    program = Program("x", ("/bin/x", "a b"), {"entries": 2})
    assert programs.description([program]) == (
        "key exec.x\ntitle /bin/x 'a b'\nargument /bin/x\nargument a b\nexpect entries 2\n"
    )


def test_counts_on_which_most_tests_agree_become_the_contract() -> None:
    groups = [
        group(4, {"entries": [12, 12, 13], "faults": [1, 1, 1], "interrupts": [4, 4, 4]}),
        group(8, {"entries": [24, 24, 24], "faults": [1, 1, 1], "interrupts": [8, 8, 8]}),
        group(8, {"entries": [8, 8, 8]}, circle="exec.other"),
    ]
    (known,) = programs.learn([Program("x", ("x",))], groups)
    assert known.expect == {"entries": 3}  # a fault per test is none per turn


def test_a_program_that_counts_differently_each_time_has_no_contract() -> None:
    groups = [group(4, {"entries": [12, 16, 20]}), group(8, {"entries": [24, 32, 41]})]
    (known,) = programs.learn([Program("x", ("x",))], groups)
    assert known.expect == {}
