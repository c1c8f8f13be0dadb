# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer run` before it measures, and after."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import click
import msgspec
import pytest
from click.testing import CliRunner

from cyclometer.bundle import store
from cyclometer.bundle.model import Problem
from cyclometer.cli import cli, run
from cyclometer.errors import (
    BadFile,
    MeasurementFailed,
    NotComparable,
    NothingMeasured,
    UsageError,
)
from cyclometer.targets.api import TRACE_FLOW, MeasurementResult, Request
from cyclometer.targets.registry import TARGETS
from tests.compare.bundles import measured
from tests.report import sample_bundles


@pytest.mark.parametrize("matrix", [(), ("--matrix", "mcs=off,on")])
def test_an_existing_bundle_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matrix: tuple[str, ...]
) -> None:
    taken = tmp_path / "bundle" / "mcs-on" if matrix else tmp_path / "bundle"
    taken.mkdir(parents=True)
    monkeypatch.setattr(TARGETS, "load", lambda name: pytest.fail(f"{name} was asked to measure"))
    with pytest.raises(BadFile, match="exists already"):
        CliRunner().invoke(
            cli, ["run", *matrix, "-o", str(tmp_path / "bundle")], catch_exceptions=False
        )
    assert list(taken.iterdir()) == []


def test_one_image_is_not_measured_under_several_labels(tmp_path: Path) -> None:
    words = ["run", "--image", "x.elf", "--matrix", "mcs=off,on", "-o", str(tmp_path / "bundle")]
    with pytest.raises(UsageError, match="label it with --config"):
        CliRunner().invoke(cli, words, catch_exceptions=False)


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
    monkeypatch.setattr(TARGETS, "load", lambda _: Target())
    monkeypatch.setattr(
        run, "_finish", lambda measured, *_, **__: log.append(str(measured)) or measured.exit_code
    )
    with pytest.raises(SystemExit, match=str(NothingMeasured.exit_code)):
        cli.main(
            ["run", "--matrix", "mcs=off,on", "-o", str(tmp_path / "x")], standalone_mode=False
        )
    result = "there is nothing here"
    assert log == (
        ["shown", "gone", result, result] if concurrent else ["shown", "gone", result] * 2
    )


def test_no_combination_of_a_matrix_takes_anothers_folder(tmp_path: Path) -> None:
    ends = "x" * 200
    kernels = [f"/one/{ends}", f"/two/{ends}", "a-5", "a", "a"]
    found = run._product(Request(), [("kernel", kernels)], tmp_path)
    assert [request.config["kernel"] for request, _ in found] == kernels
    assert len({path for _, path in found}) == len(found) == 5


def test_a_measurement_outlives_a_trace_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MeasurementFailed("the log is too long")

    made_up = SimpleNamespace(name="made-up", trace=fail, trace_flow=TRACE_FLOW)
    monkeypatch.setattr(TARGETS, "load", lambda _: made_up)
    bundle = sample_bundles.typical()
    code = run._finish(
        MeasurementResult(bundle, {}),
        Request(),
        tmp_path / "kept",
        "made-up",
        as_json=True,
        kbench=False,
        trace=True,
        allow_invalid=False,
    )
    assert code == 5
    assert store.read(tmp_path / "kept").identity.rows == bundle.identity.rows


def test_what_a_failed_measurement_quotes_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One of several, which is printed where the others' results are."""
    failed = MeasurementFailed("the board said \x1b[2J\x9b2J")
    options = {"as_json": False, "kbench": False, "trace": False, "allow_invalid": False}
    assert run._finish(failed, Request(), Path("mcs-on"), "linux", **options) == 5
    shown = capsys.readouterr().err
    assert shown == "cyclometer: mcs-on: the board said \ufffd[2J\ufffd2J\n"


def test_a_trace_that_a_target_cannot_make_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TARGETS, "load", lambda _: SimpleNamespace(name="mute"))
    words = ["run", "--target", "mute", "--trace", "-o", str(tmp_path / "new")]
    with pytest.raises(NotComparable, match="run --target qemu-linux --kernel IMAGE --trace"):
        CliRunner().invoke(cli, words, catch_exceptions=False)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("broken", "failed", "code"),
    [([], [], 0), (["b"], [], 5), (["a", "b"], [], 6), ([], ["c"], 5)],
)
def test_the_exit_code_says_whether_what_was_asked_for_is_valid(
    broken: list[str], failed: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = measured({"a": [1000.0, 1001.0], "b": [1000.0, 1001.0]}, broken=broken)
    problems = [Problem("did not finish", f"circle {key}", "failed") for key in failed]
    problems.append(Problem("no such system call", "circle d", "skipped"))
    identity = msgspec.structs.replace(bundle.identity, problems=tuple(problems))
    assert run._validity(replace(bundle, identity=identity)) == code
    said = capsys.readouterr().err
    assert (code == 5) == ("--allow-invalid accepts that" in said)
    assert all(key in said for key in failed)


def test_an_interrupt_ends_all_of_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = MeasurementResult(sample_bundles.typical(), {}, interrupted=True)
    asked: list[object] = []

    class Target:
        concurrent = False

        def measure(self, request: Request, *_: object) -> MeasurementResult:
            asked.append(request.image)
            return measured

    monkeypatch.setattr(TARGETS, "load", lambda _: Target())
    images = [("", Path("a.elf")), ("", Path("b/a.elf"))]
    wanted = run._of_images(Request(), images, tmp_path)
    assert [folder.name for _, folder in wanted] == ["a", "a-2"]
    assert [path for *_, path in run._measure_all("x", wanted)] == [tmp_path / "a"]
    assert asked == [Path("a.elf")]
