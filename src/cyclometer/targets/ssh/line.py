# SPDX-License-Identifier: BSD-2-Clause
"""A line to another machine: commands there, and a folder that is there as long as the line holds.

The other machine needs `sh` and five of POSIX's utilities: cat, chmod, mkdir, rm and uname.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from cyclometer.errors import MeasurementFailed, NotComparable, UsageError
from cyclometer.targets import child

SCHEME = "ssh://"
_OPTIONS = ("-T", "-oBatchMode=yes", "-oConnectTimeout=20", "-oServerAliveInterval=20")
_SSH_FAILED = 255  # of ssh(1): it did not reach the machine, or lost it
_WAIT_S = 120  # for an answer to a short command, the program's transfer included
_HOST = re.compile(r"[\w.:%-]*")
_FOLDER = re.compile(r"made (/[\w./+@%=,-]+)\n")  # nothing that a shell would read differently

# Its input is the line: where that ends, however it ends, the folder goes.
_KEEP = """{
umask 077
folder=${TMPDIR:-/tmp}/cyclometer-$$
mkdir "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM PIPE
echo "made $folder"
cat >/dev/null
}
"""


@dataclass(frozen=True)
class Line:
    """A machine that ssh reaches without asking for anything."""

    host: str
    user: str = ""
    port: int | None = None

    @property
    def command(self) -> tuple[str, ...]:
        """The words before those of a command there."""
        port = () if self.port is None else ("-p", str(self.port))
        where = f"{self.user}@{self.host}" if self.user else self.host
        return ("ssh", *_OPTIONS, *port, where)

    def ask(self, words: str, data: bytes = b"", wait_s: int = _WAIT_S) -> bytes:
        """What a command there prints; `words` is for any shell, `data` its input.

        Raises NotComparable if the machine is not reached, MeasurementFailed if the command fails.
        """
        try:
            done = subprocess.run(
                [*self.command, words],
                input=data,
                capture_output=True,
                timeout=wait_s,
                check=False,
            )
        except FileNotFoundError as error:
            raise NotComparable("there is no ssh here; install openssh-client") from error
        except subprocess.TimeoutExpired as error:
            raise MeasurementFailed(f"{self.host} did not answer within {wait_s} s") from error
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        if done.returncode == _SSH_FAILED:
            raise NotComparable(
                f"ssh does not reach {self.host} ({said[-1]}); try `{' '.join(self.command)} true`"
            )
        if done.returncode != 0:
            raise MeasurementFailed(f"{self.host} refused `{words}`: {said[-1]}")
        return done.stdout

    def run(self, script: str) -> bytes:
        """What a script for sh prints there; errors as `ask`."""
        return self.ask("sh", script.encode())

    @contextlib.contextmanager
    def folder(self) -> Iterator[PurePosixPath]:
        """A folder there that nobody else may read; it goes with the context, and with the line.

        Raises MeasurementFailed if none can be made.
        """
        # A session of its own, as harnesses have: Ctrl-C ends them in order.
        keeper = child.started(
            [*self.command, "sh"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        try:
            with contextlib.suppress(BrokenPipeError):  # what it prints says that it is gone
                keeper.stdin.write(_KEEP.encode())
            made = _FOLDER.fullmatch(keeper.stdout.readline(1000).decode(errors="replace"))
            if made is None:
                raise MeasurementFailed(f"{self.host} made no folder; set TMPDIR there")
            yield PurePosixPath(made[1])
        finally:
            with contextlib.suppress(BrokenPipeError):
                keeper.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                keeper.wait(_WAIT_S)
            keeper.kill()
            keeper.wait()
            keeper.stdout.close()


def parse(url: str) -> Line:
    """The line of ssh://[USER@]HOST[:PORT]. Raises UsageError."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    extra = not url.startswith(SCHEME) or parts.path.strip("/") or parts.query or parts.password
    user = parts.username or ""
    named = [word for word in (host, user) if word]
    if not host or extra or any(w.startswith("-") or not _HOST.fullmatch(w) for w in named):
        raise UsageError(f"{url} names no machine; write ssh://[USER@]HOST[:PORT]")
    return Line(host, user, port)
