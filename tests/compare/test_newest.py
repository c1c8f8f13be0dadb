# SPDX-License-Identifier: BSD-2-Clause
"""`gate --history`: the newest point of a circle is judged by its own past."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from cyclometer import errors
from cyclometer.bundle import store
from cyclometer.bundle.model import Bundle
from cyclometer.cli import cli
from cyclometer.compare.finding import Options
from cyclometer.compare.history import history
from cyclometer.compare.newest import Newest, code, newest
from cyclometer.report.documents import kinds, over_time
from tests.compare.bundles import ICOUNT, TSC, Clock, Spec, bundle

PAST = [4945.0, 4938.0, 4906.0, 4927.0, 4844.0]


def nights(levels: list[float], clock: Clock = TSC, key: str = "a", **row: str) -> list[Bundle]:
    """A bundle a night."""
    return [
        bundle(
            Spec(key, [level] * 3, clock, row=dict(row)),
            created=f"2026-01-{1 + night:02}T02:00:00+00:00",
        )
        for night, level in enumerate(levels)
    ]


def judged(levels: list[float], clock: Clock = TSC, **row: str) -> Newest:
    options = Options()
    (one,) = newest(history(nights(levels, clock, **row), options), options)
    return one


@pytest.mark.parametrize(
    ("last", "verdict"),
    [(23206.0, "regressed"), (3000.0, "improved"), (4880.0, "expected"), (4990.0, "expected")],
)
def test_the_newest_point_is_held_against_the_spread_of_those_before(
    last: float, verdict: str
) -> None:
    one = judged([*PAST, last])
    assert (one.verdict, len(one.past)) == (verdict, len(PAST))
    assert one.change == pytest.approx(last / np.mean(PAST) - 1)


def test_more_is_better_where_the_circle_says_so() -> None:
    assert judged([*PAST, 23206.0], better="higher").verdict == "improved"


def test_only_points_since_the_last_change_are_its_past() -> None:
    higher = [10 * value for value in PAST]
    assert judged([*PAST, *higher, 49000.0]).verdict == "expected"
    assert len(judged([*PAST, *higher, 49000.0]).past) == len(higher)
    assert judged([*PAST, *higher, 4900.0]).verdict == "improved"


def test_with_fewer_than_three_points_before_it_nothing_is_decided() -> None:
    one = judged([*PAST[:2], 23206.0])
    assert (one.verdict, one.change) == ("undecided", None)


def test_an_exact_clock_needs_one_point_and_no_chance() -> None:
    assert judged([376, 377], ICOUNT).verdict == "regressed"
    assert judged([376, 376], ICOUNT).verdict == "expected"
    assert judged([376], ICOUNT).verdict == "undecided"


def test_stationary_points_alarm_as_often_as_promised() -> None:
    draw = np.random.default_rng(7)
    options, alarms = Options(margin=0.0), 0
    for _ in range(400):
        points = [float(x) for x in 1000 * np.exp(0.01 * draw.standard_normal(6))]
        (one,) = newest(history(nights(points), options), options)
        alarms += one.verdict != "expected"
    # one seed, so one count; a change among five points before shortens the past now and then
    assert 0.02 * 400 < alarms < 0.09 * 400


def test_the_exit_code_is_of_the_worst_circle(tmp_path: Path) -> None:
    for levels, expected in (
        ([*PAST, 23206.0], errors.REGRESSED),
        ([*PAST, 4900.0], errors.PASS),
        (PAST[:2], errors.UNDECIDED),
    ):
        folder = tmp_path / str(expected)
        folder.mkdir()
        for at, one in enumerate(nights(levels)):
            store.write(one, folder / str(at), {})
        done = CliRunner().invoke(cli, ["gate", "--history", str(folder), "--json"])
        assert done.exit_code == expected
        content = json.loads(done.stdout)
        assert content.pop("schema") == kinds.name("newest")
        (row,) = msgspec.convert(content, over_time.NewestPoints).rows
        assert row.points == len(levels) - 1
        said = CliRunner().invoke(cli, ["gate", "--history", str(folder)]).stdout
        assert ("regressed  a: " in said) == (expected == errors.REGRESSED)
    assert code([]) == errors.NOTHING
