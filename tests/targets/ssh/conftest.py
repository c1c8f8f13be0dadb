# SPDX-License-Identifier: BSD-2-Clause
"""Machines to reach by ssh: a shell that has only what the target asks for, behind a program that
stands in for ssh; and a real sshd on loopback where there is one.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

UTILITIES = ("cat", "chmod", "mkdir", "rm", "uname")
SSHD = shutil.which("sshd", path="/usr/sbin:/usr/bin:/usr/local/sbin")

# As ssh does: words joined by spaces for a shell in a session of its own, whose input and output
# end with this program.
STAND_IN = """#!{python}
import os, subprocess, sys, threading
words = sys.argv[1:]
while words[0].startswith("-"):
    del words[: 2 if words[0] == "-p" else 1]
environment = {{"PATH": {path!r}, "TMPDIR": {there!r}}}
there = subprocess.Popen(
    [{shell!r}, "-c", " ".join(words[1:])],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True,
)

def feed():
    try:
        while data := os.read(0, 1 << 16):
            there.stdin.write(data)
            there.stdin.flush()
        there.stdin.close()
    except OSError:
        pass

threading.Thread(target=feed, daemon=True).start()
while data := os.read(there.stdout.fileno(), 1 << 16):
    os.write(1, data)
os._exit(there.wait())
"""


@dataclass(frozen=True)
class Machine:
    """A machine to reach: what $PATH has to begin with, its URL, and the folder of its own."""

    path: Path
    url: str
    there: Path

    def environment(self) -> dict[str, str]:
        """Of a process that is to reach it."""
        return {**os.environ, "PATH": f"{self.path}:{os.environ['PATH']}"}

    def left(self) -> list[str]:
        """What is left on it: files of its folder, and processes that were started out of it."""
        files = [str(path) for path in self.there.iterdir()]
        return files + [line for line in _commands() if str(self.there) in line.split(" ")[0]]

    def comes_to_nothing(self) -> bool:
        """Whether all of it is gone within half a minute."""
        for _ in range(150):
            if not self.left():
                return True
            time.sleep(0.2)
        return False


def _commands() -> Iterator[str]:
    """The command lines of all processes."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue


def _program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def _stand_in(folder: Path, there: Path) -> Machine:
    few = folder / "few"
    few.mkdir()
    for name in ("sh", *UTILITIES):
        (few / name).symlink_to(str(shutil.which(name)))
    shell = str(few / "sh")
    text = STAND_IN.format(python=sys.executable, path=str(few), there=str(there), shell=shell)
    _program(folder / "bin", "ssh", text)
    return Machine(folder / "bin", "ssh://me@there:2222", there)


def _real(folder: Path, there: Path) -> tuple[Machine, subprocess.Popen[bytes]]:
    """A server of this user on loopback. Skips where none starts."""
    if SSHD is None or not shutil.which("ssh-keygen"):
        pytest.skip("no sshd is installed")
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    for key in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)]
        subprocess.run(command, check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\n"
        f"PermitRootLogin yes\nSetEnv TMPDIR={there}\n"
    )
    with (folder / "sshd.log").open("wb") as log:
        command = [SSHD, "-D", "-e", "-f", str(folder / "sshd_config")]
        server = subprocess.Popen(command, stdout=log, stderr=log)
    host_key = (folder / "host.pub").read_text().strip()
    (folder / "known").write_text(f"[127.0.0.1]:{port} {host_key}\n")
    options = f"-F none -i {folder}/user -o UserKnownHostsFile={folder}/known"
    _program(folder / "bin", "ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} {options} "$@"\n')
    machine = Machine(folder / "bin", f"ssh://127.0.0.1:{port}", there)
    for _ in range(50):
        words = ["ssh", "-p", str(port), "127.0.0.1", "true"]
        if not subprocess.run(
            words, env=machine.environment(), capture_output=True, check=False
        ).returncode:
            return machine, server
        time.sleep(0.1)
    server.kill()
    server.wait()
    pytest.skip(f"sshd does not start here: {(folder / 'sshd.log').read_text()[-200:]}")


@pytest.fixture(params=["stand-in", "sshd"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    """Both kinds, one after the other."""
    there = tmp_path / "there"
    there.mkdir()
    if request.param == "stand-in":
        yield _stand_in(tmp_path, there)
        return
    made, server = _real(tmp_path, there)
    yield made
    server.terminate()
    server.wait(10)
