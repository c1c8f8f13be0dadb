# SPDX-License-Identifier: BSD-2-Clause
"""The mutation run makes the changes it names, and fails for survivors that nobody explained."""

import ast
from pathlib import Path

import pytest

import mutate

SOURCE = """
import math
from dataclasses import dataclass

@dataclass(frozen=True)
class Box:
    side: float

def area(x: int, y: float = 0.5) -> float:
    if x < 1 <= y and not y == 3:
        return -x if True else max(x, 2 ** y)
    return math.floor(x) * y + sum(zip(strict=True))
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    file = tmp_path / "box.py"
    file.write_text(SOURCE)
    return file


def test_every_operator_comparison_and_constant_is_changed_and_guards_are_not(source: Path) -> None:
    changes = [mutant.change for mutant in mutate.mutants_of(source)]
    assert sorted(changes) == sorted(
        [
            "0.5 -> 0.625",
            "and -> or",
            "< -> <= (1)",
            "<= -> < (2)",
            "1 -> 2",
            "drop not",
            "== -> !=",
            "3 -> 4",
            "swap branches",
            "drop -",
            "True -> False",
            "max -> min",
            "** -> *",
            "2 -> 3",
            "floor -> ceil",
            "* -> /",
            "+ -> -",
        ]
    )


def test_a_mutant_is_its_change_and_nothing_else(source: Path) -> None:
    original = ast.unparse(ast.parse(SOURCE)).splitlines()
    for mutant in mutate.mutants_of(source):
        changed = ast.unparse(mutant.tree()).splitlines()
        different = [
            number for number, (a, b) in enumerate(zip(original, changed, strict=True)) if a != b
        ]
        assert len(different) == 1, mutant


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("<= -> < (2)", "if x < 1 < y and (not y == 3):"),
        ("drop not", "if x < 1 <= y and (not not y == 3):"),
        ("swap branches", "return max(x, 2 ** y) if True else -x"),
        ("drop -", "return +x if True else max(x, 2 ** y)"),
        ("floor -> ceil", "return math.ceil(x) * y"),
        ("0.5 -> 0.625", "def area(x: int, y: float=0.625) -> float:"),
    ],
)
def test_changes_do_what_they_say(source: Path, change: str, line: str) -> None:
    (mutant,) = (m for m in mutate.mutants_of(source) if m.change == change)
    assert line in ast.unparse(mutant.tree())


def test_repeated_changes_of_a_line_have_numbers(source: Path) -> None:
    source.write_text("x = 1 + 1 + 1\n")
    changes = [mutant.change for mutant in mutate.mutants_of(source)]
    assert sorted(changes) == ["+ -> -", "+ -> - #2", "1 -> 2", "1 -> 2 #2", "1 -> 2 #3"]


def explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *changes: str) -> None:
    file = tmp_path / "mutants.toml"
    file.write_text(
        "".join(
            f"[[survivor]]\nfile = 'box.py'\nline = 'x = 1'\nchange = '{change}'\nwhy = 'made up'\n"
            for change in changes
        )
    )
    monkeypatch.setattr(mutate, "EXPLAINED", file)


def test_report_fails_for_the_unexplained_and_the_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    survivor = mutate.Mutant("box.py", 1, "x = 1", "1 -> 2", 0, 0)
    explain(tmp_path, monkeypatch)
    assert mutate.report([survivor], 5, 1.0, {"box.py"}) == 1
    assert "survivor  box.py:1: 1 -> 2" in capsys.readouterr().out
    explain(tmp_path, monkeypatch, "1 -> 2")
    assert mutate.report([survivor], 5, 1.0, {"box.py"}) == 0
    assert "5 mutants, 4 killed, 1 survivors explained, 0 unexplained" in capsys.readouterr().out
    assert mutate.report([], 5, 1.0, {"box.py"}) == 1
    assert "stale     box.py: 1 -> 2" in capsys.readouterr().out
    assert mutate.report([], 5, 1.0, {"other.py"}) == 0


def test_tests_of_a_shared_module_include_those_of_its_users() -> None:
    names = [
        test.name for test in mutate.tests_of(mutate.SOURCE / "cyclometer/estimate/midmean.py")
    ]
    assert names == ["test_midmean.py", "test_regimes.py"]
    assert "test_statistics.py" in [
        t.name for t in mutate.tests_of(mutate.SOURCE / "cyclometer/estimate/interval.py")
    ]


def test_every_estimator_has_its_own_tests() -> None:
    without = [
        file.name
        for file in mutate.estimators()
        if file.name != "__init__.py" and not mutate.tests_of(file)
    ]
    assert without == []
