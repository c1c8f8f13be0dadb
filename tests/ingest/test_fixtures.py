# SPDX-License-Identifier: BSD-2-Clause
"""Every file of tests/data/foreign/FORMAT is recognised as FORMAT and gives the rows that stand in
FILE.expected.

After a change that is meant, CYC_WRITE_EXPECTED=1 writes these files anew; review the difference
against the fixture.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cyclometer.ingest import Settings, detect, formats, ingest
from cyclometer.ingest.formats import IN_TREE
from cyclometer.ingest.reading import HEAD_BYTES, read

from .conftest import DATA
from .described import described

FOLDER = DATA / "foreign"
FIXTURES = sorted(
    path for path in FOLDER.glob("*/*") if path.suffix not in (".expected", ".settings")
)


def settings_of(path: Path) -> Settings:
    """What FILE.settings sets, a NAME=VALUE a line."""
    beside = path.with_name(f"{path.name}.settings")
    lines = beside.read_text().split() if beside.exists() else []
    return Settings(dict(line.split("=", 1) for line in lines))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_fixture_gives_the_rows_beside_it(path: Path) -> None:
    bundle, raw = ingest([path], settings_of(path))
    expected = path.with_name(f"{path.name}.expected")
    if os.environ.get("CYC_WRITE_EXPECTED"):
        expected.write_text(described(bundle), encoding="utf-8")
    assert described(bundle) == expected.read_text(encoding="utf-8")
    assert list(raw.values()) == [path.read_bytes()]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_fixture_is_claimed_by_its_format_alone(path: Path) -> None:
    foreign = read(path)
    assert path.parent.name == detect(foreign).NAME
    head = foreign.data[:HEAD_BYTES]
    claims = {name: item.detect(head, foreign.name) for name, item in formats().items()}
    first, second = sorted(claims.values(), reverse=True)[:2]
    assert first - second >= 5, claims


def test_every_format_has_a_fixture() -> None:
    older = {"google-benchmark", "hackbench", "kbench", "lmbench", "microkit", "notes"}
    older |= {"perf-bench", "pyperf", "rt-tests", "rtos-benchmark", "sel4bench", "table"}
    older |= {"sel4bench-history", "thread-metric", "zephyr-latency", "zephyr-twister"}
    older |= {"zephyr-ztest"}  # of tests/data, read by test_formats.py
    assert {path.parent.name for path in FIXTURES} | older == set(IN_TREE)
