# SPDX-License-Identifier: BSD-2-Clause
"""Programs of the user's as circles: `--exec '[NAME=]COMMAND'`.

The harness starts a program and times it (linux/program.h). What a turn of it does is not known
beforehand, so its contract is what the counters show: `learn` finds those that count the same in
every test of a first run, and from then on each test is held against them.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cyclometer.errors import UsageError
from cyclometer.record.schema import Group

_NAMED = re.compile(r"([a-z0-9_+.]+)=(.*)", re.DOTALL)
_NAME_MAX = 90  # the harness takes keys of 95 characters
LEARNED = (
    "entries",
    "switches",
    "space_switches",
    "cpu_switches",
    "voluntary",
    "involuntary",
    "faults",
)
"""Counters that can become part of a program's contract: those of events that a program causes."""


@dataclass(frozen=True)
class Program:
    """A command to be timed. `expect`: counter -> exact count per turn, once it is known."""

    name: str
    command: tuple[str, ...]  # the program's path, and its arguments
    expect: Mapping[str, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"exec.{self.name}"


def parse(text: str) -> Program:
    """`[NAME=]COMMAND` as a program; the name is that of the executable file if none is given.

    Raises UsageError if there is no such executable or the name cannot be one.
    """
    named = _NAMED.match(text)
    try:
        words = shlex.split(named[2] if named else text)
    except ValueError as error:
        raise UsageError(f"--exec {text!r} cannot be split into words: {error}") from error
    if not words or any("\n" in word for word in words):
        raise UsageError("--exec takes a command of one line, as --exec './program --with args'")
    path = shutil.which(words[0])
    if path is None:
        raise UsageError(f"--exec: {words[0]} is not an executable file")
    name = named[1] if named else re.sub(r"[^a-z0-9_+.]", "_", Path(path).name.lower())
    if len(name) > _NAME_MAX:
        raise UsageError(f"--exec: the name {name[:20]}... is longer than {_NAME_MAX} characters")
    return Program(name, (str(Path(path).absolute()), *words[1:]))


def parse_all(texts: Iterable[str]) -> tuple[Program, ...]:
    """Each text as a program. Raises UsageError if two have one name."""
    programs = tuple(parse(text) for text in texts)
    name, times = Counter(program.name for program in programs).most_common(1)[0]
    if times > 1:
        raise UsageError(f"two programs are called {name!r}; name them with --exec NAME=COMMAND")
    return programs


def description(programs: Sequence[Program]) -> str:
    """The programs as the harness reads them."""
    lines = []
    for program in programs:
        lines += [f"key {program.key}", f"title {shlex.join(program.command)}"]
        lines += [f"argument {word}" for word in program.command]
        lines += [f"expect {name} {count}" for name, count in program.expect.items()]
    return "".join(f"{line}\n" for line in lines)


def learn(programs: Sequence[Program], groups: Iterable[Group]) -> list[Program]:
    """The programs with the counts per turn that more than half of their tests agree on exactly, in
    groups of every size.
    """
    per_turn: dict[tuple[str, str], list[float]] = {}
    for group in groups:
        for name in LEARNED:
            ratios = [count / group.turns for count in group.counters.get(name, ())]
            per_turn.setdefault((group.circle, name), []).extend(ratios)
    return [replace(program, expect=dict(_agreed(program.key, per_turn))) for program in programs]


def _agreed(
    key: str, per_turn: Mapping[tuple[str, str], Sequence[float]]
) -> Iterable[tuple[str, int]]:
    for name in LEARNED:
        ratios = per_turn.get((key, name), ())
        if ratios:
            ratio, times = Counter(ratios).most_common(1)[0]
            if ratio.is_integer() and 2 * times > len(ratios):
                yield name, int(ratio)
