# SPDX-License-Identifier: BSD-2-Clause
"""What this program asks of git, which is a program and not a library here."""

from __future__ import annotations

import subprocess
from pathlib import Path

from cyclometer.errors import UsageError
from cyclometer.text import plain


def git(root: Path, *words: str, stdin: str = "") -> str:
    """What git prints. Raises UsageError with its own words where it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words],
            check=False,
            input=stdin,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError as error:
        raise UsageError("git is not installed; install it and try again") from error
    if done.returncode:
        raise UsageError(f"git {words[0]} failed: {last_line(done.stderr)}")
    return done.stdout


def commit(root: Path, name: str) -> str:
    """The full hash of the commit that `name` means in the repository."""
    try:
        return git(
            root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        ).strip()
    except UsageError as error:
        raise UsageError(f"{name!r} is not a commit of the repository in {root}") from error


def subject(root: Path, name: str) -> str:
    """The first line of a commit's message."""
    return plain(git(root, "log", "-1", "--format=%s", name).strip())


def root(folder: Path) -> Path:
    """The top folder of the repository that `folder` is in."""
    return Path(git(folder, "rev-parse", "--show-toplevel").rstrip("\n"))


def last_line(text: str) -> str:
    """The last line that is not empty of what a program said, fit to be printed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return plain(lines[-1])[:300] if lines else "it said nothing"
