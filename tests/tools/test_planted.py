# SPDX-License-Identifier: BSD-2-Clause
"""`make planted` makes circles slower by what it says, and counts what comparisons find of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import planted
from cyclometer.bundle import store
from cyclometer.bundle.core_cycles import in_core_cycles
from tests.compare.wandering import MACHINES, Suite, session

CIRCLES = 6


def sessions(count: int) -> list:
    rng = np.random.default_rng(7)
    suite = Suite.drawn(rng, CIRCLES)
    minutes = (f"2026-11-01T00:{n:02}:00+00:00" for n in range(count))
    return [session(rng, MACHINES["steady"], suite, minute)[0] for minute in minutes]


def test_so_many_cycles_are_added_to_each_turn() -> None:
    (one,) = (in_core_cycles(bundle) for bundle in sessions(1))
    wanted = planted.planted_cycles(one, 0.03)
    assert set(wanted) <= {f"circle.{n}" for n in range(CIRCLES)}
    key = min(wanted)
    more = planted.slower(one, {key: wanted[key]})
    row = int(key.partition(".")[2])
    tests, others = one.samples.tests(row), one.samples.tests((row + 1) % CIRCLES)
    added = (more.samples.value - one.samples.value)[tests] / one.samples.turns[tests]
    np.testing.assert_allclose(added, wanted[key], rtol=1e-6)
    np.testing.assert_array_equal(more.samples.value[others], one.samples.value[others])


def test_short_circles_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = (in_core_cycles(bundle) for bundle in sessions(1))
    every = planted.planted_cycles(one, 0.03)
    middle = float(np.median([cyc / 0.03 for cyc in every.values()]))
    monkeypatch.setattr(planted, "FEWEST_CYC", middle)
    kept = planted.planted_cycles(one, 0.03)
    assert 0 < len(kept) < len(every)
    assert min(kept.values()) >= 0.03 * middle


def test_three_sessions_against_three_find_most(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, one in enumerate(sessions(6)):
        store.write(one, tmp_path / f"alone-{number}", {})
    planted.main(["--sessions", str(tmp_path), "--triples", "2"])
    printed = capsys.readouterr().out
    assert "3 % by three sessions against three: " in printed
    found, _, of = printed.partition(": ")[2].split()[:3]
    assert int(of) % CIRCLES == 0
    assert int(found) >= 0.8 * int(of)


def test_a_verdict_that_is_not_regressed_is_missed(capsys: pytest.CaptureFixture[str]) -> None:
    found = planted.Found()
    found.add([("a.b", "regressed"), ("a.c", "undecided"), ("a.d", "improved")])
    found.add([("a.c", "equivalent"), ("a.b", "regressed")])
    planted.report("1 % by ab", found)
    printed = capsys.readouterr().out
    assert "2 of 5 planted slow-downs found, 40 %" in printed
    assert "missed: a.c, a.d\n" in printed


def test_nothing_to_plant_in_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no circle above 500 core cycles"):
        planted.main(["--sessions", str(tmp_path)])


@pytest.mark.e2e
def test_the_harness_makes_the_circles_of_its_table_slower(tmp_path: Path) -> None:
    """Fifty cycles more in a turn of nothing, and none in the circle that the table leaves out."""
    table = tmp_path / "table"
    table.write_text("floor.empty 50000\n")
    program = f"{planted.harness()}"
    printed = planted._cyclometer(
        *("ab", "--harness-before", program, "--harness-after", program),
        *("--env-after", f"{planted.TABLE}={table}", "--only", "floor.*", "--budget", "2s"),
        *("--json", "-o", str(tmp_path / "ab")),
    )
    rows = {row["key"]: row for row in printed["rows"]}
    assert rows["floor.empty"]["after"] > 10 * rows["floor.empty"]["before"]
    assert rows["floor.loop"]["after"] < 2 * rows["floor.loop"]["before"]
