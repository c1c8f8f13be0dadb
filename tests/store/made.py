# SPDX-License-Identifier: BSD-2-Clause
"""Stores and bundles on disk for the tests."""

from __future__ import annotations

from pathlib import Path

from cyclometer.bundle import store as folders
from cyclometer.store import layout
from cyclometer.store.location import Location
from tests.compare.bundles import ICOUNT, Spec, bundle


def folder_of(
    path: Path,
    latency: float,
    day: int = 1,
    key: str = "a.b",
    spec: dict[str, object] | None = None,
    **environment: object,
) -> Path:
    """A bundle on disk with one exact circle, made on a day of January."""
    one = Spec(key, [latency], **({"clock": ICOUNT} | (spec or {})))  # type: ignore[arg-type]
    made = bundle(one, created=f"2026-01-{day:02}T02:00:00+00:00", **environment)
    folders.write(made, path, {"console.log": f"{path.name} {latency}\n".encode()})
    return path


def new_store(url: str) -> Location:
    """An empty store."""
    layout.init(Location(url))
    return layout.opened(url)
