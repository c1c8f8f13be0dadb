# SPDX-License-Identifier: BSD-2-Clause
"""CHANGELOG.md, pyproject.toml, `__version__` and the kernel name the same version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from findings import run

PLACES = {
    "pyproject.toml": r'^version = "([^"]+)"',
    "src/cyclometer/__init__.py": r'^__version__ = "([^"]+)"',
    "CHANGELOG.md": r"^## (\d\S*)",
    "kernel/Makefile": r'BUILD_VERSION "([^"]+)"',
}


def check(root: Path) -> Iterator[str]:
    versions = {}
    for path, pattern in PLACES.items():
        found = re.search(pattern, (root / path).read_text(), re.M)
        if found is None:
            yield f"{path}:1: names no version where `{pattern}` would find it"
        else:
            versions[path] = found[1]
    if len(set(versions.values())) > 1:
        yield (
            ", ".join(f"{path} says {version}" for path, version in versions.items())
            + ": make them agree"
        )


if __name__ == "__main__":
    run(check)
