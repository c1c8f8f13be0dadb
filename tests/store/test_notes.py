# SPDX-License-Identifier: BSD-2-Clause
"""Histories in git notes, with real repositories."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from cyclometer.bundle import store
from cyclometer.cli import cli
from cyclometer.errors import BadFile, NothingMeasured, UsageError
from cyclometer.report.documents import kinds, over_time
from tests.compare import bundles
from tests.compare.bundles import ICOUNT, Spec

pytest.importorskip("duckdb", reason="DuckDB is not installed; run `make setup-all`")
REF = "refs/notes/cyclometer"


def git(root: Path, *words: str, stdin: str | None = None) -> str:
    result = subprocess.run(
        ["git", "-C", str(root), *words], check=True, capture_output=True, text=True, input=stdin
    )
    return result.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Six commits without a file."""
    root = tmp_path / "repository"
    git(tmp_path, "init", "-q", str(root))
    _named(root)
    for n in range(6):
        git(root, "commit", "-q", "--allow-empty", "-m", f"change {n}")
    return root


def _named(root: Path) -> None:
    git(root, "config", "user.name", "a")
    git(root, "config", "user.email", "a@localhost")


def bundle(folder: Path, value: float, key: str = "a.b", day: int = 1) -> Path:
    path = folder / f"{key}-{value:g}-{day}"
    made = bundles.bundle(
        Spec(key, [value], clock=ICOUNT), created=f"2026-01-0{day}T00:00:00+00:00"
    )
    if not path.exists():
        store.write(made, path, {})
    return path


def history(root: Path, *words: object) -> Result:
    fixed = ["history", "--git-notes", "--repository", str(root)]
    return CliRunner().invoke(cli, [*fixed, *map(str, words)])


def values(root: Path, *words: object) -> list[float]:
    result = history(root, "--json", *words)
    assert result.exit_code == 0, (result.output, result.exception)
    found = json.loads(result.stdout)
    assert found.pop("schema") == kinds.name("history")
    (series,) = msgspec.convert(found, over_time.History).series
    return [point.value for point in series.points]


def test_points_stand_in_the_order_of_commits_and_changes_name_them(
    repository: Path, tmp_path: Path
) -> None:
    """Measured from the newest to the oldest; a bundle noted twice counts once."""
    for back, value in ((0, 130), (1, 130), (3, 100), (5, 100), (5, 100)):
        result = history(
            repository, bundle(tmp_path, value, day=back + 1), "--commit", f"HEAD~{back}"
        )
        assert result.exit_code == 0, (result.output, result.exception)
    assert values(repository) == [100, 100, 130, 130]
    at = [git(repository, "rev-parse", f"HEAD~{back}")[:12] for back in (3, 1)]
    shown = history(repository).stdout
    assert f"commit: {at[0]} -> {at[1]}" in shown
    assert "a.b: +30" in shown


def test_notes_of_two_people_merge_without_a_conflict(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(repository), str(other))
    _named(other)
    values(repository, bundle(tmp_path, 100))
    values(other, bundle(tmp_path, 101, day=2))
    git(other, "fetch", "-q", "origin", f"{REF}:refs/notes/theirs")
    git(
        other,
        "notes",
        "--ref=cyclometer",
        "merge",
        "-q",
        "-s",
        "cat_sort_uniq",
        "refs/notes/theirs",
    )
    assert values(other) == [100, 101]
    merged = git(other, "notes", "--ref=cyclometer", "show")
    assert "<<<<" not in merged
    assert merged.splitlines() == sorted(set(merged.splitlines()))


def test_only_chooses_circles_and_nothing_noted_is_said(repository: Path, tmp_path: Path) -> None:
    assert isinstance(history(repository).exception, NothingMeasured)
    history(repository, bundle(tmp_path, 5, "c.d"))
    assert values(repository, bundle(tmp_path, 7), "--only", "a.*") == [7]
    assert isinstance(history(repository, "--only", "z.*").exception, NothingMeasured)


@pytest.mark.parametrize("text", ["{", "[]", '{"type":"row"}', '{"type":"x"}', "[" * 100_000])
def test_a_damaged_note_is_named(repository: Path, text: str) -> None:
    git(repository, "notes", "--ref=cyclometer", "add", "-F", "-", "HEAD", stdin=text)
    result = history(repository)
    assert isinstance(result.exception, BadFile)
    assert git(repository, "rev-parse", "HEAD")[:12] in str(result.exception)


def test_without_notes_the_command_is_that_of_compare(tmp_path: Path) -> None:
    paths = [str(bundle(tmp_path, value, day=day)) for day, value in ((1, 100), (2, 130))]
    result = CliRunner().invoke(cli, ["history", *paths])
    compared = CliRunner().invoke(cli, ["history", *paths])
    assert result.stdout == compared.stdout
    assert "1 change points in 1 of 1 circles" in result.stdout
    assert isinstance(CliRunner().invoke(cli, ["history"]).exception, UsageError)
