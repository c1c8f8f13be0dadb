# SPDX-License-Identifier: BSD-2-Clause
"""Commits of a git repository, built and measured in worktrees of their own, several at once."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cyclometer.bundle import store
from cyclometer.compare.pairing import side
from cyclometer.errors import CyclometerError, UsageError
from cyclometer.git import commit, git, last_line
from cyclometer.sweep.bisect import Measured

_PROGRAM = "from cyclometer.cli import main; main()"


def chain(root: Path, good: str, bad: str) -> list[str]:
    """The commits from `good` to `bad`, by first parents: a merge counts as one commit."""
    ends = commit(root, good), commit(root, bad)
    between = git(root, "rev-list", "--first-parent", "--reverse", f"{ends[0]}..{ends[1]}").split()
    if not between:
        raise UsageError(f"{bad!r} does not come after {good!r}; the good commit is the older one")
    if git(root, "merge-base", *ends).strip() != ends[0]:
        raise UsageError(f"{good!r} is not an ancestor of {bad!r}; name a commit that is")
    return [ends[0], *between]


@dataclass(frozen=True)
class Recipe:
    """How a commit becomes a latency: a shell command that builds it, the words of `cyclometer
    run` after that, and the circle. `exact`: only an exact clock will do.
    """

    build: str
    words: tuple[str, ...]
    key: str
    exact: bool


class Trees:
    """Worktrees of a repository. They keep what was built in them from commit to commit."""

    def __init__(self, recipe: Recipe, folders: Sequence[Path], output: Path) -> None:
        self._recipe, self._output = recipe, output
        self._free: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for folder in folders:
            self._free.put(folder)
        self._lanes = len(folders)

    def measure(self, commits: Sequence[str]) -> list[Measured]:
        """Builds and measures the commits, one in a worktree at a time."""
        with ThreadPoolExecutor(self._lanes) as pool:
            return list(pool.map(self._one, commits))

    def _one(self, commit: str) -> Measured:
        tree = self._free.get()
        try:
            return self._measured(tree, commit)
        except (CyclometerError, OSError) as error:
            return Measured(error=" ".join(str(error).split()))
        finally:
            self._free.put(tree)

    def _measured(self, tree: Path, commit: str) -> Measured:
        git(tree, "checkout", "--quiet", "--force", "--detach", commit)
        log, bundle = self._output / f"{commit}.log", self._output / commit
        if _logged(["sh", "-c", self._recipe.build], tree, log):
            return Measured(error=f"it does not build ({last_line(_text(log))})")
        words = ["run", *self._recipe.words, "--only", self._recipe.key, "-o", str(bundle)]
        _logged([sys.executable, "-c", _PROGRAM, *words], tree, log)
        if not bundle.is_dir():
            return Measured(error=last_line(_text(log)).removeprefix("cyclometer: "))
        return latency(bundle, self._recipe)


@contextmanager
def worktrees(root: Path, commit: str, scratch: Path, number: int) -> Iterator[list[Path]]:
    """So many worktrees of the repository below `scratch`, removed again in the end."""
    folders = [scratch / f"tree-{n}" for n in range(number)]
    try:
        for folder in folders:
            git(root, "worktree", "add", "--quiet", "--detach", str(folder), commit)
        yield folders
    finally:
        for folder in folders:
            if folder.exists():
                git(root, "worktree", "remove", "--force", "--force", str(folder))


def latency(path: Path, recipe: Recipe) -> Measured:
    """The latency of the recipe's circle in a bundle."""
    rows = [c.estimate for c in side([store.read(path)]).circles if c.key == recipe.key]
    if len(rows) != 1:
        return Measured(error=f"there are {len(rows)} rows of {recipe.key}, not one")
    row = rows[0]
    if not row.valid or row.latency is None:
        return Measured(error=f"{recipe.key} is not valid: {row.reason}")
    if not recipe.exact:
        interval = row.latency.interval
        return Measured(row.latency.value, interval.low, interval.high, row.clock.unit)
    if not row.clock.exact:
        return Measured(
            error=f"the clock {row.clock.name} is not exact; use --by interval, or an exact target"
        )
    value = row.latency.value
    return Measured(value, value, value, row.clock.unit)


def _logged(words: Sequence[str], tree: Path, log: Path) -> int:
    """Runs a program in the worktree and appends what it says to `log`; its exit code."""
    # The tree under test must not lend the measuring program its modules.
    safe = os.environ | {"PYTHONSAFEPATH": "1"}
    with log.open("ab") as out:
        return subprocess.run(
            words, check=False, cwd=tree, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=safe
        ).returncode


def _text(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")
