# SPDX-License-Identifier: BSD-2-Clause
"""docs/catalogue.md says what the circles' contracts say now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import catalogue
from findings import run


def check(root: Path) -> Iterator[str]:
    yield from compare(root, catalogue.render(catalogue.listed()))


def compare(root: Path, wanted: str) -> Iterator[str]:
    page = root / catalogue.PAGE
    written = page.read_text().splitlines() if page.exists() else []
    lines = wanted.splitlines()
    if written != lines:
        same = sum(1 for _ in _common_head(written, lines))
        yield f"{catalogue.PAGE}:{same + 1}: is not what the contracts say; run `make catalogue`"


def _common_head(first: list[str], second: list[str]) -> Iterator[str]:
    for one, other in zip(first, second, strict=False):
        if one != other:
            return
        yield one


if __name__ == "__main__":
    run(check)
