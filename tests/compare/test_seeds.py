# SPDX-License-Identifier: BSD-2-Clause
"""Published tables compared: the figures that the field's own documents give, and got wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclometer.compare.matrix import matrix
from cyclometer.compare.pairing import side
from cyclometer.compare.verdicts import Comparison, compare
from cyclometer.ingest import ingest

DATA = Path(__file__).parents[1] / "data"
BEFORE_AFTER = {"state": ("before", "after")}

# (key, mcs) -> the change printed against *after*, and the same change against *before*, in
# percent.
GOLDEN = {
    ("notification.signal.to_thread.prio_1", "on"): (-40.26, -28.71),
    ("notification.signal.to_process.prio_193", "on"): (-43.51, -30.32),
    ("endpoint.reply_receive.words_10.cross", "on"): (-23.19, -18.83),
    ("endpoint.call.words_0.same", "on"): (-0.51, -0.51),
    ("endpoint.call.words_10.cross", "off"): (2.17, 2.22),
}


@pytest.fixture(scope="module")
def mtime() -> Comparison:
    both = side([ingest([DATA / "change_table.md"])[0]])
    return compare(both, both, across=BEFORE_AFTER)


def test_the_table_has_thirty_changes(mtime: Comparison) -> None:
    assert len(mtime.findings) == 30
    # one run per side, and no n to say how sure its mean is
    assert {f.verdict for f in mtime.findings} == {"undecided"}


@pytest.mark.parametrize(("row", "percent"), GOLDEN.items())
def test_changes_are_fractions_of_before(
    mtime: Comparison, row: tuple[str, str], percent: tuple[float, float]
) -> None:
    key, mcs = row
    found = next(
        f
        for f in mtime.findings
        if f.key == key and f.pair.before and f.pair.before.estimate.configuration["mcs"] == mcs
    )
    assert found.before is not None
    assert found.after is not None
    assert found.change is not None
    against_after = (found.after.value - found.before.value) / found.after.value
    assert (100 * against_after, 100 * found.change) == pytest.approx(percent, abs=0.006)


def test_configurations_side_by_side() -> None:
    """Geometric means over the 47 keys that all four builds have: canaries cost calls, object cores
    cost switches.
    """
    found = matrix({"log": side([ingest([DATA / "zephyr_latency.txt"])[0]])})
    assert found.columns == ("default", "canaries", "objcore", "userspace")
    assert len(found.rows) == 124
    wanted = {
        "all rows": [(1.84, 47), (1.43, 47), (1.97, 47)],
        "with a thread switch": [(1.69, 20), (1.83, 20), (2.32, 20)],
        "without a thread switch": [(2.08, 20), (1.03, 20), (1.46, 20)],
    }
    for name, columns in wanted.items():
        assert [mean.rows for mean in found.means[name][1:]] == [rows for _, rows in columns]
        ratios = [mean.ratio for mean in found.means[name][1:]]
        assert ratios == pytest.approx([ratio for ratio, _ in columns], abs=0.005)
    assert found.means["all rows"][0].ratio is None
