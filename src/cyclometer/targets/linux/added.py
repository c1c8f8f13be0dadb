# SPDX-License-Identifier: BSD-2-Clause
"""Circles that a user adds to the harness without touching its source: C files that are compiled
into it (`--circles`), and programs that it times (`--exec`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclometer.bundle.model import Contract
from cyclometer.errors import UsageError
from cyclometer.plugins import Plugins
from cyclometer.record.schema import Failed, Flow, Group, Record
from cyclometer.targets.linux import programs
from cyclometer.targets.linux.harness import Harness, Visit, list_circles
from cyclometer.targets.linux.programs import Program

LEARNING_FLOW = Flow(initial=4, delta=4, groups=2, tests=5)
EVERYTHING = ("*",)


def _paths(_: str, found: Any) -> tuple[Path, ...]:
    """What an entry point of circles names: a path, or several, or a function that returns them."""
    found = found() if callable(found) else found
    return tuple(Path(one) for one in ([found] if isinstance(found, str | Path) else found))


CIRCLES: Plugins[tuple[Path, ...]] = Plugins("set of circles", "cyclometer.circles", {}, _paths)
"""C files of circles that installed packages bring, by the name of their entry point."""


@dataclass(frozen=True)
class Added:
    """What a request adds to the circles of the harness."""

    files: tuple[Path, ...] = ()
    programs: tuple[Program, ...] = ()

    def chosen(self, only: Sequence[str], contracts: Sequence[Contract]) -> tuple[str, ...]:
        """`only`, or if nothing was chosen the added circles; patterns of keys.

        Raises UsageError if the added files define no circle.
        """
        if tuple(only) != EVERYTHING or not (self.files or self.programs):
            return tuple(only)
        names = {path.name for path in self.files}
        keys = [c.key for c in contracts if c.source.rpartition(":")[0] in names]
        if names and not keys:
            raise UsageError(
                f"{', '.join(sorted(names))} registers no circle; linux/circles/TEMPLATE.c shows "
                "how one is registered"
            )
        return (*keys, *(program.key for program in self.programs))


def added(circles: Iterable[str], commands: Iterable[str]) -> Added:
    """What `--circles` and `--exec` name. Raises UsageError or BrokenPlugin."""
    files = [path for word in circles for path in _files(word)]
    commands = tuple(commands)
    return Added(tuple(files), programs.parse_all(commands) if commands else ())


def _files(word: str) -> Sequence[Path]:
    """A C file by its path, or those of an installed package by the name of its entry point."""
    if Path(word).suffix == ".c" or Path(word).exists():
        return [Path(word)]
    if word not in CIRCLES.names():
        raise UsageError(
            f"--circles: {word} is neither a C file nor the name of circles that an installed "
            "package brings"
        )
    return CIRCLES.load(word)


@contextmanager
def described(chosen: Sequence[Program]) -> Iterator[list[str]]:
    """The harness's options for these programs; their description exists within the context."""
    if not chosen:
        yield []
        return
    with tempfile.NamedTemporaryFile("w", prefix="cyclometer-", suffix=".programs") as file:
        file.write(programs.description(chosen))
        file.flush()
        yield ["--exec", file.name]


def learned(
    harness: Path, chosen: Sequence[Program], options: Sequence[str], watchdog_s: int
) -> tuple[Program, ...]:
    """The programs with the contract that their first visit shows.

    Raises UsageError with the harness's own sentence if a program cannot be timed.
    """
    if not chosen:
        return ()

    def visit_all(exec_options: Sequence[str]) -> list[Record]:
        runner = Harness(harness, 0, ["--proof", *options, *exec_options], watchdog_s)
        visits = [Visit(0, one.key, "proof", LEARNING_FLOW) for one in chosen]
        return [record for visit in visits for record in runner.visit(visit)] + runner.finish()

    with described(chosen) as exec_options:
        list_circles(harness, [*exec_options, "--watchdog", str(watchdog_s)])  # says what is wrong
        return with_contracts(chosen, lambda: visit_all(exec_options))


def with_contracts(
    chosen: Sequence[Program], visit_all: Callable[[], Sequence[Record]]
) -> tuple[Program, ...]:
    """The programs with what the groups of `visit_all` agree on; a failed visit is an error."""
    records = visit_all()
    for record in records:
        if isinstance(record, Failed):
            raise UsageError(f"--exec: {record.circle} cannot be timed: {record.reason}")
    return tuple(programs.learn(chosen, [r for r in records if isinstance(r, Group)]))
