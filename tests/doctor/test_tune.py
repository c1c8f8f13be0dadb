# SPDX-License-Identifier: BSD-2-Clause
"""Tuning is a transaction: whatever step the machine stops at, a restore yields the first
settings.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cyclometer.doctor import tune as transaction
from cyclometer.doctor.knobs import Knob, knobs, value_of
from cyclometer.doctor.tune import restore, tune, tuned
from cyclometer.errors import BadFile, NotComparable

from .conftest import CPU, WORKSTATION

MEASURED = 3
EXPECTED = {
    **{f"{CPU}/cpufreq/policy{cpu}/scaling_governor": "performance" for cpu in range(4)},
    f"{CPU}/intel_pstate/no_turbo": "1",
    f"{CPU}/cpu3/cpuidle/state1/disable": "1",
    "proc/sys/kernel/sched_rt_runtime_us": "-1",
    "proc/sys/kernel/perf_event_paranoid": "-1",
    "proc/sys/kernel/numa_balancing": "0",
    "proc/sys/kernel/nmi_watchdog": "0",
    "proc/irq/9/smp_affinity_list": "0-2",
    "sys/kernel/mm/transparent_hugepage/enabled": "madvise",
}


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


class Stopped(BaseException):
    """The machine lost power; nothing may catch this."""


class StoppingOs:
    """The os module, but it stops before its `stop`-th change to the disk, or halfway through a
    write.
    """

    def __init__(self, stop: int, torn: bool) -> None:
        self.stop, self.torn, self.steps = stop, torn, 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return (
            self.step(name, real)
            if name in ("open", "write", "fsync", "unlink", "truncate")
            else real
        )

    def step(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def stopping(*arguments: Any) -> Any:
            self.steps += 1
            if self.steps == self.stop:
                if self.torn and name == "write":
                    os.write(arguments[0], arguments[1][: len(arguments[1]) // 2])
                raise Stopped
            return real(*arguments)

        return stopping


def settings(root: Path) -> dict[str, str | None]:
    return {path: value_of(root, path) for path in WORKSTATION}


def stopping_everywhere(
    monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]
) -> Iterator[None]:
    """Runs `action` once a step, stopped at that step, and yields after each; then once whole."""
    for torn in (False, True):
        stopped, step = True, 0
        while stopped:
            step += 1
            with monkeypatch.context() as patch:
                patch.setattr(transaction, "os", StoppingOs(step, torn))
                try:
                    action()
                    stopped = False
                except Stopped:
                    pass
            yield
        assert step > 10  # a transaction of fewer steps would mean that nothing was injected


def tune_all(root: Path, journal: Path, cpu: int = MEASURED) -> None:
    assert not [change for change in tune(knobs(root, cpu), journal, root) if change.refusal]


def test_tune_sets_every_knob_and_restore_brings_all_back(root: Path, journal: Path) -> None:
    first = settings(root)
    changes = tune(knobs(root, MEASURED), journal, root)
    assert {change.path: change.now for change in changes} == EXPECTED
    assert {
        path: value for path, value in settings(root).items() if value != first[path]
    } == EXPECTED
    assert tuned(journal, root) == {path: first[path] for path in EXPECTED}
    assert [change.path for change in restore(journal, root)] == [
        change.path for change in reversed(changes)
    ]
    assert settings(root) == first
    assert not journal.exists()
    assert restore(journal, root) == []


def test_restore_after_a_crash_at_any_step_of_tune(
    root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = settings(root)
    for _ in stopping_everywhere(monkeypatch, lambda: tune_all(root, journal)):
        restore(journal, root)
        assert settings(root) == first
        assert not journal.exists()


def test_tune_again_after_a_crash_keeps_the_first_values(
    root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = settings(root)
    wanted = knobs(root, MEASURED)
    for _ in stopping_everywhere(monkeypatch, lambda: tune(wanted, journal, root)):
        tune(wanted, journal, root)
        assert {path: value_of(root, path) for path in EXPECTED} == EXPECTED
        restore(journal, root)
        assert settings(root) == first


def test_restore_after_a_crash_at_any_step_of_restore(
    root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = settings(root)
    tune_all(root, journal)
    for _ in stopping_everywhere(monkeypatch, lambda: restore(journal, root)):
        restore(journal, root)
        assert settings(root) == first
        assert not journal.exists()
        tune_all(root, journal)


def test_a_first_value_is_on_the_disk_before_its_setting_changes(
    root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fsync has not confirmed may be lost, so only that counts as journalled here."""
    synced = ""
    changed = []
    real_set = transaction._set

    def sync(fd: int) -> None:
        nonlocal synced
        if os.path.samestat(os.fstat(fd), journal.stat()):
            synced = journal.read_text()

    def checked_set(root: Path, path: str, value: str) -> transaction.SettingChange:
        assert json.dumps({"path": path, "was": value_of(root, path)}) in synced.splitlines()
        changed.append(path)
        return real_set(root, path, value)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(transaction, "_set", checked_set)
    tune_all(root, journal)
    assert set(changed) == set(EXPECTED)


def test_a_second_tune_for_another_cpu_keeps_the_first_values(root: Path, journal: Path) -> None:
    first = settings(root)
    tune_all(root, journal)
    tune_all(root, journal, cpu=2)
    assert value_of(root, "proc/irq/9/smp_affinity_list") == "0-1"
    assert tuned(journal, root)["proc/irq/9/smp_affinity_list"] == "0-3"
    restore(journal, root)
    assert settings(root) == first


def test_tuning_twice_changes_nothing_more(root: Path, journal: Path) -> None:
    tune_all(root, journal)
    content = journal.read_bytes()
    assert tune(knobs(root, MEASURED), journal, root) == []
    assert journal.read_bytes() == content


def test_a_reboot_has_undone_a_tune(root: Path, journal: Path) -> None:
    tune_all(root, journal)
    (root / "proc/sys/kernel/random/boot_id").write_text("another boot")
    (root / "proc/sys/kernel/nmi_watchdog").write_text("1\n")
    after_boot = settings(root)
    assert tuned(journal, root) == {}
    assert restore(journal, root) == []
    assert settings(root) == after_boot
    assert not journal.exists()


def test_a_tune_after_a_reboot_starts_anew(root: Path, journal: Path) -> None:
    tune_all(root, journal)
    (root / "proc/sys/kernel/random/boot_id").write_text("another boot")
    (root / "proc/sys/kernel/nmi_watchdog").write_text("1\n")
    tune_all(root, journal)
    assert tuned(journal, root) == {"proc/sys/kernel/nmi_watchdog": "1"}


def test_a_refused_knob_is_reported_and_the_others_are_set(
    root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = settings(root)
    refused = root / "proc/irq/9/smp_affinity_list"
    real = transaction._write

    def refusing(path: Path, *arguments: Any, **keywords: Any) -> None:
        if path == refused:
            raise OSError(5, "Input/output error")
        real(path, *arguments, **keywords)

    monkeypatch.setattr(transaction, "_write", refusing)
    refusals = {
        change.path: change.refusal
        for change in tune(knobs(root, MEASURED), journal, root)
        if change.refusal
    }
    assert refusals == {"proc/irq/9/smp_affinity_list": "input/output error"}
    assert value_of(root, "proc/sys/kernel/nmi_watchdog") == "0"
    assert not [change for change in restore(journal, root) if change.refusal]
    assert settings(root) == first
    assert not journal.exists()


def test_a_knob_that_may_not_be_written_is_not_tried(
    root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction.os, "access", lambda *_: False)
    changes = tune([Knob("proc/sys/kernel/nmi_watchdog", "0")], journal, root)
    assert [change.refusal for change in changes] == ["may not be written by this user"]
    assert tuned(journal, root) == {}


def test_restore_keeps_its_journal_while_a_setting_refuses(
    root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = settings(root)
    tune_all(root, journal)

    def refusing(*_: Any, **__: Any) -> None:
        raise OSError(16, "Device or resource busy")

    with monkeypatch.context() as patch:
        patch.setattr(transaction, "_write", refusing)
        assert {change.refusal for change in restore(journal, root)} == {"device or resource busy"}
    restore(journal, root)
    assert settings(root) == first


def test_a_setting_whose_file_is_gone_holds_nothing_back(root: Path, journal: Path) -> None:
    tune_all(root, journal)
    (root / f"{CPU}/cpufreq/policy2/scaling_governor").unlink()
    assert [change.path for change in restore(journal, root) if change.refusal] == [
        f"{CPU}/cpufreq/policy2/scaling_governor"
    ]
    assert not journal.exists()


@pytest.mark.parametrize(
    "line",
    [
        '{"path": "etc/passwd", "was": "x"}',
        '{"path": "sys/../etc/passwd", "was": "x"}',
        "nonsense",
        "[]",
        "{}",
    ],
)
def test_a_line_that_no_tune_wrote_is_refused(root: Path, journal: Path, line: str) -> None:
    tune_all(root, journal)
    with journal.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(BadFile, match=f"{journal.name}:{len(EXPECTED) + 2} "):
        restore(journal, root)


def test_two_tunes_at_once_are_refused(root: Path, journal: Path) -> None:
    journal.parent.mkdir(parents=True)
    with journal.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(NotComparable, match="in use by another"):
            tune_all(root, journal)


def test_no_journal_no_change(root: Path, tmp_path: Path) -> None:
    first = settings(root)
    (tmp_path / "file").write_text("")
    with pytest.raises(NotComparable, match="XDG_STATE_HOME"):
        tune_all(root, tmp_path / "file/tuned.jsonl")
    assert settings(root) == first


def test_a_full_disk_changes_nothing(
    root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = settings(root)
    monkeypatch.setattr(transaction.os, "write", lambda _fd, content: len(content) - 1)
    with pytest.raises(NotComparable, match="No space"):
        tune_all(root, journal)
    monkeypatch.undo()
    assert settings(root) == first


def test_the_journal_stands_where_the_system_keeps_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/x/state")
    assert transaction.default_journal() == Path("/x/state/cyclometer/tuned.jsonl")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(transaction.os, "geteuid", lambda: 0)
    assert transaction.default_journal() == Path("/var/lib/cyclometer/tuned.jsonl")
