# SPDX-License-Identifier: BSD-2-Clause
"""Each step of a turn of Linux serves one subsystem: by source file, else by function, helpers
that of their caller.
"""

from __future__ import annotations

import pytest

from cyclometer.explain.calls import USER
from cyclometer.explain.explanation import explain
from cyclometer.explain.subsystems import OTHER, subsystems
from tests.explain import machine

READ = ("loop", "entry_SYSCALL_64_after_hwframe", "do_syscall_64", "__x64_sys_read")


def of(*functions: str, file: str = "") -> str:
    return subsystems([(*READ, *functions)], [file], [False])[0]


@pytest.mark.parametrize(
    ("functions", "name"),
    [
        ((), "entry"),
        (("ksys_read", "vfs_read"), "vfs"),
        (("vfs_read", "pipe_read"), "pipe"),
        (("vfs_read", "security_file_permission", "apparmor_file_permission"), "lsm and audit"),
        (("pipe_read", "schedule", "__schedule", "psi_group_change"), "sched"),
        (("pipe_read", "mutex_lock"), "locking"),
        (("futex_wait", "futex_wait_queue"), "futex"),
        (("futex_wait", "hrtimer_start_range_ns"), "timer"),
        (("sock_read_iter", "unix_stream_recvmsg"), "net"),
        (("exc_page_fault", "do_user_addr_fault", "handle_mm_fault"), "mm"),
        (("vfs_read", "srso_return_thunk"), "mitigations"),
        (("exit_to_user_mode_prepare", "__rseq_handle_notify_resume"), "entry"),
        (("do_signal_stop",), "signal"),
    ],
)
def test_a_function_is_of_a_subsystem_by_its_name(functions: tuple[str, ...], name: str) -> None:
    assert of(*functions) == name


def test_a_helper_serves_its_caller_and_a_file_says_more_than_a_name() -> None:
    assert of("vfs_read", "pipe_read", "memcpy", "rep_movs_alternative") == "pipe"
    assert of("pipe_read", "list_del", file="kernel/sched/wait.c") == "sched"
    assert of("pipe_read", "memcpy", file="lib/string.c") == "pipe"


def test_programs_are_apart_and_what_nobody_knows_is_other() -> None:
    paths = [("loop",), READ, ("strange",)]
    assert subsystems(paths, [""] * 3, [True, False, False]) == [USER, "entry", OTHER]


def test_a_kernel_that_is_not_linux_has_no_subsystems() -> None:
    assert subsystems([("loop", "sys_poke")], ["kernel/sched/core.c"], [False]) == []
    assert explain(machine.evidence([0, 0, 0])).subsystems == []
