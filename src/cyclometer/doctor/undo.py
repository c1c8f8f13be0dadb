# SPDX-License-Identifier: BSD-2-Clause
"""The process that undoes what `switch` did: it waits for the end of its standard input, which the
kernel closes however the other end dies.

Called with the machine's root, the journal, and a command to run, which may be empty.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
from pathlib import Path

from cyclometer.doctor import tune
from cyclometer.doctor.switch import run
from cyclometer.errors import CyclometerError, MeasurementFailed


def undo(journal: Path, root: Path, command: str) -> list[str]:
    """Undoes everything; what could not be undone, a sentence each."""
    wrong = []
    if command:
        try:
            run(command)
        except MeasurementFailed as error:
            wrong.append(str(error))
    changes = tune.restore(journal, root)
    return wrong + [f"/{one.path}: {one.refusal}" for one in changes if one.refusal]


def main() -> None:
    """Says `ready`, or why not; waits; undoes. Exits with 1 if something stays as it should not."""
    root, journal, command = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        journal.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(journal.with_suffix(".guard"), os.O_WRONLY | os.O_CREAT, tune.MODE)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        wrong = undo(journal, root, "")  # what a comparison left whose guard died, too
    except BlockingIOError:
        wrong = ["another comparison sets this machine's settings; wait for its end"]
    except (OSError, CyclometerError) as error:
        wrong = [str(error)]
    if wrong:
        print(wrong[0], flush=True)
        sys.exit(1)
    print("ready", flush=True)
    sys.stdin.read()
    wrong = undo(journal, root, command)
    with contextlib.suppress(BrokenPipeError):  # nobody listens after a kill
        print("\n".join(wrong), flush=True)
    os._exit(bool(wrong))  # what Python would still say to nobody


if __name__ == "__main__":
    main()
