# SPDX-License-Identifier: BSD-2-Clause
"""What is exported in a format that is also ingested comes back with the same figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cyclometer.estimate.rows import estimates
from cyclometer.ingest import ingest
from tests.report import sample_bundles as bundles
from tests.report.test_export import export


def back(folder: Path, name: str, keys=(), **options):
    path = folder / "exported.txt"
    path.write_text(export(bundles.typical(), name, keys, **options))
    return ingest([path])[0]


def test_kbench_table(tmp_path: Path):
    bundle, again = bundles.typical(), back(tmp_path, "kbench", (bundles.PIPE.key,), run=2)
    measured = (bundle.samples.row == 0) & (bundle.samples.run == 2)
    assert np.array_equal(again.samples.value, bundle.samples.value[measured])
    assert np.array_equal(again.samples.turns, bundle.samples.turns[measured])
    assert again.identity.rows[0].flow == bundle.identity.rows[0].flow
    assert [p.what for p in again.identity.problems if p.kind in ("unread", "damaged")] == []


@pytest.mark.parametrize("name", ["pyperf", "google-benchmark"])
def test_values_of_runs(name, tmp_path: Path):
    expected = {
        e.contract.key: [r.latency.value / 2.5 for r in e.runs]
        for e in estimates(bundles.typical())
        if e.valid
    }
    again = back(tmp_path, name)
    found = {}
    for index, row in enumerate(again.identity.rows):
        measured = again.samples.row == index
        found[row.contract.title] = (again.samples.value / again.samples.turns)[measured].tolist()
    assert found == {key: pytest.approx(values) for key, values in expected.items()}
