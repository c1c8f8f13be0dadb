# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer run` before it measures, and after."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cyclometer.cli import cli, run
from cyclometer.errors import BadFile, NothingMeasured
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


@pytest.mark.parametrize("concurrent", [False, True])
def test_no_progress_is_on_display_while_results_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, concurrent: bool
) -> None:
    log: list[str] = []

    class Display:
        def __enter__(self) -> Display:
            log.append("shown")
            return self

        def __exit__(self, *_: object) -> None:
            log.append("gone")

        show = staticmethod(lambda *_: None)

    class Target:
        def __init__(self) -> None:
            self.concurrent = concurrent

        def measure(self, *_: object) -> None:
            raise NothingMeasured("there is nothing here")

    monkeypatch.setattr(run, "Display", Display)
    monkeypatch.setattr(registry, "target", lambda _: Target())
    monkeypatch.setattr(run, "_finish", lambda measured, *_, **__: log.append(str(measured)) or measured.exit_code)
    with pytest.raises(SystemExit, match=str(NothingMeasured.exit_code)):
        cli.main(["run", "--matrix", "mcs=off,on", "-o", str(tmp_path / "x")], standalone_mode=False)
    told = "there is nothing here"
    assert log == (["shown", "gone", told, told] if concurrent else ["shown", "gone", told] * 2)
