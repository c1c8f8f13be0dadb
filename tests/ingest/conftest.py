# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures of the ingest tests: our own small files of every foreign shape, with the published
figures.
"""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from cyclometer.bundle.model import Bundle, Row, Summary
from cyclometer.ingest import Settings, ingest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"

Ingested = Callable[..., Bundle]


@pytest.fixture
def ingested() -> Ingested:
    """Call with file names of tests/data and settings as keywords (`_` for `.`); gives the
    bundle.
    """

    def call(*names: str, **settings: str) -> Bundle:
        return ingest([DATA / name for name in names], Settings(settings))[0]

    return call


def baseline(name: str) -> list[dict[str, str]]:
    """The lines of a baseline's CSV."""
    with (ROOT / "baselines" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def row(bundle: Bundle, key: str, **configuration: str) -> Row:
    """The only row of this key whose configuration holds these options."""
    return bundle.identity.rows[index(bundle, key, **configuration)]


def index(bundle: Bundle, key: str, **configuration: str) -> int:
    found = [
        i
        for i, one in enumerate(bundle.identity.rows)
        if one.contract.key == key and configuration.items() <= one.configuration.items()
    ]
    assert len(found) == 1, (key, configuration, [one.contract.key for one in bundle.identity.rows])
    return found[0]


def summaries(bundle: Bundle, key: str, **configuration: str) -> list[Summary]:
    """All printed statistics of that row."""
    at = index(bundle, key, **configuration)
    return [summary for summary in bundle.identity.summaries if summary.row == at]


def values(bundle: Bundle, at: int, run: int | None = None) -> list[float]:
    """The raw values of row `at`, of one run or of all, in order."""
    mask = bundle.samples.row == at
    if run is not None:
        mask &= bundle.samples.run == run
    return [float(value) for value in bundle.samples.value[mask]]
