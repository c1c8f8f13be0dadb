# SPDX-License-Identifier: BSD-2-Clause
"""Reading many files on all processors, with the same outcome as one after another."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TypeVar

from cyclometer.errors import MeasurementFailed

WORTH_BYTES = 8 << 20
"""Files of fewer bytes altogether are read sooner than other processes start."""
_FILES_A_TURN = 4

_Result = TypeVar("_Result")


def in_order(
    read_one: Callable[[str | Path], _Result], paths: Sequence[str | Path]
) -> Iterator[_Result]:
    """`read_one(path)` for every path, in order; the first path that raises ends it with its own
    error.

    Raises MeasurementFailed if a process died, which takes its files with it.
    """
    processors = len(os.sched_getaffinity(0))
    if processors < 2 or sum(map(_size_bytes, paths)) < WORTH_BYTES:
        yield from map(read_one, paths)
        return
    # Not forked from here: numpy's threads may hold locks that nobody would ever release in the
    # child.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["cyclometer.ingest"])
    pool = ProcessPoolExecutor(processors, context, signal.signal, (signal.SIGINT, signal.SIG_IGN))
    try:
        yield from pool.map(read_one, paths, chunksize=_FILES_A_TURN)
    except BrokenProcessPool as error:
        raise MeasurementFailed(
            "a process that reads the files was killed, most likely because memory ran out; ingest "
            "fewer files at once"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _size_bytes(path: str | Path) -> int:
    """0 for what cannot be asked: whoever reads it says why."""
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0
