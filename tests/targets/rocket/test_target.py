# SPDX-License-Identifier: BSD-2-Clause
"""The Rocket targets without their simulator: the package that is not trusted, the boots that are
planned.
"""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from cyclometer.bundle.model import Contract
from cyclometer.errors import MeasurementFailed, NotComparable, NothingMeasured, UsageError
from cyclometer.record.schema import Flow
from cyclometer.targets import build, reference_kernel
from cyclometer.targets.api import MeasurementResult, Progress, Request
from cyclometer.targets.console import BootResult
from cyclometer.targets.rocket import simulator as rocket_board
from cyclometer.targets.rocket import target as rocket
from tests.compare.bundles import bundle

INSIDE = "pythondata_cpu_rocket/verilog/"


def wheel(folder: Path, files: dict[str, bytes]) -> tuple[Path, rocket_board.Family]:
    path = folder / "core.whl"
    with zipfile.ZipFile(path, "w") as package:
        for name, content in files.items():
            package.writestr(name, content)
    return path, replace(rocket_board.ROCKET, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


def test_the_files_asked_for_are_taken_and_no_others(tmp_path: Path) -> None:
    path, pinned = wheel(
        tmp_path, {INSIDE + "vsrc/a.v": b"module a", "../../evil": b"x", INSIDE + "b.v": b"y"}
    )
    rocket_board.unpack(path, ["vsrc/a.v"], tmp_path / "out", pinned)
    assert [
        p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*.*")
    ] == ["vsrc/a.v"]
    assert (tmp_path / "out/vsrc/a.v").read_bytes() == b"module a"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["core.whl", "out"]


def test_another_package_than_the_pinned_one_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    path, _ = wheel(tmp_path, {INSIDE + "vsrc/a.v": b"module a"})
    with pytest.raises(MeasurementFailed, match=r"core\.whl is not the package that is pinned"):
        rocket_board.unpack(path, ["vsrc/a.v"], tmp_path / "out", rocket_board.ROCKET)
    assert not (tmp_path / "out").exists()


def test_a_package_that_lacks_a_file_or_bursts_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, pinned = wheel(tmp_path, {INSIDE + "a.v": bytes(1000)})
    with pytest.raises(MeasurementFailed, match=r"has no vsrc/b\.v"):
        rocket_board.unpack(path, ["vsrc/b.v"], tmp_path / "out", pinned)
    monkeypatch.setattr(rocket_board, "_UNPACKED_MAX_BYTES", 999)
    with pytest.raises(MeasurementFailed, match="more than"):
        rocket_board.unpack(path, ["a.v"], tmp_path / "out", pinned)
    assert not (tmp_path / "out/a.v").exists()


@pytest.mark.parametrize(("program", "package"), [("verilator", "verilator"), ("g++", r"g\+\+")])
def test_what_is_missing_is_one_sentence_with_the_package(
    monkeypatch: pytest.MonkeyPatch, program: str, package: str
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == program else f"/bin/{name}")
    for act in (
        lambda: rocket.rocket().build(),
        lambda: rocket.rocket().measure(Request(), {}, Progress()),
    ):
        with pytest.raises(
            NotComparable, match=rf"^target rocket needs {package}; install with apt-get$"
        ):
            act()


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> rocket.CoreTarget:
    contracts = [
        Contract(key=key) for key in ("floor.empty.kernel", "floor.crossing.user", "mutex.lock")
    ]
    monkeypatch.setattr(rocket.CoreTarget, "circles", lambda *_: (rocket.CLOCK, contracts))
    return rocket.rocket()


def test_every_circle_has_a_boot_of_its_own(planned: rocket.CoreTarget) -> None:
    boots = planned._boots(Request(only=("floor.*", "*.empty.*"), flow=Flow(1, 2, 3, 4)))
    assert [boot["only"] for boot in boots] == ["floor.empty.kernel", "floor.crossing.user"]
    assert [boots[0][name] for name in ("initial", "delta", "groups", "tests")] == [
        "1",
        "2",
        "3",
        "4",
    ]


def without_simulator(monkeypatch: pytest.MonkeyPatch) -> dict[int, list[bytes]]:
    """Makes a measurement's surroundings up; yields the consoles of each run that reach the
    bundle.
    """
    seen: dict[int, list[bytes]] = {}

    def assemble(
        _target: object, _facts: object, by_run: reference_kernel.Runs, *_: object
    ) -> MeasurementResult:
        seen.update({run: [ended.console for ended in of_run] for run, of_run in by_run.items()})
        return MeasurementResult(bundle(), {})

    monkeypatch.setattr(rocket.CoreTarget, "missing", lambda _: "")
    monkeypatch.setattr(rocket_board, "simulator", lambda *_: Path("sim"))
    monkeypatch.setattr(rocket_board, "verilator_version", lambda: "5")
    monkeypatch.setattr(rocket.CoreTarget, "_image", lambda *_: Path("rocket/kernel.elf"))
    monkeypatch.setattr(reference_kernel, "assemble", assemble)
    monkeypatch.setattr(rocket, "forked", lambda *how: rocket._boot_all(*how[:5]))
    return seen


@pytest.mark.parametrize("ended_before", [0, 1, 4])
def test_an_interrupt_keeps_the_boots_that_had_ended(
    planned: rocket.CoreTarget, monkeypatch: pytest.MonkeyPatch, ended_before: int
) -> None:
    seen, progress, begun = without_simulator(monkeypatch), Progress(), []

    def boot(*_: object, **__: object) -> BootResult:
        begun.append(len(begun))
        if len(begun) > ended_before:
            progress.stop.set()
            return BootResult(b"half", "was interrupted")
        return BootResult(str(begun[-1]).encode(), "", done=True)

    monkeypatch.setattr(rocket, "_boot", boot)
    monkeypatch.setattr(build, "cores", lambda: 1)
    if not ended_before:
        with pytest.raises(NothingMeasured, match="interrupted before its first circle"):
            planned.measure(Request(runs=2), {}, progress)
    else:
        assert planned.measure(Request(runs=2), {}, progress).interrupted
        assert seen == ({1: [b"0"]} if ended_before == 1 else {1: [b"0", b"1", b"2"], 2: [b"3"]})
    assert len(begun) == ended_before + 1


@pytest.mark.parametrize(
    ("request_", "runs"), [(Request(), 2), (Request(quick=True), 1), (Request(runs=3), 3)]
)
def test_all_runs_boot_alike_and_their_consoles_are_kept_apart(
    planned: rocket.CoreTarget, monkeypatch: pytest.MonkeyPatch, request_: Request, runs: int
) -> None:
    booted: list[dict[str, str]] = []

    def boot_all(
        _command: object, _image: object, boots: list[dict[str, str]], *_: object, done: int = 0
    ) -> list[BootResult]:
        assert done == len(booted)
        booted.extend(boots)
        return [BootResult(str(done + n).encode(), "", done=True) for n in range(len(boots))]

    seen = without_simulator(monkeypatch)
    monkeypatch.setattr(rocket, "_boot_all", boot_all)
    planned.measure(request_, {}, Progress())
    assert booted == booted[:3] * runs
    assert seen == {run + 1: [str(3 * run + n).encode() for n in range(3)] for run in range(runs)}


def test_quick_is_fewer_turns(planned: rocket.CoreTarget) -> None:
    quick, full = planned._boots(Request(quick=True))[0], planned._boots(Request())[0]
    assert int(quick["tests"]) * int(quick["groups"]) < int(full["tests"]) * int(full["groups"])


def test_no_circle_that_matches_is_nothing_measured(planned: rocket.CoreTarget) -> None:
    with pytest.raises(NothingMeasured, match="no circle of this configuration matches"):
        planned._boots(Request(only=("pipe.*",)))


def test_the_memory_stands_in_the_options_and_in_the_configuration() -> None:
    assert rocket.board_options(Request()) == []
    assert rocket.board_settings(Request()) == {"memory_latency": "0", "memory_jitter": "off"}
    slow = Request(memory_latency_cyc=20, memory_jitter=0)
    assert rocket.board_options(slow) == ["--memory-latency", "20", "--memory-jitter", "0"]
    assert rocket.board_settings(slow) == {"memory_latency": "20", "memory_jitter": "0"}


def test_address_space_identifiers_are_refused_because_the_core_has_none() -> None:
    with pytest.raises(UsageError, match="no address-space identifiers"):
        rocket.rocket()._image({"asid": "on"})


@pytest.mark.parametrize(
    "request_", [Request(cpu=0), Request(seed=0), Request(budget_s=3.0), Request(clock="native")]
)
def test_options_of_other_targets_are_refused(request_: Request) -> None:
    with pytest.raises(UsageError, match="does not apply to target rocket"):
        rocket.rocket().measure(request_, {}, Progress())
