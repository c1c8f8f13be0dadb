# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer ab` on the Linux these tests run on: what is run, paired and undone, never a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cyclometer.bundle import store
from cyclometer.bundle.model import Bundle
from cyclometer.estimate.session import FEWEST_BLOCKS, moments_of
from cyclometer.targets import build
from tests.cli.test_documents import documented

pytestmark = pytest.mark.e2e
AB = [sys.executable, "-m", "cyclometer", "ab", "--only", "memory.malloc_free.bytes_64"]
CODES = (0, 1, 3, 4)  # of verdicts; which one it is, the machine decides


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}


def order_of(bundle: Bundle) -> list[tuple[int, str, str]]:
    """The visits of a bundle in order of time."""
    visits = bundle.identity.plan["order"]
    return [(visit["run"], visit["circle"], visit["method"]) for visit in visits]


def marking_library(folder: Path) -> tuple[Path, Path]:
    """A library for LD_PRELOAD, and the file that exists once a harness has loaded it."""
    source, library, loaded = folder / "mark.c", folder / "mark.so", folder / "loaded"
    source.write_text(
        "#include <fcntl.h>\n#include <string.h>\n#include <unistd.h>\n#include <stdlib.h>\n"
        "__attribute__((constructor)) static void mark(void)\n"
        '{ char name[4096]; ssize_t n = readlink("/proc/self/exe", name, sizeof name - 1);\n'
        "  name[n > 0 ? n : 0] = 0;\n"
        f'  if (strstr(name, "cyclometer-linux")) close(open("{loaded}", O_CREAT, 0600)); }}\n'
    )
    subprocess.run([build.compiler(), "-shared", "-fPIC", "-o", library, source], check=True)
    return library, loaded


def undisturbed(bundle: Bundle) -> set[tuple[int, int]]:
    """Runs and numbers of the timed visits of the circle that keep a test."""
    timed = [
        i
        for i, row in enumerate(bundle.identity.rows)
        if row.method == "accumulated" and row.contract.key == "memory.malloc_free.bytes_64"
    ]
    samples = bundle.samples
    kept = np.isin(samples.row, timed) & (samples.tags == 0) & (samples.kind == 0)
    return set(zip(samples.run[kept].tolist(), samples.visit[kept].tolist(), strict=True))


def test_both_sides_run_one_plan_and_each_its_own_setting(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    log = tmp_path / "log"
    options = ["--before", f"echo a >> {log}", "--after", f"echo b >> {log}"]
    library, loaded = marking_library(tmp_path)
    options += ["--undo", f"echo undone >> {log}", "--env-after", f"LD_PRELOAD={library}"]
    options += ["--wrap-before", "env", "--budget", "4s", "-o", str(tmp_path / "ab"), "--json"]
    done = subprocess.run(
        [*AB, *options], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode in CODES, done.stderr
    documented("comparison", printed := json.loads(done.stdout))
    rows = printed["rows"]
    result = {row["key"]: row for row in rows}["memory.malloc_free.bytes_64"]
    words = log.read_text().split()
    assert words[-1] == "undone"
    assert words.count("undone") == 1
    assert {"a", "b"} == set(words[:-1])
    assert all(one != other for one, other in pairwise(words))  # no side is set twice in a row
    both = [store.read(tmp_path / "ab" / name) for name in ("before", "after")]
    before, after = (order_of(bundle) for bundle in both)
    assert before == after
    pairs = undisturbed(both[0]) & undisturbed(both[1])
    assert len(pairs) < FEWEST_BLOCKS or result["scope"] == "between pairs"
    assert both[0].identity.plan["ab"]["id"] == both[1].identity.plan["ab"]["id"]
    assert both[0].identity.environment["ab"]["wrapper"] == "env"
    assert both[1].identity.environment["ab"]["environment"] == f"LD_PRELOAD={library}"
    assert loaded.exists()
    assert {one.identity.environment["build"]["linking"] for one in both} == {"dynamic"}
    again = [sys.executable, "-m", "cyclometer", "compare", "--json"]
    found = subprocess.run(
        [*again, str(tmp_path / "ab/before"), str(tmp_path / "ab/after")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(found.stdout)["rows"] == rows


def test_it_takes_the_clock_and_the_pauses_of_run(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    options = ["--wrap-after", "env", "--clock", "native", "--budget", "2s", "--spread", "4s"]
    done = subprocess.run(
        [*AB, *options, "-o", str(tmp_path / "ab")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in CODES, done.stderr
    for side in ("before", "after"):
        bundle = store.read(tmp_path / "ab" / side)
        settings = bundle.identity.plan["settings"]
        assert (settings["clock"], settings["spread_s"]) == ("native", 4)
        assert "chain_before" not in bundle.samples.counters
        moments = moments_of(bundle)
        assert moments is not None
        assert moments.pauses.size == settings["rounds"] - 1


def test_a_killed_comparison_undoes_its_commands(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    begun, undone = tmp_path / "begun", tmp_path / "undone"
    options = ["--after", f"touch {begun}", "--undo", f"touch {undone}", "--budget", "60s"]
    running = subprocess.Popen(
        [*AB, *options, "-o", str(tmp_path / "ab")], env=environment, stderr=subprocess.DEVNULL
    )
    wait_for(begun)
    assert not undone.exists()
    running.send_signal(signal.SIGKILL)
    running.wait()
    wait_for(undone)
    assert not (tmp_path / "ab").exists()


def wait_for(path: Path) -> None:
    for _ in range(2400):
        if path.exists():
            return
        time.sleep(0.05)
    pytest.fail(f"{path.name} did not appear within two minutes")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ([], 2, "BEFORE and AFTER are alike"),
        (["--after", "touch x"], 2, "give --undo COMMAND"),
        (["--after", "sysctl kernel.no_such_setting=1"], 4, "cannot be read here"),
        (["--env-after", "NAME"], 2, "write it as NAME=VALUE"),
        (["--wrap-after", "no-such-program"], 2, "there is no program 'no-such-program' here"),
    ],
)
def test_what_cannot_be_compared_is_refused_at_once(
    tmp_path: Path, environment: dict[str, str], options: list[str], code: int, said: str
) -> None:
    command = [*AB, *options, "-o", str(tmp_path / "ab")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr.replace("\n", " ")
    assert not (tmp_path / "ab").exists()
