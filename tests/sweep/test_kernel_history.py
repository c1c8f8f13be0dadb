# SPDX-License-Identifier: BSD-2-Clause
"""A history of the reference kernel with a planted regression: `bisect` finds it, and sweeps of
every commit's image agree on two kinds of clusters.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from cyclometer.cli import cli
from cyclometer.store import index, layout
from cyclometer.sweep import done, plan
from cyclometer.targets import build
from tests.sweep.clusters import separate_cluster

pytest.importorskip("distributed", reason="Dask is not installed; run `make setup-all`")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("qemu-system-riscv64") and shutil.which("riscv64-unknown-elf-gcc")),
        reason="QEMU or its compiler is not installed; run `make setup-all`",
    ),
]
KEY = "thread.yield.preemptive.ctx.k_to_k"
BUILD = "make -s -C kernel BUILD=../built"
IMAGE = "built/virt/kernel.elf"
ENTERED = '    eventlog_call("thread_yield");\n'
SLOWER = ENTERED + '    for (int i = 0; i < 8; i++) {\n        __asm__ volatile("");\n    }\n'


def git(root: Path, *words: str) -> str:
    author = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
    done = subprocess.run(
        ["git", "-C", root, *author, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture(params=[(6, 4), pytest.param((42, 29), marks=pytest.mark.long)], ids=str)
def history(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, list[str], str]:
    """A repository of so many commits, and which of them makes a yield slower.

    The others add a comment to the same file, which moves no code.
    """
    number, planted = request.param
    root = tmp_path / "repository"
    for folder in ("kernel", "core"):
        shutil.copytree(build.sources() / folder, root / folder)
    git(root, "init", "-q", "-b", "main")
    file = root / "kernel/thread.c"
    commits = []
    for n in range(number):
        text = file.read_text()
        assert ENTERED in text
        file.write_text(text.replace(ENTERED, SLOWER) if n == planted else f"{text}// {n}\n")
        git(root, "add", "--all")
        git(root, "commit", "-q", "-m", f"change {n}")
        commits.append(git(root, "rev-parse", "HEAD"))
    return root, commits, commits[planted]


def built(root: Path, commits: list[str], folder: Path) -> Iterator[str]:
    """The names of the commits' images in `folder`, which is made."""
    folder.mkdir()
    for n, commit in enumerate(commits):
        git(root, "checkout", "-q", commit)
        subprocess.run(BUILD, shell=True, cwd=root, check=True)
        shutil.copy(root / IMAGE, folder / f"{n}.elf")
        yield f"{n}.elf"


def swept(path: Path, store: Path, *words: str) -> tuple[dict[str, str], dict[str, float]]:
    """Results of a sweep by task, and the latencies that it stored."""
    asked = ["sweep", str(path), "--store", str(store), "--check", "0%", "--json", *words]
    said = CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert said.exit_code == 0, said.output
    location = layout.opened(str(store))
    known = done.of(location, plan.read(path).tasks)
    _, rows = index.query(location, "SELECT task, latency FROM rows JOIN bundles USING (bundle)")
    return {task: one.result for task, one in known.items()}, dict(rows)


def test_bisection_and_sweeps_find_the_planted_commit(
    history: tuple[Path, list[str], str], tmp_path: Path
) -> None:
    root, commits, planted = history
    ends = ["--good", commits[0], "--bad", commits[-1], "--repository", str(root)]
    run = ["--", "--target", "qemu-virt", "--image", IMAGE]
    asked = ["bisect", KEY, *ends, "--build", BUILD, "--workers", "2", "--json", *run]
    said = CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    assert (found["first"], found["undecided"]) == (planted, [])

    images = list(built(root, commits, tmp_path / "images"))
    path = tmp_path / "images/plan.toml"
    path.write_text(
        f'[sweep]\ntarget = "qemu-virt"\ncircles = ["{KEY}"]\n[axes]\nimage = {images}\n'
    )
    results, latencies = swept(path, tmp_path / "here", "--workers", "2")
    with separate_cluster(2) as (address, _):
        assert swept(path, tmp_path / "there", "--scheduler", address)[0] == results
    in_order = [latencies[task.name] for task in plan.read(path).tasks]
    at = commits.index(planted)
    assert in_order == [found["before"]] * at + [found["after"]] * (len(commits) - at)
