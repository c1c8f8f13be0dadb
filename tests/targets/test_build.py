# SPDX-License-Identifier: BSD-2-Clause
"""The C sources are compiled once per content, and a compiler's complaint becomes one sentence."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cyclometer.errors import MeasurementFailed, NotComparable
from cyclometer.targets import build
from cyclometer.targets.rocket import simulator


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(NotComparable, match="no-such-compiler"):
        build.compiler()


def test_a_compiler_error_leaves_nothing_behind(tmp_path: Path) -> None:
    source = tmp_path / "bad.c"
    source.write_text("int main(void) { return undeclared; }\n")
    (tmp_path / "out").mkdir()
    with pytest.raises(MeasurementFailed, match="undeclared"):
        build.compile_into(tmp_path / "out" / "program", build.compiler(), [], [source], tmp_path)
    assert list((tmp_path / "out").iterdir()) == []


def test_the_same_content_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = build.harness()
    made = first.stat().st_mtime_ns
    assert build.harness() == first
    assert first.stat().st_mtime_ns == made
    assert build.harness(["-DOTHER"]) != first


def test_where_the_sources_lie_is_no_part_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []
    for place in ("here", "there"):
        for folder in ("core", "linux"):
            shutil.copytree(build.sources() / folder, tmp_path / place / folder)
        monkeypatch.setattr(build, "sources", lambda place=place: tmp_path / place)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / place / "cache"))
        built.append(build.harness().read_bytes())
    assert built[0] == built[1]
    assert bytes(tmp_path) not in built[0]


def test_two_processes_take_turns_in_a_folder(tmp_path: Path) -> None:
    code = """
import pathlib, sys, time
from cyclometer.targets import build
folder = pathlib.Path(sys.argv[1])
with build.alone(folder):
    (folder / "taken").touch(exist_ok=False)
    time.sleep(0.2)
    (folder / "taken").unlink()
"""
    both = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "new")]) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]


def test_the_next_build_clears_what_a_killed_one_left(tmp_path: Path) -> None:
    code = """
import os, pathlib, signal, sys
from cyclometer.targets import build
folder = pathlib.Path(sys.argv[1])
with build.alone(folder), build.unfinished(folder) as draft:
    (draft / "half").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.rglob("half")] == ["half"]
    (tmp_path / "program").touch()
    with build.alone(tmp_path), build.unfinished(tmp_path) as draft:
        assert not list(draft.parent.rglob("half"))
    assert {path.name for path in tmp_path.iterdir()} == {".lock", "program"}


def test_a_simulators_killed_build_leaves_nothing_to_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> Path:
        (folder,) = tmp_path.glob("cyclometer/rocket-*")
        shutil.copytree(next(folder.glob("tmp*")), folder / "tmp-of-one-that-was-killed")
        raise MeasurementFailed("no network")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(simulator, "_first_line", lambda *_: "")  # no tool is needed
    monkeypatch.setattr(simulator, "_fetch", killed)
    for _ in range(2):
        with pytest.raises(MeasurementFailed, match="no network"):
            simulator.simulator("LitexFullConfig")
        assert len(list(tmp_path.glob("cyclometer/rocket-*/tmp*"))) == 1  # the newest


def test_old_files_of_a_cache_make_room_for_those_in_use(tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(6)]
    for age_h, file in enumerate(files):
        file.touch()
        os.utime(file, (time.time() - 3600 * age_h,) * 2)
    os.utime(files[5])
    gone = tmp_path / "removed by another process meanwhile"
    build.keep_newest([*files, gone], 3)
    assert sorted(tmp_path.iterdir()) == [files[n] for n in (0, 1, 5)]
    build.keep_newest(files, 1)
    assert sorted(tmp_path.iterdir()) == [files[n] for n in (0, 5)]
