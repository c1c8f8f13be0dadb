# SPDX-License-Identifier: BSD-2-Clause
"""The pages of the catalogue say what the circles' contracts say now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import catalogue
from findings import run


def check(root: Path) -> Iterator[str]:
    yield from compare(root, catalogue.render(catalogue.listed()))


def compare(root: Path, wanted: Mapping[str, str]) -> Iterator[str]:
    for name, text in wanted.items():
        page = root / name
        written = page.read_text().splitlines() if page.exists() else []
        lines = text.splitlines()
        if written != lines:
            same = sum(1 for _ in _common_head(written, lines))
            yield f"{name}:{same + 1}: is not what the contracts say; run `make catalogue`"
    for page in sorted((root / catalogue.FOLDER).glob("*.md")):
        if (name := str(page.relative_to(root))) not in wanted:
            yield f"{name}:1: no contract is of this family; run `make catalogue`"


def _common_head(first: list[str], second: list[str]) -> Iterator[str]:
    for one, other in zip(first, second, strict=False):
        if one != other:
            return
        yield one


if __name__ == "__main__":
    run(check)
