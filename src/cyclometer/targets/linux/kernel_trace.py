# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's own trace (Linux, Documentation/trace/ftrace.rst), stopped by the harness at the
first test above a latency, as cyclictest's -b does. Which events it holds is the user's choice.
"""

from __future__ import annotations

from pathlib import Path

from cyclometer.errors import NotComparable

FOLDER = Path("/sys/kernel/tracing")
NAME = "trace.txt"  # in a bundle
_KEPT_BYTES = 4 << 20
_CHUNK_BYTES = 1 << 16


class KernelTrace:
    """The trace of the tracefs `folder`. Raises NotComparable if this user cannot stop it."""

    def __init__(self, folder: Path | None = None):
        folder = folder or FOLDER
        self._switch, self._trace = folder / "tracing_on", folder / "trace"
        try:
            self._was = self._switch.read_text()
            self._switch.write_text("1")
            with (folder / "trace_marker").open("ab"):
                pass
        except OSError as error:
            what = f"{error.filename or folder}: {error.strerror}"
            raise NotComparable(
                f"--break-on cannot stop the kernel's trace ({what}); run as root, with "
                f"`mount -t tracefs tracefs {folder}`"
            ) from error

    @property
    def stopped(self) -> bool:
        """Whether a test was above the latency."""
        return self._switch.read_text().strip() == "0"

    def newest(self) -> bytes:
        """The end of the trace, whole lines of it."""
        kept = b""
        with self._trace.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                kept = (kept + chunk)[-_KEPT_BYTES - 1 :]
        return kept if len(kept) <= _KEPT_BYTES else kept.partition(b"\n")[2]

    def close(self) -> None:
        """Switches tracing back to what it was, unless it was stopped."""
        if not self.stopped:
            self._switch.write_text(self._was)
