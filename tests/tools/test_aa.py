# SPDX-License-Identifier: BSD-2-Clause
"""`make aa` counts what comparisons of unchanged sessions say, and what a planted change says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import aa
from cyclometer.bundle import store
from cyclometer.bundle.model import Bundle
from tests.estimate.visited import Visits


def session(seed: int, slower: float = 1.0) -> Bundle:
    """24 visits each of six circles with noise of 0.2 %; the first of them may be slower."""
    rng, made = np.random.default_rng(seed), Visits()
    rows = [made.row(f"a.b{number}") for number in range(6)]
    for visit in range(24):
        for row in rows:
            turn = 1e5 * rng.normal(1, 0.002) * (slower if row == rows[0] else 1)
            values = [turn * turns * rng.normal(1, 0.0005) for turns in (10, 20, 30)]
            made.add(row, 1, 10**8 * (6 * visit + row), values, turns=[10, 20, 30])
    return made.bundle()


def run(folder: Path, capsys: pytest.CaptureFixture[str], *sessions: Bundle) -> str:
    for number, one in enumerate(sessions):
        store.write(one, folder / f"alone-{number}", {})
    count = ["--sessions", str(len(sessions))]
    aa.main([*count, "--keep", str(folder), "--scenarios", "alone", "--triples", "5"])
    return capsys.readouterr().out


def test_unchanged_sessions_are_all_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run(tmp_path, capsys, *(session(seed) for seed in range(6)))
    assert "single sessions: 15 comparisons, 90 rows" in said
    assert "later half, calibrated: 3 comparisons, 18 rows" in said
    assert "3 against 3: 5 comparisons, 30 rows" in said
    assert said.count("called changed             0.00 %") == 3
    assert said.count("gate fails                 0.00 %") == 3


def test_a_change_is_counted_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = run(tmp_path, capsys, session(1), session(2), session(3, slower=1.2))
    assert "called changed            11.11 %  (target 0.5 %); a.b0 2 x" in said
    assert "gate fails                66.67 %" in said


def test_sessions_between_two_cpus_are_measured_with_the_options_of_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def measured(command: list[str], **_: object) -> SimpleNamespace:
        store.write(session(len(commands)), Path(command[-1]), {})
        commands.append(command)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(aa, "subprocess", SimpleNamespace(run=measured))
    chosen = ["--cpus", "auto", "--only", "*.other_cpu", "--budget", "9s"]
    aa.main([*chosen, "--sessions", "2", "--scenarios", "alone", "--keep", str(tmp_path)])
    assert len(commands) == 2
    for command in commands:
        given = dict(pairwise(command))
        assert (given["--cpus"], given["--only"]) == ("auto", "*.other_cpu")
        assert given["--budget"] == "9s"
    assert "single sessions: 1 comparisons, 6 rows" in capsys.readouterr().out


def test_every_triple_is_disjoint_and_none_comes_twice() -> None:
    found = aa.triples(8, 1000)
    assert len(found) == 280 == len(set(found))
    assert all(not set(one) & set(other) for one, other in found)
    assert len(aa.triples(8, 30)) <= 30
    assert aa.triples(5, 30) == []


def test_one_session_is_no_pair() -> None:
    with pytest.raises(SystemExit):
        aa.main(["--sessions", "1"])
