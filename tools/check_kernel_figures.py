# SPDX-License-Identifier: BSD-2-Clause
"""The instructions in kernel/README.md's tables are those that tests/data/kernel-counts.tsv keeps.

A row names a circle, or the beginning of several; `N` in it stands for any part of a key. A figure
in brackets is that of `cross`. Figures are whole; the kept counts round to them. A circle that only
accounting=on has is counted with it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from findings import run

PAGE, TABLE = "kernel/README.md", "tests/data/kernel-counts.tsv"
COLUMNS = {
    "default": "board=virt",
    "mcs=on": "board=virt mcs=on",
    "mcs=on, sifive_u": "board=sifive_u mcs=on",
    "and timer=mtime": "board=sifive_u mcs=on timer=mtime",
}


def check(root: Path) -> Iterator[str]:
    page = root / PAGE
    if page.exists():
        counts = _counts(root / TABLE)
        heads: list[str] = []
        for number, line in enumerate(page.read_text().splitlines(), 1):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not line.startswith("|"):
                heads = []
            elif "default" in cells and cells[0] == "row":
                heads = cells
            elif heads and cells[0].startswith("`"):
                yield from (f"{PAGE}:{number}: {what}" for what in _row(heads, cells, counts))


def _row(
    heads: list[str], cells: list[str], counts: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """What is wrong with the figures of a row."""
    name = cells[0].strip("`")
    pattern = re.compile(re.escape(name).replace("N", "[^.]+") + r"(\..+)?")
    rows = {key: row for key, row in counts.items() if pattern.fullmatch(key)}
    if not rows:
        yield f"no circle is called {name}"
        return
    for head, cell in zip(heads, cells, strict=True):
        for bracket, figure in re.findall(r"(\(?)(\d+)", cell) if head in COLUMNS else ():
            several = "(" in cell and cell[0] != "("
            kept = {
                _count(row, COLUMNS[head])
                for key, row in rows.items()
                if not several or ("cross" in key.split(".")) == bool(bracket)
            }
            if int(figure) not in kept:
                yield f"{name} takes {kept} instructions with {head}, not {figure}"


def _count(row: Mapping[str, str], configuration: str) -> int | None:
    """Of a circle that needs accounting, the count with it."""
    value = row[configuration]
    if value == "-":
        value = row.get(f"{configuration} accounting=on", "-")
    return None if value == "-" else round(float(value))


def _counts(path: Path) -> dict[str, dict[str, str]]:
    """Key -> configuration -> count."""
    lines = (line for line in path.read_text().splitlines() if not line.startswith("#"))
    return {row["key"]: row for row in csv.DictReader(lines, delimiter="\t")}


if __name__ == "__main__":
    run(check)
