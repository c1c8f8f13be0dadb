# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer run --circles` and `--exec`: the user's own code, measured like ours."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cyclometer.bundle import store
from cyclometer.bundle.model import Bundle
from cyclometer.errors import UsageError
from cyclometer.estimate.rows import estimates
from cyclometer.targets import build
from cyclometer.targets.linux.added import Added, added
from tests.test_plugins import cyclometer, install

pytestmark = pytest.mark.e2e
EXAMPLES = build.sources() / "examples"
BAD = Path(__file__).parents[1] / "data" / "bad_circles.c"
QUICK = ("--budget", "2s", "--runs", "2")


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example program in C, compiled."""
    program = tmp_path_factory.mktemp("programs") / "turns"
    source = EXAMPLES / "programs" / "turns.c"
    subprocess.run([build.compiler(), "-O2", source, "-o", program], check=True)
    return program


def measured(folder: Path, *words: str) -> Bundle:
    done = cyclometer(folder, "run", *QUICK, *words, "-o", str(folder / "bundle"))
    assert done.returncode == 0, done.stderr
    return store.read(folder / "bundle")


def keys(bundle: Bundle) -> set[str]:
    """Of the rows that the user asked for."""
    found = {row.contract.key for row in bundle.identity.rows}
    return {key for key in found if not key.startswith(("floor.", "syscall."))}


def test_a_program_and_a_c_file_are_measured_and_nothing_else(tmp_path: Path, turns: Path) -> None:
    mine = EXAMPLES / "circles" / "openat_close.c"
    bundle = measured(tmp_path, "--exec", f"mine={turns}", "--circles", str(mine))
    assert keys(bundle) == {"exec.mine", "file.openat_close"}
    latencies = {one.contract.key: one for one in estimates(bundle)}
    assert latencies["exec.mine"].valid
    learnt = next(r.contract for r in bundle.identity.rows if r.contract.key == "exec.mine")
    assert learnt.expect.get("switches", 0) == 0  # without SCHED_FIFO nothing is exact about them


def test_circles_that_break_their_word_are_reported_and_spoil_nothing(tmp_path: Path) -> None:
    # No less than the circles of other tests may spin on this CPU, which would end ours.
    bundle = measured(tmp_path, "--circles", str(BAD), "--allow-invalid", "--watchdog", "3")
    problems = {p.where: p.what for p in bundle.identity.problems if p.kind == "failed"}
    assert "did not finish within 3 s" in problems["circle fixture.hangs"]
    assert "did not finish within 3 s" in problems["circle fixture.spins"]
    assert "signal 6" in problems["circle fixture.dies"]
    valid = {one.contract.key: one.valid for one in estimates(bundle)}
    assert not valid["fixture.wrong_contract"]
    assert valid["floor.empty"]


def test_an_installed_package_brings_circles(tmp_path: Path) -> None:
    site = tmp_path / "site"
    file = EXAMPLES / "circles" / "openat_close.c"
    install(site, "files-of-mine", "cyclometer.circles", "mine", f"it = {str(file)!r}")
    done = cyclometer(site, "run", *QUICK, "--circles", "mine", "-o", str(tmp_path / "bundle"))
    assert done.returncode == 0, done.stderr
    assert keys(store.read(tmp_path / "bundle")) == {"file.openat_close"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--circles", "nothing"), "neither a C file nor the name of circles"),
        (("--circles", "absent.c"), "absent.c is not a C file"),
        (("--exec", "no-such-program"), "no-such-program is not an executable file"),
        (("--exec", "sh -c 'exit 3'"), "it ended with an error"),
        (("--target", "qemu-virt", "--exec", "true"), "--exec does not apply to target qemu-virt"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = cyclometer(tmp_path, "run", *words)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert said in done.stderr


def test_a_file_without_a_circle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.c").write_text("int nothing;\n")
    ours = added([str(tmp_path / "empty.c")], [])
    with pytest.raises(UsageError, match=r"empty\.c registers no circle"):
        ours.chosen(("*",), [])
    assert ours.chosen(("pipe.*",), []) == ("pipe.*",)
    assert Added().chosen(("*",), []) == ("*",)
