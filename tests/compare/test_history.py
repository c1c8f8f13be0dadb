# SPDX-License-Identifier: BSD-2-Clause
"""Change points of a store, and what changed with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cyclometer.bundle.model import Bundle
from cyclometer.compare.finding import Options
from cyclometer.compare.history import ChangePoint, _split, history
from cyclometer.ingest import ingest
from cyclometer.report import history as report
from cyclometer.report.documents import kinds
from tests.compare.bundles import ICOUNT, Spec, bundle

DATA = Path(__file__).parents[1] / "data"


def nights(levels: list[float], spread: float = 0.002, **spec: object) -> list[Bundle]:
    """A bundle a night; the compiler changes with every tenth."""
    rng = np.random.default_rng(1)
    return [
        bundle(
            Spec("a", list(level * (1 + spread * rng.standard_normal(3))), **spec),  # type: ignore[arg-type]
            created=f"2026-{1 + night // 28:02}-{1 + night % 28:02}T02:00:00+00:00",
            build={"compiler": f"gcc {12 + night // 10}"},
            load=[night],
        )
        for night, level in enumerate(levels)
    ]


def only(bundles: list[Bundle], **options: float) -> list[ChangePoint]:
    (series,) = history(bundles, Options(**options))
    return list(series.changes)


def test_a_step_is_found_with_its_size_and_its_cause() -> None:
    (change,) = only(nights([1000.0] * 10 + [1050.0] * 10))
    assert (change.last.when, change.first.when) == (
        "2026-01-10T02:00:00+00:00",
        "2026-01-11T02:00:00+00:00",
    )
    assert change.change == pytest.approx(0.05, abs=0.002)
    assert change.changed == (("build.compiler", "gcc 12", "gcc 13"),)
    assert change.p is not None
    assert change.p <= 0.01


def test_bundles_are_ordered_by_the_time_they_state() -> None:
    found = nights([1000.0] * 10 + [1050.0] * 10)
    assert only(found[::-1]) == only(found)


def test_a_step_within_the_margin_is_left_out() -> None:
    found = nights([1000.0] * 10 + [1008.0] * 10, spread=0.0005)
    assert only(found) == []
    assert len(only(found, margin=0.005)) == 1


def test_dropping_a_small_step_joins_its_stretches() -> None:
    """Two steps of 0.8 % are within the margin, both together are not: what remains is one change
    of 1.2 %.
    """
    found = only(nights([1000.0] * 10 + [1008.0] * 10 + [1016.0] * 10, spread=0.0003))
    assert [change.change for change in found] == pytest.approx([0.012], abs=0.0005)


def test_on_an_exact_clock_every_step_is_a_change() -> None:
    found = nights([1000.0, 1000.0, 1001.0, 1001.0, 1000.0], spread=0.0, clock=ICOUNT)
    assert [(c.before, c.after, c.p) for c in only(found)] == [
        (1000, 1001, None),
        (1001, 1000, None),
    ]
    assert only(found, layout_floor=0.01) == []


def test_what_was_not_measured_is_counted() -> None:
    (series,) = history(
        [*nights([1000.0] * 5), bundle(Spec("a", [1.0], summary={"status": "failed"}))]
    )
    assert (len(series.points), series.missing) == (5, 1)
    assert "1 estimates were not valid" in report.sentence([series])


def test_versions_of_one_file_are_points_in_their_order() -> None:
    """A foreign suite's history: its commits are versions, and the time is the one it states.

    Two of its four lines are runs of one build, and so one point.
    """
    found = history([ingest([DATA / "HIFIVE_64.jsonl"])[0]])
    assert {len(series.points) for series in found} == {3}
    whens = [point.when for point in found[0].points]
    assert whens == sorted(whens)
    assert all("kernel" in point.identity for point in found[0].points)


def test_printed_histories_name_the_circle_the_change_and_its_cause(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = history(nights([1000.0] * 10 + [1050.0] * 10))
    report.show(found)
    shown = capsys.readouterr().out
    assert "a: +5.0" in shown
    assert "build.compiler: gcc 12 -> gcc 13" in shown
    assert shown.endswith("1 change points in 1 of 1 circles, over up to 20 points.\n")
    assert "| `a` | +5.0" in report.markdown(found)
    result = kinds.plain(report.as_json(found))["series"][0]
    assert result["changes"][0]["at"] == 10
    assert len(result["points"]) == 20


def test_circles_that_changed_together_stand_under_one_cause(
    capsys: pytest.CaptureFixture[str],
) -> None:
    levels = [1_234_567.0] * 10 + [2_345_678.0] * 10
    specs = [[Spec("a", [level] * 3), Spec("b", [2 * level] * 3)] for level in levels]
    made = [f"2026-01-{night:02}T02:00:00+00:00" for night in range(1, 21)]
    builds = [{"compiler": f"gcc {12 + night // 10}"} for night in range(20)]
    stored = [
        bundle(*two, created=when, build=build)
        for two, when, build in zip(specs, made, builds, strict=True)
    ]
    report.show(history(stored))
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"between {made[9]} and {made[10]}"
    assert shown[1] == "    build.compiler: gcc 12 -> gcc 13"
    assert [line.split(", p ")[0] for line in shown[2:4]] == [
        "  a: +90.00 %, from 1234600 to 2345700 ticks",
        "  b: +90.00 %, from 2469100 to 4691400 ticks",
    ]


def test_a_short_series_shows_a_large_step() -> None:
    levels = [4945.0, 4938, 4906, 4927, 4844, 23206, 23072, 23288]
    (change,) = only(nights(levels, spread=0.0005))
    assert change.change == pytest.approx(3.7, abs=0.05)
    (last,) = only(nights(levels[:6], spread=0.0005))
    assert last.first.value == pytest.approx(23206, rel=0.01)
    (fourth,) = only(nights([1000.0, 1003, 999, 1200], spread=0.0005))
    assert fourth.change == pytest.approx(0.2, abs=0.01)
    assert only(nights([1000.0, 1003, 999], spread=0.0005)) == []


@pytest.mark.parametrize(("memory", "most"), [(0.0, 0.02), (0.5, 0.09)])
def test_short_series_seldom_alarm(memory: float, most: float) -> None:
    """Of independent points one series in a hundred; of a stationary one with memory several."""
    rng, alarms = np.random.default_rng(4), 0
    points = history(nights([1000.0] * 8))[0].points
    for _ in range(1000):
        noise = 0.01 * rng.standard_normal(8)
        for i in range(1, 8):
            noise[i] = memory * noise[i - 1] + noise[i] * np.sqrt(1 - memory**2)
        alarms += bool(_split(points, noise))
    assert alarms / 1000 <= most


def test_points_spread_by_no_less_than_their_own_intervals() -> None:
    """Four points that agree by chance, each known to 2 %, and a fifth 2 % higher."""
    assert only(nights([1000.0] * 4 + [1020.0], spread=0.02)) == []
