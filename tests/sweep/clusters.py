# SPDX-License-Identifier: BSD-2-Clause
"""Schedulers and workers of Dask as processes of their own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def start(address: str, workers: int) -> list[subprocess.Popen[bytes]]:
    """The processes of a scheduler there, and of as many workers."""
    dask = [sys.executable, "-m", "dask"]
    port = ["--host", "127.0.0.1", "--port", address.rpartition(":")[2]]
    commands = [[*dask, "scheduler", *port, "--no-dashboard"]]
    each = ["--nthreads", "1", "--no-dashboard", "--resources", "clock=1"]
    commands += [[*dask, "worker", address, *each, "--name", f"w{n}"] for n in range(workers)]
    allowed = os.environ | {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "20"}
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return [subprocess.Popen(words, env=allowed, **quiet) for words in commands]


def answering(address: str) -> None:
    """Waits for a scheduler there: it starts slowly on a busy machine."""
    host, port = address.removeprefix("tcp://").split(":")
    for _ in range(1200):
        try:
            socket.create_connection((host, int(port)), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"no scheduler at {address} within two minutes")


@contextmanager
def separate_cluster(workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler process on loopback, and it and as many worker processes."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    started = start(address, workers)
    try:
        answering(address)
        yield address, started
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait()
