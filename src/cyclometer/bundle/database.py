# SPDX-License-Identifier: BSD-2-Clause
"""DuckDB in memory, started once a process: a start takes longer than reading a small bundle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def connection() -> Iterator[Any]:
    """A connection of its own to the DuckDB of this process; it keeps nothing of others'."""
    import duckdb

    try:
        with _started().cursor() as connected:
            yield connected
    except duckdb.Error:
        _started.cache_clear()  # an internal error, as a damaged file may cause, ends all of it
        raise


@cache
def _started() -> Any:
    import duckdb

    return duckdb.connect()
