# SPDX-License-Identifier: BSD-2-Clause
"""A machine does not outlive the command that started it, however that command ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

MACHINE = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
BY_CONSOLE = """
import sys
from cyclometer.targets import console
console.read_console([sys.executable, "-c", {machine!r}], 60, ends=[b"never"])
"""
BY_DEBUGGER = """
import sys, time
from cyclometer.targets.qemu.debugger import Debugger
with Debugger([sys.executable, "-c", {machine!r}], 60): time.sleep(60)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="prctl(2) is Linux's")


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(one) for one in listed]


def until(what: Callable[[], object]) -> bool:
    """Whether it comes true within a time that no busy machine exceeds."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return False


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("code", [BY_CONSOLE, BY_DEBUGGER], ids=["console", "debugger"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_machine_ends_with_its_command(code: str, number: signal.Signals) -> None:
    command = [sys.executable, "-c", code.format(machine=MACHINE)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as parent:
        assert until(lambda: children(parent.pid))
        (machine,) = children(parent.pid)
        os.kill(parent.pid, number)
        parent.wait(30)
    assert until(lambda: gone(machine))
