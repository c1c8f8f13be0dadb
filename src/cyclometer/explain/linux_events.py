# SPDX-License-Identifier: BSD-2-Clause
"""Which functions of a Linux kernel the events of a contract enter."""

from __future__ import annotations

import re
from collections.abc import Container

SYSTEM_CALLS = ("__x64_sys_", "__arm64_sys_", "__riscv_sys_")
SWITCH, INTERRUPT, FAULT = "switch to", "interrupt of", "page fault"
# that begin the handling of a page fault: of x86-64, arm64, RISC-V
FAULTS = ("exc_page_fault", "do_mem_abort", "do_page_fault")
# what contracts and the C library call by another name than the kernel
_ENTERED = {
    "FUTEX_WAKE": "futex",
    "FUTEX_WAIT": "futex",
    "sigsuspend": "rt_sigsuspend",
    "sigwaitinfo": "rt_sigtimedwait",
    "mq_send": "mq_timedsend",
    "mq_receive": "mq_timedreceive",
    "waitpid": "wait4",
    "fork": "clone",
    "pread": "pread64",
    "pwrite": "pwrite64",
    "stat": "newfstatat",
    "open": "openat",
}


def entered(event: str, calls: Container[str]) -> list[str]:
    """The entries that an event consists of, of the system `calls` that a turn makes: a call that
    blocks is entered, then switches. Empty for what enters nothing of its own.
    """
    what = event.partition(": ")[2]
    if what.startswith("returns from "):
        return []
    if "faults" in what.split():
        return [FAULT]
    names = [_ENTERED.get(word, word) for word in re.findall(r"\w+", what)]
    if "preempts" in names:
        return [SWITCH]
    found = [name for name in names if name in calls][:1]
    return found + [SWITCH] * ("blocks" in names)
