# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer run` before it measures."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cyclometer.cli import cli
from cyclometer.errors import BadFile
from cyclometer.targets import registry


@pytest.mark.parametrize("matrix", [(), ("--matrix", "mcs=off,on")])
def test_an_existing_bundle_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matrix: tuple[str, ...]
) -> None:
    taken = tmp_path / "bundle" / "mcs-on" if matrix else tmp_path / "bundle"
    taken.mkdir(parents=True)
    monkeypatch.setattr(registry, "target", lambda name: pytest.fail(f"{name} was asked to measure"))
    with pytest.raises(BadFile, match="exists already"):
        CliRunner().invoke(cli, ["run", *matrix, "-o", str(tmp_path / "bundle")], catch_exceptions=False)
    assert list(taken.iterdir()) == []


@pytest.mark.parametrize("budget", ["0", "0s", "-3s", "soon"])
def test_a_budget_is_some_time(budget: str) -> None:
    with pytest.raises(click.BadParameter, match="write it as 60s, 2m or 500ms"):
        cli.main(["run", "--budget", budget], standalone_mode=False)
