# SPDX-License-Identifier: BSD-2-Clause
"""A stranger's walk: every command of docs/tutorial.md, as printed, away from the source."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cyclometer.bundle import store

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "core", "linux", "kernel", "machines", "share")
FILES = ("pyproject.toml", "README.md", "LICENSE")
NEEDED = ("qemu-system-riscv64", "riscv64-unknown-elf-gcc")
# Which verdict it is, the machine decides; a comparison that broke down ends with another code.
JUDGED = """
cyclometer() {
    command cyclometer "$@" || case "$1 $?" in
        "ab "[134] | "compare "[34] | "gate "[134]) ;;
        *) return 1 ;;
    esac
}
"""


def commands() -> str:
    """The shell blocks of the page, in order."""
    page = (ROOT / "docs" / "tutorial.md").read_text()
    return "".join(re.findall(r"^```sh\n(.*?)^```", page, re.S | re.M))


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which the tutorial was followed, and what its commands printed."""
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        pytest.skip(f"the tutorial needs {' and '.join(missing)}")
    folder = tmp_path_factory.mktemp("stranger")
    for name in (*FOLDERS, *FILES):
        source, copy = ROOT / name, folder / "cyclometer" / name
        copy.parent.mkdir(exist_ok=True)
        shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)
    kept = ("PATH", "HOME", "PIP_", "XDG_", "SSL_", "http")
    env = {n: v for n, v in os.environ.items() if n.startswith(kept)}
    done = subprocess.run(
        ["bash", "-ex", "-o", "pipefail"],
        input=JUDGED + commands(),
        cwd=folder,
        env=env | {"PIP_QUIET": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=900,
    )
    if "No matching distribution" in done.stdout or "Connection" in done.stdout:
        pytest.skip("the package registry cannot be reached")
    assert done.returncode == 0, done.stdout[-4000:]
    return folder, done.stdout


def test_the_package_is_used_and_not_the_source(walked: tuple[Path, str]) -> None:
    folder, _ = walked
    (package,) = (folder / "lab").glob("lib/python3*/site-packages/cyclometer")
    assert (package / "_sources" / "linux" / "main.c").is_file()
    assert not list((folder / "lab").glob("lib/python3*/site-packages/*cyclometer*.pth"))


def test_the_manual_and_the_completions_of_shells_are_installed(walked: tuple[Path, str]) -> None:
    folder, _ = walked
    shared = [path for path in (ROOT / "share").rglob("*") if path.is_file()]
    assert {path.suffix for path in shared} >= {".1", ".fish"}
    for path in shared:
        installed = folder / "lab" / path.relative_to(ROOT)
        assert installed.read_bytes() == path.read_bytes()


def test_every_step_leaves_what_the_page_promises(walked: tuple[Path, str]) -> None:
    folder, printed = walked
    for bundle in ("before", "after", "tcache/before", "tcache/after", "programs", "exact"):
        assert store.read(folder / bundle).identity.rows
    for page in ("why.html", "report.html"):
        assert (folder / page).read_text().startswith("<!doctype html>")
    for words in ("exec.nothing", "pipe.round_trip.cross.equal", "next: cyclometer show"):
        assert words in printed
