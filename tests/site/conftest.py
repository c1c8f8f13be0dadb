# SPDX-License-Identifier: BSD-2-Clause
"""A store whose circles change, for the tests of its site."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cyclometer.bundle import store as folders
from cyclometer.store import layout, transfer
from cyclometer.store.location import Location
from tests.compare.bundles import ICOUNT, Spec, bundle

pytest.importorskip("fsspec", reason="fsspec is not installed; run `make setup-all`")
NOISE = np.random.default_rng(1)


def push(location: Location, scratch: Path, day: int) -> str:
    """Day 6 makes `exact` one longer, and a title is hostile; `noisy` changes on day 13."""
    noisy = (1000 if day < 13 else 1100) * (1 + 0.002 * NOISE.standard_normal(3))
    made = bundle(
        Spec("exact.a", [100.0 if day < 6 else 101.0], clock=ICOUNT),
        Spec("noisy.b", noisy.tolist()),
        Spec("<script>alert(1)</script>", [5.0], clock=ICOUNT),
        created=f"2026-01-{day:02}T02:00:00+00:00",
        build={"compiler": "gcc 12" if day < 6 else "gcc 13"},
    )
    folders.write(made, scratch / str(day), {})
    return transfer.push(location, scratch / str(day))[0]


@pytest.fixture
def location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Location:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    layout.init(Location(str(tmp_path / "store")))
    found = layout.opened(str(tmp_path / "store"))
    for day in range(1, 21):
        push(found, tmp_path / "bundles", day)
    return found
