# SPDX-License-Identifier: BSD-2-Clause
"""QEMU's monitor over a socket pair: asks a machine that is about to be stopped where it is."""

from __future__ import annotations

import re
import socket
import time

_PATIENCE_S = 10.0  # a busy machine answers late
_MOST_BYTES = 1 << 16
_PC = re.compile(rb"\b(?:pc +|PC=|RIP=)([0-9a-f]{8,16})\b")


class Monitor:
    """Its other end is for QEMU, by `options` and as the inherited file `theirs`."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_: object) -> None:
        self._ours.close()
        self._theirs.close()

    @property
    def theirs(self) -> int:
        return self._theirs.fileno()

    @property
    def options(self) -> list[str]:
        return ["-chardev", f"socket,id=asked,fd={self.theirs}", "-mon", "chardev=asked"]

    def where(self) -> bytes:
        """A line with the program counter; empty if QEMU does not answer in time."""
        heard, until_s = b"", time.monotonic() + _PATIENCE_S
        try:
            self._ours.settimeout(_PATIENCE_S)
            self._ours.sendall(b"info registers\n")
            while (found := _PC.search(heard)) is None:
                if time.monotonic() > until_s or len(heard) > _MOST_BYTES:
                    return b""
                heard += self._ours.recv(4096)
        except OSError:
            return b""
        return b"\nstopped near pc 0x" + (found[1].lstrip(b"0") or b"0") + b"\n"
