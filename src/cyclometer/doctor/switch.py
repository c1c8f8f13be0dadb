# SPDX-License-Identifier: BSD-2-Clause
"""What two sides of an A/B comparison set on one machine in turn, and how all of it is undone.

A command whose effect is known, `sysctl -w NAME=VALUE` or `echo VALUE > FILE` below /proc/sys or
/sys, is not run: its settings are written and read back, and their first values stand in a journal
as those of `tune` do. Any other command is run by a shell and needs one that undoes it. A process
of its own (`undo`) waits for the end of this one, whatever it is, and undoes everything.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclometer.doctor import tune
from cyclometer.doctor.knobs import Knob, value_of
from cyclometer.environment import ROOT
from cyclometer.errors import MeasurementFailed, NotComparable, UsageError

_SETTING = re.compile(r"([A-Za-z0-9_./*:-]+)=(.*)", re.DOTALL)
_ECHO = re.compile(r"\s*echo\s+(?:-n\s+)?([^\s>|;&$`]+)\s*>\s*(/(?:proc/sys|sys)/[^\s>|;&$`]+)\s*")
_LONGEST_S = 60.0  # that a command may take


@dataclass(frozen=True)
class Action:
    """What one side sets: settings, or a command for a shell; neither if it needs nothing."""

    text: str
    settings: tuple[Knob, ...] = ()

    @property
    def is_command(self) -> bool:
        return bool(self.text) and not self.settings


def parse(text: str) -> Action:
    """The action that `--before` or `--after` asks for."""
    if echoed := _ECHO.fullmatch(text):
        return Action(text, (_knob(echoed[2], echoed[1]),))
    try:
        first, *words = shlex.split(text) or [""]
    except ValueError as error:
        raise UsageError(f"{text!r} is not a command ({error}); check its quotes") from None
    settings = [_SETTING.fullmatch(word) for word in words if word not in ("-w", "-q")]
    if Path(first).name == "sysctl" and settings and all(settings):
        return Action(text, tuple(_sysctl(found[1], found[2]) for found in settings if found))
    return Action(text)


def _sysctl(name: str, value: str) -> Knob:
    """As sysctl(8) reads it: dots are slashes, unless the name holds slashes."""
    return _knob(f"/proc/sys/{name if '/' in name else name.replace('.', '/')}", value)


def _knob(path: str, value: str) -> Knob:
    if ".." in Path(path).parts:
        raise UsageError(f"{path} is not a setting; name it without ..")
    return Knob(path.lstrip("/"), value.strip())


def default_journal() -> Path:
    """Beside the journal of `doctor --tune`, and apart from it: each is undone alone."""
    return tune.default_journal().with_name("ab.jsonl")


class Switch:
    """Sets what a side needs; a side that says nothing is the machine as it was, to which `undo`
    leads back. `close` undoes everything; so does the end of this process.
    """

    def __init__(
        self,
        actions: Sequence[Action],
        undo: str = "",
        journal: Path | None = None,
        root: Path = ROOT,
    ):
        """Raises UsageError for a command that nothing undoes, NotComparable for a setting that
        this machine does not have, and where another comparison is under way.
        """
        self._journal, self._root = journal or default_journal(), root
        self._now: int | None = None
        self._guard: subprocess.Popen[str] | None = None
        commands = [action.text for action in actions if action.is_command]
        if commands and not undo:
            raise UsageError(
                f"it is not known how to undo {commands[0]!r}; give --undo COMMAND "
                "(--undo true if nothing has to be undone)"
            )
        first = {}
        for knob in (knob for action in actions for knob in action.settings):
            value = value_of(root, knob.path)
            if value is None:
                raise NotComparable(f"/{knob.path} cannot be read here; check its name")
            first[knob.path] = Knob(knob.path, value)
        # a side that does not say what a setting is leaves it as it was
        self._settings = [
            list({**first, **{knob.path: knob for knob in action.settings}}.values())
            for action in actions
        ]
        self._own = [action.is_command for action in actions]
        self._commands = [a.text if a.is_command else undo if commands else "" for a in actions]
        if any(action.text for action in actions):
            self._guard = _guard(self._journal, root, undo if commands else "")

    def to(self, side: int) -> None:
        """Sets what a side needs, unless it is in force. Raises NotComparable for a setting that
        does not take its value, MeasurementFailed for a command that fails.
        """
        if side == self._now:
            return
        untouched, self._now = self._now is None, None
        command = self._commands[side]
        if command and (self._own[side] or not untouched):
            run(command)
        if self._settings[side]:
            for change in tune.tune(self._settings[side], self._journal, self._root):
                if change.refusal:
                    raise NotComparable(f"/{change.path}: {change.refusal}")
        self._now = side

    def close(self) -> None:
        """Undoes everything. Raises MeasurementFailed if something stays as it should not."""
        guard, self._guard = self._guard, None
        if guard is not None:
            said, _ = guard.communicate("")
            if guard.returncode:
                raise MeasurementFailed(f"not undone: {'; '.join(said.splitlines())}")


def _guard(journal: Path, root: Path, undo: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cyclometer.doctor.undo", str(root), str(journal)]
    guard = subprocess.Popen(
        [*command, undo],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert guard.stdout is not None
    first = guard.stdout.readline().strip()
    if first != "ready":
        guard.communicate("")
        raise NotComparable(first or "the process that undoes settings did not start; try again")
    return guard


def run(command: str) -> None:
    """Runs a command by a shell. Raises MeasurementFailed unless it ends with 0 within a minute."""
    try:
        done = subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, check=False, timeout=_LONGEST_S
        )
    except subprocess.TimeoutExpired:
        raise MeasurementFailed(f"{command!r} ran for more than {_LONGEST_S:.0f} s") from None
    if done.returncode:
        said = done.stderr.strip() or f"it ended with status {done.returncode}"
        raise MeasurementFailed(f"{command!r} failed: {said}")
