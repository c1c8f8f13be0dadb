# SPDX-License-Identifier: BSD-2-Clause
"""A function that a comment in C names, as `name()`, is in the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from findings import line_of, run, sources

# what comments may name although no file defines it
ALLOWED = {"sigqueue": "the C library's, of which the circle times the system call"}

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_FUNCTION = re.compile(r"\b([a-z]\w+)\(\)")
_FOLDERS = ("core", "linux", "kernel", "machines", "examples")


def check(root: Path) -> Iterator[str]:
    files = list(sources(root, ".c", ".h", ".S", ".cpp", ".def", under=_FOLDERS))
    known = {word for _, text in files for word in re.findall(r"\w+", _COMMENT.sub(" ", text))}
    for path, text in files:
        for comment in _COMMENT.finditer(text):
            for name in _FUNCTION.findall(comment[0]):
                if name not in known and name not in ALLOWED:
                    line = line_of(text, comment.start())
                    yield f"{path}:{line}: the comment names {name}(), which is not in the code"


if __name__ == "__main__":
    run(check)
