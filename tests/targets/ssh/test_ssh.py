# SPDX-License-Identifier: BSD-2-Clause
"""A Linux elsewhere: it needs a shell and five utilities, says what this machine says of itself,
and keeps nothing, however the line ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cyclometer import environment
from cyclometer.bundle import store
from cyclometer.errors import MeasurementFailed, NotComparable, UsageError
from cyclometer.estimate.rows import estimates
from cyclometer.targets.linux import inherited
from cyclometer.targets.registry import TARGETS
from cyclometer.targets.ssh import facts
from cyclometer.targets.ssh.line import Line, parse
from tests.targets.ssh.conftest import Machine

BIN = Path(sys.executable).parent
# of the moment, or of the process that asks
MOVING = {"load", "swap_free_bytes", "cgroup", "process", "variables"}


def run(machine: Machine, *words: str) -> subprocess.Popen[str]:
    command = [str(BIN / "cyclometer"), "run", "--target", machine.url, *words]
    return subprocess.Popen(
        command,
        env=machine.environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("ssh://bench", Line("bench")),
        ("ssh://me@bench.lab:2222/", Line("bench.lab", "me", 2222)),
        ("ssh://[::1]:22", Line("::1", "", 22)),
    ],
)
def test_a_url_names_a_machine(url: str, line: Line) -> None:
    assert parse(url) == line


@pytest.mark.parametrize(
    "url",
    [
        "ssh://",
        "ssh://-oProxyCommand=evil",
        "ssh://-l@host",
        "ssh://host:nine",
        "ssh://host/folder",
        "ssh://me:secret@host",
        "ssh://a host",
        "ssh://host?x",
    ],
)
def test_a_url_that_names_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="names no machine"):
        TARGETS.load(url)


def test_a_machine_says_of_itself_what_this_one_does(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", machine.environment()["PATH"])
    assert facts.copy(parse(machine.url), tmp_path / "root") == os.uname().machine

    def said(root: Path) -> dict[str, object]:
        found = environment.collect(root) | inherited.collect(root)
        return {name: fact for name, fact in found.items() if name not in MOVING}

    assert said(tmp_path / "root") == said(environment.ROOT)
    assert not machine.left()


def test_a_name_that_the_machine_gives_never_leads_out_of_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(_: Line, script: str) -> bytes:
        mark = script.split('echo "')[1].split("$", maxsplit=1)[0]
        names = ["/proc/../../evil", "evil", "/etc/passwd", "", "/", "/proc/fine", "/proc/fine/x"]
        return b"x86_64\n" + b"".join(f"\n{mark}{name}\nhere".encode() for name in names)

    monkeypatch.setattr(Line, "run", answer)
    assert facts.copy(Line("there"), tmp_path / "root") == "x86_64"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files == [tmp_path / "root/proc/fine"]


@pytest.mark.e2e
def test_it_is_measured_from_here_and_keeps_nothing(machine: Machine, tmp_path: Path) -> None:
    words = ("--only", "syscall.null", "--runs", "2", "--budget", "3s", "--allow-invalid")
    process = run(machine, *words, "-o", str(tmp_path / "bundle"))
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    bundle = store.read(tmp_path / "bundle")
    assert [e.contract.key for e in estimates(bundle) if not e.contract.key.startswith("floor.")]
    assert set(bundle.samples.run) == {0, 1, 2}  # the proof is run 0
    assert bundle.identity.environment["host"] == parse(machine.url).host
    assert machine.comes_to_nothing()


def _begun(machine: Machine) -> bool:
    """Whether a harness runs there, within a minute."""
    for _ in range(300):
        if any("--run" in one for one in machine.left()):
            return True
        time.sleep(0.2)
    return False


@pytest.mark.e2e
def test_nothing_is_left_there_if_the_laboratory_is_killed(
    machine: Machine, tmp_path: Path
) -> None:
    process = run(machine, "--only", "syscall.*", "-o", str(tmp_path / "bundle"))
    assert _begun(machine)
    process.kill()
    process.communicate(timeout=60)
    assert machine.comes_to_nothing()


def _cut(pid: int) -> None:
    """Kills the children of a process, of whichever of its threads. The kernel may leave some out
    of a list that it makes while another one ends.
    """
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for child in children.read_text().split():
                os.kill(int(child), signal.SIGKILL)


@pytest.mark.e2e
def test_nothing_is_left_there_if_the_line_is_cut(machine: Machine, tmp_path: Path) -> None:
    process = run(machine, "--only", "syscall.*", "-o", str(tmp_path / "bundle"))
    assert _begun(machine)
    # Until it ends, whether or not a harness runs at that moment: there is none between two runs.
    while process.poll() is None:
        _cut(process.pid)
        time.sleep(0.02)
    _, said = process.communicate(timeout=120)
    assert "Traceback" not in said
    assert process.returncode != 0
    assert machine.comes_to_nothing()


@pytest.mark.e2e
def test_ctrl_c_keeps_what_there_is_and_leaves_nothing_there(
    machine: Machine, tmp_path: Path
) -> None:
    process = run(machine, "--only", "syscall.*", "-o", str(tmp_path / "bundle"))
    assert _begun(machine)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert (process.returncode, "interrupted" in said, "Traceback" in said) == (5, True, False)
    assert store.read(tmp_path / "bundle").identity.environment["host"]
    assert machine.comes_to_nothing()


def test_a_machine_that_is_not_reached_is_a_sentence(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ssh = tmp_path / "bin/ssh"
    monkeypatch.setenv("PATH", machine.environment()["PATH"])
    ssh.write_text("#!/bin/sh\necho 'no route to host' >&2\nexit 255\n")
    with pytest.raises(NotComparable, match=r"does not reach .* \(no route to host\)"):
        parse(machine.url).run("true")
    ssh.write_text("#!/bin/sh\necho 'no space left' >&2\nexit 1\n")
    with pytest.raises(MeasurementFailed, match="no space left"):
        parse(machine.url).run("true")
    with pytest.raises(MeasurementFailed, match="made no folder"), parse(machine.url).folder():
        pass


def test_a_question_has_a_time_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that builds its kernels first takes longer than one that tells its name."""
    (tmp_path / "ssh").write_text("#!/bin/sh\nexec sleep 8\n")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(MeasurementFailed, match="there did not answer within 1 s"):
        Line("there").ask("true", wait_s=1)


def test_a_machine_that_nothing_here_compiles_for_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(facts, "copy", lambda *_: "s390x")
    with pytest.raises(NotComparable, match="the machine is s390x"):
        TARGETS.load("ssh://there").build()
