# SPDX-License-Identifier: BSD-2-Clause
"""Bisection: of pretended chains by itself, and of a real repository with a planted regression."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from cyclometer.bundle import store
from cyclometer.cli import cli
from cyclometer.errors import MeasurementFailed, NothingMeasured, UsageError
from cyclometer.report.documents import kinds, swept
from cyclometer.sweep import bisect
from cyclometer.sweep.bisect import Measured

COMMITS, PLANTED, BROKEN = 44, 30, 21


def exactly(value: float) -> Measured:
    return Measured(value, value, value, "instructions")


def searched(values: Sequence[Measured], lanes: int) -> tuple[bisect.Found, list[int]]:
    """What is found in a chain of commits 0, 1, ...; how many were measured at once."""
    sizes: list[int] = []

    def measure(commits: Sequence[str]) -> list[Measured]:
        sizes.append(len(commits))
        return [values[int(commit)] for commit in commits]

    return bisect.search([str(n) for n in range(len(values))], measure, lanes), sizes


@pytest.mark.parametrize("lanes", [1, 2, 3, 7])
@pytest.mark.parametrize("better", [False, True])
def test_every_place_is_found_by_any_number_of_workers(lanes: int, better: bool) -> None:
    for at in range(1, 65):
        values = [exactly(100 + (n >= at) * (-3 if better else 3)) for n in range(65)]
        found, sizes = searched(values, lanes)
        assert (found.last, found.first, found.undecided) == (str(at - 1), str(at), ())
        assert len(sizes) <= {1: 7, 2: 5, 3: 4, 7: 3}[lanes] + 1
        assert max(sizes) <= max(2, lanes)


def test_commits_that_cannot_be_measured_are_passed_over_or_named() -> None:
    values = [exactly(100 + 5 * (n >= 9)) for n in range(20)]
    for n in (5, 10):
        values[n] = Measured(error="it does not build")
    assert searched(values, 2)[0].first == "9"
    values[8] = Measured(error="it does not build")
    found, _ = searched(values, 2)
    assert (found.last, found.undecided, found.first) == ("7", ("8",), "9")


def test_an_interval_that_holds_the_middle_decides_nothing() -> None:
    values = [Measured(100, 98, 102, "ns")] * 5 + [Measured(110, 108, 112, "ns")] * 5
    values[5] = Measured(107, 104, 110, "ns")
    found, _ = searched(values, 1)
    assert (found.last, found.undecided, found.first) == ("4", ("5",), "6")
    with pytest.raises(NothingMeasured, match="do not differ"):
        searched([Measured(100, 90, 110, "ns"), Measured(104, 94, 114, "ns")], 1)


def test_an_end_without_a_latency_is_an_error() -> None:
    with pytest.raises(MeasurementFailed, match="the bad commit has no latency: on fire"):
        searched([exactly(1), exactly(2), Measured(error="on fire")], 1)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Commits whose image grows by seven bytes at PLANTED; commit BROKEN does not build."""
    root = tmp_path / "repository"
    made = []
    for n in range(COMMITS):
        source = "x" * (7 if n >= PLANTED else 0)
        build = "exit 3" if n == BROKEN else "cp source image"
        made.append(
            f"commit refs/heads/main\ncommitter a <a@localhost> {1_700_000_000 + n} +0000\n"
            + "".join(
                _data(text) if name is None else f"M 644 inline {name}\n{_data(text)}"
                for name, text in (
                    (None, f"change {n}"),
                    ("source", source),
                    ("build.sh", build),
                    ("note", str(n)),
                )
            )
        )
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    subprocess.run(
        ["git", "-C", str(root), "fast-import", "--quiet"],
        input="".join(made),
        text=True,
        check=True,
    )
    return root


def _data(text: str) -> str:
    return f"data {len(text)}\n{text}\n"


def bisected(repository: Path, *words: str) -> Result:
    fixed = ["bisect", "a.b", "--repository", str(repository), "--build", "sh build.sh"]
    run = ["--", "--target", "qemu-pretend", "--image", "image", "--runs", "1"]
    return CliRunner().invoke(cli, [*fixed, *words, *run])


def test_a_planted_regression_is_found_by_two_workers(repository: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    ends = ["--good", f"main~{COMMITS - 1}", "--bad", "main"]
    result = bisected(repository, *ends, "--workers", "2", "-o", str(kept), "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    found = json.loads(result.stdout)
    assert found.pop("schema") == kinds.name("bisect")
    typed = msgspec.convert(found, swept.Bisected)
    planted = _git(repository, "rev-parse", f"main~{COMMITS - 1 - PLANTED}")
    assert (typed.first, typed.before, typed.after) == (planted, 1000.0, 1007.0)
    assert (typed.commits, typed.undecided) == (COMMITS, [])
    assert len(typed.measured) <= 12
    assert store.read(kept / typed.first).identity.target == "qemu-pretend"
    assert len(_git(repository, "worktree", "list").splitlines()) == 1


def test_a_commit_that_does_not_build_is_named(repository: Path) -> None:
    """Between the neighbours of the broken commit there is nothing else to find."""
    _commit(repository, "main", {"source": "x" * 20, "build.sh": "echo no compiler >&2; exit 3"})
    _commit(repository, "main", {"source": "x" * 20, "build.sh": "cp source image"})
    result = bisected(repository, "--good", "main~2", "--bad", "main", "--workers", "2")
    assert result.exit_code == 3, (result.output, result.exception)
    assert "cannot be judged: it does not build (no compiler)" in result.stderr
    assert "a.b: 1007 instructions before it, 1020 there" in result.stdout


def test_ends_in_the_wrong_order_and_strange_names_are_refused(repository: Path) -> None:
    for good, bad, why in (
        ("main", "main~3", "does not come after"),
        ("--all", "main", "is not a commit"),
        ("main~3", "nowhere", "is not a commit"),
    ):
        result = bisected(repository, f"--good={good}", "--bad", bad)
        assert isinstance(result.exception, UsageError)
        assert why in str(result.exception)


def _commit(repository: Path, branch: str, files: dict[str, str]) -> None:
    changes = "".join(f"M 644 inline {name}\n{_data(text)}" for name, text in files.items())
    text = (
        f"commit refs/heads/{branch}\ncommitter a <a@localhost> 1800000000 +0000\n"
        f"{_data('more')}from refs/heads/{branch}^0\n{changes}"
    )
    words = ["git", "-C", str(repository), "fast-import", "--quiet"]
    subprocess.run(words, input=text, text=True, check=True)


def _git(repository: Path, *words: str) -> str:
    result = subprocess.run(
        ["git", "-C", str(repository), *words], check=True, capture_output=True, text=True
    )
    return result.stdout.strip()
