# SPDX-License-Identifier: BSD-2-Clause
"""A machine's console is read within bounds, and the machine is stopped for certain."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from cyclometer.errors import MeasurementFailed, UsageError
from cyclometer.targets import console
from cyclometer.targets.foreign_image import of_boots
from cyclometer.targets.qemu.image import emulator
from tests.streams import end, hello, line


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def test_the_end_record_ends_it_although_the_machine_idles_on() -> None:
    text = (line(hello()) + line(end(1, 0))).decode()
    ended = console.read_console(
        python(f"import time; print({text!r}, flush=True); time.sleep(60)"), 30
    )
    assert ended.done
    assert ended.console.count(b"@cyc ") == 2


def test_a_machine_with_a_file_to_finish_is_waited_for(tmp_path: Path) -> None:
    text = (line(hello()) + line(end(1, 0))).decode()
    finish = (
        "import signal, sys, time\n"
        f"def asked(*_): open({str(tmp_path / 'x')!r}, 'w').write('whole'); sys.exit()\n"
        f"signal.signal(signal.SIGTERM, asked); print({text!r}, flush=True); time.sleep(60)"
    )
    ended = console.read_console(python(finish), 30, to_exit=True)
    assert (ended.done, ended.why) == (True, "said that it was done")
    assert (tmp_path / "x").read_text() == "whole"


def test_a_machine_that_is_asked_to_end_at_the_bound_says_where_it_was() -> None:
    tell = (
        "import signal, sys, time\n"
        "def asked(*_): print('near pc 0x123'); sys.exit()\n"
        "signal.signal(signal.SIGTERM, asked)\n"
        "signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM]); time.sleep(60)"
    )
    # Inherited: asked before it listens, on a busy machine, it hears of that when it does.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        ended = console.read_console(python(tell), 1, to_exit=True)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    assert ended.console == b"near pc 0x123\n"
    assert ended.why == "was silent after 1 s (--watchdog allows more)"


def test_a_silent_machine_is_stopped_at_the_bound() -> None:
    ended = console.read_console(python("import time; time.sleep(60)"), 0.5)
    assert (ended.console, ended.done) == (b"", False)
    assert ended.why == "was silent after 0.5 s (--watchdog allows more)"


def test_a_machine_deaf_to_asking_is_killed() -> None:
    deaf = "trap '' TERM; echo up; exec sleep 60"
    assert (
        console.read_console(["sh", "-c", deaf], 2).why
        == "had not finished after 2 s (--watchdog allows more)"
    )


def test_a_crash_keeps_what_was_printed() -> None:
    ended = console.read_console(python("import os; os.write(1, b'boot'); os.abort()"), 30)
    assert (ended.console, ended.why) == (b"boot", "ended by itself")


def test_a_chattering_machine_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "CONSOLE_MAX_BYTES", 1 << 20)
    ended = console.read_console(python("while True: print('x' * 1000)"), 30)
    assert "printed more than" in ended.why
    assert len(ended.console) < 2 << 20


def test_an_image_that_prints_nothing_known_is_an_error_with_its_console() -> None:
    ended = console.BootResult(b"booting\npanic: no root\n", "ended by itself")
    with pytest.raises(MeasurementFailed, match="panic: no root"):
        of_boots(None, "board", [ended], {}, {})


def test_a_file_that_is_no_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(b"\x00" * 100)
    with pytest.raises(UsageError, match="not an ELF file"):
        emulator(tmp_path / "image")
    with pytest.raises(UsageError, match="cannot be read"):
        emulator(tmp_path / "absent")


def test_what_goes_on_behind_its_end_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(console, "_LEAVE_S", 1)
    ended = console.read_console(
        ["sh", "-c", "trap '' TERM; echo the end; sleep 60"], 50, to_exit=True, ends=[b"the end"]
    )
    assert (ended.done, ended.status, ended.why) == (True, None, "said that it was done")


def test_a_text_ends_a_console_and_an_exit_tells_its_status() -> None:
    ended = console.read_console(["sh", "-c", "echo all is done; sleep 60"], 50, ends=[b"is done"])
    assert (ended.done, ended.status) == (True, None)
    ended = console.read_console(["sh", "-c", "echo hello; exit 3"], 50)
    assert (ended.done, ended.status) == (False, 3)


HALTED = "qemu-system-riscv64: warning: icount sleep disabled and no active timers"


def test_a_machine_that_nothing_can_wake_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_QUIET_S", 0.1)
    ended = console.read_console(["sh", "-c", f"echo row; echo '{HALTED}'; sleep 60"], 50)
    assert (ended.why, ended.done) == (console.IDLE, False)
    assert ended.console.startswith(b"row\n")


def test_a_simulator_says_by_its_code_that_nothing_can_wake_it() -> None:
    said = "rocket: idle for ever, without a timer, in cycle 2000: hart 0 near pc 0x80000000"
    machine = f"echo row; echo {said}; exit {console.IDLE_STATUS}"
    ended = console.read_console(["sh", "-c", machine], 50)
    assert (ended.why, ended.done, ended.status) == (console.IDLE, False, None)


def test_a_machine_that_went_on_is_not_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_QUIET_S", 0.1)
    ended = console.read_console(["sh", "-c", f"printf '{HALTED}\\nrow\\n'; sleep 60"], 3)
    assert ended.why == "had not finished after 3 s (--watchdog allows more)"


def test_what_was_printed_last_is_told_while_it_runs(tmp_path: Path) -> None:
    told: list[bytes] = []
    heard = tmp_path / "heard"

    def tell(newest: bytes) -> None:
        told.append(newest)
        if newest.endswith(b"booting\n"):
            heard.touch()

    machine = f"echo booting; until [ -e {heard} ]; do sleep 0.1; done; echo done; sleep 60"
    ended = console.read_console(["sh", "-c", machine], 50, ends=[b"done"], tell=tell)
    assert ended.done, told
