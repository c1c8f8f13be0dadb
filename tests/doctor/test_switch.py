# SPDX-License-Identifier: BSD-2-Clause
"""What an A/B comparison sets is undone, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cyclometer.doctor.knobs import Knob
from cyclometer.doctor.switch import Action, Switch, parse
from cyclometer.doctor.tune import tune
from cyclometer.errors import MeasurementFailed, NotComparable, UsageError

THP = "sys/kernel/mm/transparent_hugepage/enabled"
WATCHDOG = "proc/sys/kernel/nmi_watchdog"


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("sysctl -w kernel.nmi_watchdog=0", [(WATCHDOG, "0")]),
        ("/sbin/sysctl -q kernel/nmi_watchdog=1", [(WATCHDOG, "1")]),
        (
            "sysctl net.ipv4.tcp_rmem='1 2 3' kernel.nmi_watchdog=0",
            [("proc/sys/net/ipv4/tcp_rmem", "1 2 3"), (WATCHDOG, "0")],
        ),
        (f"echo never > /{THP}", [(THP, "never")]),
        (f"echo -n never >/{THP}", [(THP, "never")]),
        ("sysctl -p", []),
        ("sysctl", []),
        ("echo 1 > /tmp/x", []),
        (f"echo a; echo b > /{THP}", []),
        (f"echo $x > /{THP}", []),
        ("systemctl stop x=y", []),
        ("", []),
    ],
)
def test_settings_are_told_from_commands(text: str, settings: list[tuple[str, str]]) -> None:
    assert parse(text) == Action(text, tuple(Knob(path, value) for path, value in settings))


@pytest.mark.parametrize(
    ("text", "said"), [("echo 1 > /sys/../etc/x", "without .."), ("sysctl 'a", "check its quotes")]
)
def test_what_is_no_setting_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse(text)


def started(root: Path, tmp_path: Path, *texts: str, undo: str = "") -> Switch:
    return Switch([parse(text) for text in texts], undo, tmp_path / "state/ab.jsonl", root)


def test_each_side_gets_its_settings_and_the_end_the_first_ones(root: Path, tmp_path: Path) -> None:
    switch = started(root, tmp_path, "", f"echo never > /{THP}")
    switch.to(0)
    assert (root / THP).read_text() == "[always] madvise never\n"
    switch.to(1)
    assert (root / THP).read_text() == "never\n"
    switch.to(0)
    assert (root / THP).read_text() == "always\n"
    switch.to(1)
    switch.close()
    assert (root / THP).read_text() == "always\n"
    assert not (tmp_path / "state/ab.jsonl").exists()
    switch.close()  # nothing is left to undo


def test_nothing_to_set_starts_nothing(root: Path, tmp_path: Path) -> None:
    switch = started(root, tmp_path, "", "")
    switch.to(1)
    switch.close()
    assert not (tmp_path / "state").exists()


def test_commands_run_when_the_side_changes_and_are_undone(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    texts = [f"echo {word} >> {log}" for word in ("a", "b", "undone")]
    switch = started(root, tmp_path, *texts[:2], undo=texts[2])
    for side in (0, 0, 1, 1, 0):
        switch.to(side)
    switch.close()
    assert log.read_text().split() == ["a", "b", "a", "undone"]


def test_a_side_without_a_command_is_what_undoing_leads_to(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    switch = started(root, tmp_path, "", f"echo b >> {log}", undo=f"echo undone >> {log}")
    for side in (0, 1, 0, 1):
        switch.to(side)
    assert log.read_text().split() == ["b", "undone", "b"]
    switch.close()
    assert log.read_text().split() == ["b", "undone", "b", "undone"]


def test_a_command_without_its_undoing_is_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give --undo COMMAND"):
        started(root, tmp_path, "modprobe x", "")


def test_a_setting_this_machine_does_not_have_is_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(NotComparable, match=r"^/proc/sys/kernel/none cannot be read here"):
        started(root, tmp_path, "sysctl kernel.none=1", "")


def test_what_fails_is_said_and_the_rest_undone(root: Path, tmp_path: Path) -> None:
    switch = started(root, tmp_path, f"echo never > /{THP}", "echo no >&2; exit 3", undo="exit 4")
    switch.to(0)
    with pytest.raises(MeasurementFailed, match=r"^'echo no >&2; exit 3' failed: no$"):
        switch.to(1)
    with pytest.raises(MeasurementFailed, match=r"^not undone: 'exit 4' failed: .* status 4$"):
        switch.close()
    assert (root / THP).read_text() == "always\n"


def test_a_setting_that_does_not_take_its_value_is_refused(root: Path, tmp_path: Path) -> None:
    (root / WATCHDOG).unlink()
    os.symlink("/dev/null", root / WATCHDOG)
    switch = started(root, tmp_path, "sysctl kernel.nmi_watchdog=0", "")
    with pytest.raises(NotComparable, match="the kernel made it"):
        switch.to(0)
    switch.close()


def test_two_comparisons_at_once_are_refused(root: Path, tmp_path: Path) -> None:
    first = started(root, tmp_path, f"echo never > /{THP}", "")
    with pytest.raises(NotComparable, match="another comparison"):
        started(root, tmp_path, "sysctl kernel.nmi_watchdog=0", "")
    first.close()


def test_what_an_earlier_comparison_left_is_undone_first(root: Path, tmp_path: Path) -> None:
    journal = tmp_path / "state/ab.jsonl"
    tune([Knob(THP, "never")], journal, root)
    switch = started(root, tmp_path, "sysctl kernel.nmi_watchdog=0", "")
    assert (root / THP).read_text() == "always\n"
    switch.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from cyclometer.doctor.switch import Switch, parse
root, state, done = map(Path, sys.argv[1:])
texts = ["echo never > /sys/kernel/mm/transparent_hugepage/enabled", f"touch {done}.b"]
switch = Switch([parse(text) for text in texts], f"touch {done}", state, root)
switch.to(1)
switch.to(0)
print("set", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_comparison_is_undone(root: Path, tmp_path: Path) -> None:
    state, done = tmp_path / "state/ab.jsonl", tmp_path / "done"
    command = [sys.executable, "-c", KILLED, root, state, done]
    killed = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, b"set\n")
    for _ in range(2400):
        if done.exists() and (root / THP).read_text() == "always\n":
            break
        time.sleep(0.05)
    assert (root / THP).read_text() == "always\n"
    assert done.exists()
