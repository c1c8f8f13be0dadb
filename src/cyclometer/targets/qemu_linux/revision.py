# SPDX-License-Identifier: BSD-2-Clause
"""A kernel built from a git revision of the tree at hand, in a worktree of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cyclometer.errors import MeasurementFailed, UsageError

_IMAGES = ("arch/x86/boot/bzImage", "arch/arm64/boot/Image", "arch/riscv/boot/Image")
_TAIL_BYTES = 300


def is_revision(name: str) -> bool:
    """Whether git knows a commit of that name here."""
    return bool(_git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"))


@contextmanager
def built(revision: str, command: str, folder: Path) -> Iterator[Path]:
    """The image that a shell `command` builds of a revision, checked out into `folder`; git forgets
    the worktree afterwards.

    Raises UsageError without the revision, MeasurementFailed if the build fails or makes no
    image.
    """
    commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if not commit:
        raise UsageError(
            f"{revision} is neither a file nor a commit of the git tree here; name an image, "
            "debian:PACKAGE, or run in the kernel's tree"
        )
    tree = folder / "tree"
    if _git("worktree", "add", "--detach", str(tree), commit) is None:
        raise MeasurementFailed(
            f"git cannot check {revision} out into {tree}; try `git worktree add`"
        )
    try:
        yield _image(revision, command, tree)
    finally:
        _git("worktree", "remove", "--force", str(tree))


def _image(revision: str, command: str, tree: Path) -> Path:
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tree,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        said = done.stdout[-_TAIL_BYTES:].decode(errors="replace").strip()
        raise MeasurementFailed(f"{revision}: --build ended with {done.returncode}: {said!r}")
    for name in _IMAGES:
        if (tree / name).is_file():
            return tree / name
    raise MeasurementFailed(f"{revision}: --build made none of {', '.join(_IMAGES)}")


def _git(*words: str) -> str | None:
    """What git prints; None if it fails."""
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
