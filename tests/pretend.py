# SPDX-License-Identifier: BSD-2-Clause
"""A target that another package declares: exact, quick, and as the workers of a sweep find it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_MODULE = '''
import os
import time
from pathlib import Path

from cyclometer.bundle.model import SCHEMA, Bundle, Clock, Contract, Identity, Row, Summary
from cyclometer.bundle.model import no_samples
from cyclometer.errors import MeasurementFailed
from cyclometer.targets.api import MeasurementResult


class Pretend:
    """Its one circle takes 1000 instructions and what option `more` adds, `odd` at random."""

    name = "qemu-pretend"
    description = "pretends"
    options = frozenset({"only", "config", "image"})
    concurrent = False
    exact = True
    programs = frozenset()

    def missing(self):
        return ""

    def build(self, *, progress=None):
        return []

    def circles(self, config=None):
        return Clock("icount", "instructions", exact=True), [Contract("a.b")]

    def measure(self, request, environment, progress):
        time.sleep(float(os.environ.get("PRETEND_S", "0.02")))
        if request.config.get("broken") == "on":
            raise MeasurementFailed("the board is on fire; put it out")
        value = 1000.0 + int(request.config.get("more", "0"))
        if request.config.get("odd") == "on":
            value += os.getpid()
        if request.image is not None:
            value += len(Path(request.image).read_bytes())
        clock = Clock("icount", "instructions", exact=True)
        row = Row(Contract("a.b"), clock, "reported", dict(request.config))
        created = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
        identity = Identity(
            SCHEMA, created, "qemu-pretend", (row,), (Summary(0, 1, mean=value),),
            environment={"pid": os.getpid(), "at_ns": time.time_ns()},
        )
        return MeasurementResult(Bundle(identity, no_samples()), {"run-1": b"console"})
'''


@pytest.fixture
def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Installs the target for this process and for those that it starts."""
    package = tmp_path / "package"
    (package / "pretend-1.dist-info").mkdir(parents=True)
    (package / "pretend_target.py").write_text(_MODULE)
    (package / "pretend-1.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: pretend\nVersion: 1\n"
    )
    (package / "pretend-1.dist-info/entry_points.txt").write_text(
        "[cyclometer.targets]\nqemu-pretend = pretend_target:Pretend\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(package))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(package))
    from cyclometer.targets.registry import TARGETS

    TARGETS.__dict__.pop("_entries", None)
    yield
    TARGETS.__dict__.pop("_entries", None)
    sys.modules.pop("pretend_target", None)
