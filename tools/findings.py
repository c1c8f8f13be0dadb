# SPDX-License-Identifier: BSD-2-Clause
"""What all checks share: the source files of a tree, C without its comments, and how findings are
printed.

A check is a function of the tree's root that yields one line a finding, `path:line: what is wrong`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
Check = Callable[[Path], Iterable[str]]

_NOT_OURS = {"build", "results", "dist", "__pycache__"}


def sources(
    root: Path, *suffixes: str, under: tuple[str, ...] = ("",)
) -> Iterator[tuple[str, str]]:
    """(path, content) of every file that ends with one of `suffixes` in the folders `under`; paths
    use `/`.
    """
    for top in under:
        for folder, folders, names in os.walk(root / top):
            folders[:] = sorted(
                name for name in folders if name not in _NOT_OURS and _is_visible(name)
            )
            for name in sorted(names):
                if name.endswith(suffixes):
                    path = Path(folder, name)
                    yield path.relative_to(root).as_posix(), path.read_text(errors="replace")


def _is_visible(folder: str) -> bool:
    return not folder.startswith(".") or folder == ".ci"


_COMMENT_OR_TEXT = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S
)


def c_code(content: str) -> str:
    """C without comments and with empty literals; line numbers stay."""

    def blank(match: re.Match[str]) -> str:
        quote = match[0][0]
        return "\n" * match[0].count("\n") if quote == "/" else quote + quote

    return _COMMENT_OR_TEXT.sub(blank, content)


def line_of(content: str, position: int) -> int:
    """The line, from 1, of a position in a file's content."""
    return content.count("\n", 0, position) + 1


def run(*checks: Check) -> None:
    """Print what the checks find in this tree and end the program: 0 for nothing, 1 for
    anything.
    """
    found = [finding for check in checks for finding in check(ROOT)]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
