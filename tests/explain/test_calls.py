# SPDX-License-Identifier: BSD-2-Clause
"""What is called belongs to the system call that is open, and to every function that is open."""

from __future__ import annotations

from cyclometer.explain import calls
from cyclometer.explain.explanation import explain
from cyclometer.explain.parts import Part
from tests.explain import machine

ENTRY = ("loop", "entry_SYSCALL_64", "do_syscall_64")


def test_a_step_belongs_to_the_innermost_call_and_user_code_to_none() -> None:
    read = (*ENTRY, "__x64_sys_read", "vfs_read")
    fault = (*read, "copy_to_user", "exc_page_fault", "handle_mm_fault")
    paths = [("loop",), ENTRY, read, fault, (*ENTRY, "__x64_sys_write"), ("loop", "memcpy")]
    user = [True, False, False, False, False, True]
    assert calls.system_calls(paths, user) == [
        calls.USER,
        calls.AROUND,
        "read",
        "page fault",
        "write",
        calls.USER,
    ]


def test_a_kernel_that_is_not_linux_has_no_system_calls_of_it() -> None:
    assert calls.system_calls([("loop", "sys_poke")], [False]) == []
    assert explain(machine.evidence([0, 0, 0])).system_calls == []


def test_a_function_counts_all_that_it_calls_once() -> None:
    stacks = [
        Part(("a",), (1,), 1),
        Part(("a", "b"), (10,), 2),
        Part(("a", "b", "a"), (100,), 3),
    ]
    found = {part.name: (part.total, part.instructions) for part in calls.inclusive(stacks)}
    assert found == {"a": (111, 6), "b": (110, 5)}


def test_the_outermost_function_of_a_turn_counts_the_whole_turn() -> None:
    e = explain(machine.evidence([0, 0, 0]))
    by_name = {part.name: part.total for part in e.inclusive}
    assert by_name["sys_poke"] >= by_name["poke"] > 0
    own = {part.name: part.total for part in e.functions}
    assert all(by_name[name] >= count for name, count in own.items())
