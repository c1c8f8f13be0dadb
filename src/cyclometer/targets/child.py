# SPDX-License-Identifier: BSD-2-Clause
"""Child processes that end with this program, however it ends."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

_PR_SET_PDEATHSIG = 1  # prctl(2)
_PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def started(command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """Starts `command` as subprocess.Popen does; the kernel kills it with the thread that started
    it, so that no machine outlives a command that was killed itself.
    """
    parent = os.getpid()

    def tie() -> None:
        if _PRCTL is not None:
            _PRCTL(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it died before the line above
                os._exit(1)

    return subprocess.Popen(command, preexec_fn=tie, **how)  # noqa: PLW1509  (nothing but prctl)
