# SPDX-License-Identifier: BSD-2-Clause
"""How far sessions of a machine differ: learnt, kept, and part of later verdicts."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from cyclometer.bundle.model import Bundle
from cyclometer.compare import calibration
from cyclometer.compare.calibration import Calibration, KnownVariances, Variance
from cyclometer.compare.finding import Options
from cyclometer.compare.pairing import Side, side
from cyclometer.compare.verdicts import compare
from cyclometer.errors import BadFile, MeasurementFailed, NothingMeasured
from cyclometer.estimate import surroundings
from cyclometer.estimate.session import Session
from tests.compare.bundles import Spec, bundle
from tests.compare.recorded import recorded
from tests.compare.test_component import at


def variances(rng: np.random.Generator, df: float, d0: float, s0: float, rows: int = 400):
    """Variances with df degrees of freedom of rows whose own come from an inverse chi-square."""
    true = s0**2 * d0 / rng.chisquare(d0, rows) if math.isfinite(d0) else np.full(rows, s0**2)
    return true, true * rng.chisquare(df, rows) / df


@pytest.mark.parametrize("d0", [4.0, 12.0])
def test_moderation_finds_what_rows_share(d0: float) -> None:
    rng = np.random.default_rng(1)
    found = [calibration.moderation(variances(rng, 4, d0, 0.003)[1], 4) for _ in range(40)]
    assert np.median([one.variance for one in found]) == pytest.approx(0.003**2, rel=0.1)
    assert np.median([one.df for one in found]) == pytest.approx(d0, rel=0.3)


def test_rows_that_do_not_differ_are_taken_together() -> None:
    rng = np.random.default_rng(2)
    found = [calibration.moderation(variances(rng, 4, math.inf, 0.003)[1], 4) for _ in range(40)]
    assert np.median([one.df for one in found]) > 100
    one = np.median([one.variance for one in found])
    assert one == pytest.approx(0.003**2, rel=0.1)


def a_machine(rng: np.random.Generator, rows: int, sessions: int, d0: float = 8.0) -> np.ndarray:
    """Means of sessions that differ by about 0.3 %, each by itself; shape (sessions, rows)."""
    true, _ = variances(rng, 1, d0, 0.003, rows)
    return np.sqrt(true) * rng.standard_normal((sessions, rows))


def test_intervals_of_later_sessions_cover_and_cry_seldom() -> None:
    """Five sessions tell how far the next two lie apart: rows whose own visits know nearly all."""
    rng, covered, alarms = np.random.default_rng(3), [], []
    for _ in range(60):
        means = a_machine(rng, 100, 7)
        squares = {
            str(row): [(a - b) ** 2 / 2 for i, a in enumerate(of_row) for b in of_row[:i]]
            for row, of_row in enumerate(means[:5].T)
        }
        known = calibration._known(squares, 4)
        kept = Calibration({}, "", {"hour": known})
        for row, (before, after) in enumerate(means[5:].T):
            found = kept.component(str(row), [at(0)], [at(5)], 1e-8)
            assert found is not None
            error = math.sqrt(found.variance + 1e-8)
            p = 2 * stats.t.sf(abs(after - before) / error, found.df)
            covered.append(p > 0.05)
            alarms.append(p * 100 < 0.05 and abs(after - before) > 0.01)
    assert 0.93 <= np.mean(covered) <= 0.97
    assert np.mean(alarms) <= 0.01


KNOWN = Calibration({}, "", {"hour": KnownVariances(10, {"pipe": Variance(1e-6, 9.0)})})


def test_a_component_is_what_visits_do_not_know_already() -> None:
    found = KNOWN.component("pipe", [at(0)], [at(5)], 0.5e-6)
    assert found is not None
    assert (found.variance, found.df) == (pytest.approx(1.5e-6), 9)
    assert found.source == "of this machine differ by 0.1 % in this circle (10 pairs)"
    wide = KNOWN.component("pipe", [at(0), at(1)], [at(5)], 1.0)
    assert wide is not None
    assert wide.variance == 0


def test_what_was_not_seen_is_not_known() -> None:
    assert KNOWN.component("tcp", [at(0)], [at(5)], 0.0) is None
    assert KNOWN.component("pipe", [at(0)], [at(90)], 0.0) is None
    other = replace(at(5), occasion=replace(at(5).occasion, machine=(("cpu_model", "x"),)))
    assert KNOWN.component("pipe", [at(0)], [other], 0.0) is None
    priors = KnownVariances(10, {}, restless=Variance(4e-6, 3.0), others=Variance(1e-6, 5.0))
    both = Calibration({}, "", {"hour": priors})
    found = [both.component(key, [at(0)], [at(5)], 0.0) for key in ("timer.x", "tcp")]
    assert [one and one.df for one in found] == [3, 5]


def test_recorded_sessions_are_learnt_and_used() -> None:
    sides = [side([recorded(name)]) for name in ("aa1", "aa2", "s1")]
    known = calibration.learn(sides)
    assert set(known.gaps) == {"hour", "machine"}
    assert known.gaps["hour"].pairs == 1
    assert known.gaps["machine"].pairs == 2
    assert len(known.gaps["machine"].rows) == 146
    found = compare(sides[0], sides[2], Options(calibration=known))
    assert not [f for f in found.findings if f.verdict in ("regressed", "improved")]
    assert any("sessions of this machine differ by" in f.reason for f in found.findings)
    assert not any("assumed" in f.reason for f in found.findings)


@pytest.mark.parametrize(
    "bundles", [[], [recorded("aa1")] * 2, [bundle(Spec("a", [1.0, 2.0]))] * 3]
)
def test_too_little_is_refused(bundles: list[Bundle]) -> None:
    with pytest.raises(NothingMeasured, match="doctor --calibrate"):
        calibration.learn([side([one]) for one in bundles])


def beside(busy: bool) -> Side:
    """A recorded session, beside which foreign threads ran or did not."""
    rate = 500.0 if busy else 1.0
    side_ = side([recorded("aa1")])
    return replace(
        side_,
        circles=tuple(
            replace(
                c, estimate=replace(c.estimate, sessions=(_with(c.estimate.sessions[0], rate),))
            )
            for c in side_.circles
        ),
    )


def _with(one: Session, rate: float) -> Session:
    rates = rate + 0.1 * np.arange(24.0)
    return replace(one, beside={surroundings.FOREIGN: rates})


def test_a_session_beside_other_work_teaches_nothing() -> None:
    """Its pairs would be refused; the others are as many as without it."""
    quiet = [beside(False)] * 3
    known = calibration.learn([*quiet, beside(True)])
    assert known.gaps == calibration.learn(quiet).gaps
    assert known.gaps["hour"].pairs == 3
    with pytest.raises(NothingMeasured, match="2 of 4 bundles are comparable sessions, and 3"):
        calibration.learn([*quiet[:2], beside(True), beside(True).chosen(lambda _: False)])


def test_a_calibration_is_kept_for_its_machine(tmp_path: Path) -> None:
    file = calibration.keep(KNOWN, tmp_path / "sessions")
    assert file == calibration.path(tmp_path / "sessions", {})
    assert calibration.read(file) == KNOWN
    assert calibration.path(tmp_path, {"cpu_model": "x"}) != calibration.path(tmp_path, {})
    assert calibration.read(tmp_path / "none.json") is None
    file.write_text("{}")
    with pytest.raises(BadFile, match="is not a calibration"):
        calibration.read(file)
    (tmp_path / "file").touch()
    with pytest.raises(MeasurementFailed, match="cannot be written"):
        calibration.keep(KNOWN, tmp_path / "file")


def test_sentences_name_the_gap_and_both_ends() -> None:
    (said,) = calibration.sentences(KNOWN)
    assert said.startswith("sessions of one boot within the hour differ by 0.1 % in the middle")
