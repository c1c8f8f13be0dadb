# SPDX-License-Identifier: BSD-2-Clause
"""Exact counts against a file, on either side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cyclometer.bundle import store
from cyclometer.cli import cli
from cyclometer.compare import expected
from cyclometer.errors import BadFile, NothingMeasured, UsageError
from cyclometer.report.documents import kinds
from tests.compare.bundles import ICOUNT, Spec, bundle

ROWS = {"a.b": 100.0, "c.d": 20.25, "t.x": 1000.0}


def stored(path: Path, **changed: float | None) -> Path:
    rows = ROWS | {name.replace("_", "."): value for name, value in changed.items()}
    specs = [
        Spec(key, [value], ICOUNT, {"mcs": "on"})
        for key, value in rows.items()
        if value is not None
    ]
    store.write(bundle(*specs, Spec("noisy", [1.0, 2.0])), path, {})
    return path


def gate(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["gate", *map(str, words)])
    if isinstance(done.exception, Exception) and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "latency.toml"
    code, sentence = gate("--expect", path, "--update", stored(tmp_path / "first"))
    assert (code, sentence) == (0, f"{path}: 3 of 3 counts written anew\n")
    return path


def test_one_number_stands_on_a_line(file: Path) -> None:
    lines = file.read_text().splitlines()
    assert '["linux instructions mcs=on"]' in lines
    assert '"a.b" = 100' in lines
    assert '"c.d" = 20.25' in lines


@pytest.mark.parametrize(
    ("changed", "code", "sentence"),
    [
        ({}, 0, "3 of 3 counts are as expected."),
        ({"a_b": 101.0}, 1, "a.b: +1 instructions (+1.00 %), 100 expected and 101 measured"),
        ({"a_b": 99.0}, 1, "a.b: -1 instructions (-1.00 %), 100 expected"),
        ({"c_d": None}, 4, "c.d: gone"),
        ({"e_f": 5.0}, 0, "e.f: new, 5"),
        ({"a_b": 101.0, "c_d": None}, 1, "a.b: +1 instructions"),
    ],
)
def test_any_other_count_fails_whichever_way_it_moved(
    file: Path, tmp_path: Path, changed: dict[str, float | None], code: int, sentence: str
) -> None:
    path = stored(tmp_path / "now", **changed)
    ended, said = gate("--expect", file, path)
    assert ended == code
    assert sentence in said
    document = json.loads(gate("--expect", file, path, "--json")[1])
    assert document["schema"] == kinds.name("expected")
    assert document["summary"] in said


def test_a_row_that_is_not_valid_fails(file: Path, tmp_path: Path) -> None:
    specs = [Spec(key, [value], ICOUNT, {"mcs": "on"}) for key, value in ROWS.items()]
    specs[0] = Spec("a.b", [1.0], ICOUNT, {"mcs": "on"}, summary={"status": "failed"})
    store.write(bundle(*specs), tmp_path / "now", {})
    code, sentence = gate("--expect", file, tmp_path / "now")
    assert code == 5
    assert "a.b: invalid" in sentence


def test_an_update_changes_what_was_measured_and_keeps_the_rest(file: Path, tmp_path: Path) -> None:
    file.write_text('[tolerance]\n"t.*" = "1%"\n' + file.read_text())
    near = stored(tmp_path / "near", t_x=1009.0)
    assert gate("--expect", file, near)[0] == 0
    assert gate("--expect", file, stored(tmp_path / "far", t_x=1011.0))[0] == 1
    part = stored(tmp_path / "part", a_b=90.0, c_d=None, t_x=None)
    assert gate("--expect", file, "--update", part)[1].endswith("1 of 1 counts written anew\n")
    read = expected.read(file)
    assert read.tolerance == {"t.*": 0.01}
    assert read.tables == {"linux instructions mcs=on": ROWS | {"a.b": 90}}


@pytest.mark.parametrize(
    "text", ["[", "a = 1", '[a]\nb = "x"', "[a]\nb = true", "[tolerance]\nb = 1"]
)
def test_what_is_no_such_file_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(BadFile, match=r"bad\.toml"):
        expected.read(path)


def test_noisy_clocks_and_other_uses_are_refused(file: Path, tmp_path: Path) -> None:
    store.write(bundle(Spec("noisy", [1.0, 2.0])), tmp_path / "noisy", {})
    with pytest.raises(NothingMeasured, match="exact clock"):
        gate("--expect", file, tmp_path / "noisy")
    for words in (("--update", tmp_path, tmp_path), ("--expect", file, tmp_path / "none")):
        with pytest.raises(UsageError):
            gate(*words)
    with pytest.raises(BadFile, match="cannot be read"):
        gate("--expect", tmp_path / "none.toml", tmp_path / "noisy")


def test_a_hostile_key_stays_one_key(tmp_path: Path) -> None:
    path, key = tmp_path / "latency.toml", 'a"]\n[x]\n"b\\'
    store.write(bundle(Spec(key, [3.0], ICOUNT)), tmp_path / "one", {})
    gate("--expect", path, "--update", tmp_path / "one")
    assert gate("--expect", path, tmp_path / "one")[0] == 0
    assert len(expected.read(path).tables) == 1
