# SPDX-License-Identifier: BSD-2-Clause
"""Changes settings of the machine as a transaction that survives a crash.

Before a setting is changed its first value stands on the disk, in a journal of one JSON object a
line:

    {"boot": "<boot id>"}                                  a reboot undid what was set before
    {"path": "proc/sys/kernel/nmi_watchdog", "was": "1"}   a line per setting, its first value

A last line without a line feed was being written when the machine stopped; its setting was not yet
changed. The journal is removed when everything is as it was.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cyclometer.doctor.knobs import FOLDERS, Knob, value_of
from cyclometer.environment import ROOT, text
from cyclometer.errors import BadFile, NotComparable

MODE = 0o600


@dataclass(frozen=True)
class SettingChange:
    """A setting that was `was` and is now `now`; `refusal` says why it is not what was asked
    for.
    """

    path: str
    was: str
    now: str
    refusal: str = ""


def default_journal() -> Path:
    """$XDG_STATE_HOME, else /var/lib for root and ~/.local/state for others."""
    home = os.environ.get("XDG_STATE_HOME")
    root_or_user = Path("/var/lib") if os.geteuid() == 0 else Path.home() / ".local/state"
    return (Path(home) if home else root_or_user) / "cyclometer/tuned.jsonl"


def tuned(journal: Path, root: Path = ROOT) -> dict[str, str]:
    """The settings that a tune since the last boot has changed: path -> first value. BadFile where
    it is damaged.
    """
    boot, originals = _load(journal)
    return originals if boot == _boot(root) else {}


def tune(wanted: list[Knob], journal: Path, root: Path = ROOT) -> list[SettingChange]:
    """Set every knob that differs, and say what came of it. Raises NotComparable if no journal
    can be kept.
    """
    with _locked(journal):
        originals = _begin(journal, root)
        return [
            _set_journalled(knob, journal, originals, root)
            for knob in wanted
            if not _is(value_of(root, knob.path), knob.wanted)
        ]


def restore(journal: Path, root: Path = ROOT) -> list[SettingChange]:
    """Bring back every first value, last change first, then forget the journal.

    The journal stays while a setting refuses its first value, so that restore can be run again; a
    setting whose file is gone (a CPU or driver was removed) holds nothing back.
    """
    if not journal.exists():
        return []
    with _locked(journal):
        originals = tuned(journal, root)
        changes = [
            _set(root, path, was)
            for path, was in reversed(originals.items())
            if value_of(root, path) != was
        ]
        if not any(change.refusal and (root / change.path).exists() for change in changes):
            _remove(journal)
        return changes


def _set_journalled(
    knob: Knob, journal: Path, originals: dict[str, str], root: Path
) -> SettingChange:
    was = value_of(root, knob.path) or ""
    if not os.access(root / knob.path, os.W_OK):
        return SettingChange(knob.path, was, was, "may not be written by this user")
    # on the disk before the change, so that no crash leaves a setting whose first value is lost
    if knob.path not in originals:
        _append(journal, {"path": knob.path, "was": was})
        originals[knob.path] = was
    return _set(root, knob.path, knob.wanted)


def _set(root: Path, path: str, value: str) -> SettingChange:
    was = value_of(root, path) or ""
    try:
        _write(root / path, os.O_WRONLY | os.O_TRUNC, value + "\n")
    except OSError as error:
        return SettingChange(path, was, value_of(root, path) or "", f"{error.strerror}".lower())
    now = value_of(root, path) or ""
    return SettingChange(path, was, now, "" if _is(now, value) else f"the kernel made it {now}")


def _is(value: str | None, wanted: str) -> bool:
    """Whether a setting is as wanted, or is none at all; the kernel writes tabs between numbers."""
    return value is None or value.split() == wanted.split()


def _write(path: Path, flags: int, content: str, sync: bool = False) -> None:
    fd = os.open(path, flags, MODE)
    try:
        # one write, for the kernel takes a setting whole; a short one to the journal: a full disk
        if os.write(fd, content.encode()) != len(content.encode()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if sync:
            os.fsync(fd)
    finally:
        os.close(fd)


def _append(journal: Path, line: dict[str, str]) -> None:
    try:
        _write(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, json.dumps(line) + "\n", sync=True)
    except OSError as error:
        raise NotComparable(
            f"{journal} cannot be written ({error.strerror}); make room, or set XDG_STATE_HOME"
        ) from None


def _begin(journal: Path, root: Path) -> dict[str, str]:
    """Make the journal ready for a further line, and return what it holds since the last boot."""
    boot, originals = _load(journal)
    if boot == _boot(root):
        # a line that was cut off would spoil the next one
        whole = journal.read_bytes().rfind(b"\n") + 1
        os.truncate(journal, whole)
        return originals
    if journal.exists():
        _remove(journal)
    _append(journal, {"boot": _boot(root)})
    _sync_folder(journal)
    return {}


def _boot(root: Path) -> str:
    return text(root, "proc/sys/kernel/random/boot_id") or ""


def _load(journal: Path) -> tuple[str | None, dict[str, str]]:
    """The boot a journal is from, None if it holds nothing whole, and its first values in
    order.
    """
    try:
        *lines, _torn = journal.read_text().split("\n")
    except FileNotFoundError:
        return None, {}
    boot, originals = None, {}
    for at, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            if at == 1:
                boot = str(entry["boot"])
            else:
                originals[_checked(entry["path"])] = str(entry["was"])
        except (ValueError, KeyError, TypeError):
            raise BadFile(
                f"{journal}:{at} is not a journal line; correct it by hand, or delete the file"
            ) from None
    return boot, originals


def _checked(path: str) -> str:
    """`path`, unless it points outside of where knobs are: root must not be led to write
    elsewhere.
    """
    if not path.startswith(FOLDERS) or ".." in Path(path).parts:
        raise ValueError(path)
    return path


@contextmanager
def _locked(journal: Path) -> Iterator[None]:
    """Keeps a second tune or restore away; the lock goes with the process."""
    try:
        journal.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(journal.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT, MODE)
    except OSError as error:
        raise NotComparable(
            f"{journal.parent} cannot hold the journal ({error.strerror}); set XDG_STATE_HOME"
        ) from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise NotComparable(
            f"{journal} is in use by another tune or restore; wait for it to end"
        ) from None
    finally:
        os.close(fd)


def _remove(journal: Path) -> None:
    os.unlink(journal)
    _sync_folder(journal)


def _sync_folder(journal: Path) -> None:
    fd = os.open(journal.parent, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
