# SPDX-License-Identifier: BSD-2-Clause
"""Every source file that is not empty names its licence in its first three lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from findings import run, sources

LINE = "SPDX-License-Identifier: BSD-2-Clause"
DATA = "tests/data/"  # files as other programs write them
SUFFIXES = (
    ".c",
    ".h",
    ".S",
    ".ld",
    ".py",
    ".sh",
    ".cpp",
    ".v",
    ".sv",
    ".js",
    ".css",
    "Makefile",
    ".mk",
    "/run",
)


def check(root: Path) -> Iterator[str]:
    for path, content in sources(root, *(suffix.lstrip("/") for suffix in SUFFIXES)):
        if (
            content
            and not path.startswith(DATA)
            and path.endswith(SUFFIXES)
            and not any(LINE in line for line in content.splitlines()[:3])
        ):
            yield f"{path}:1: has no `{LINE}` in its first three lines"


if __name__ == "__main__":
    run(check)
