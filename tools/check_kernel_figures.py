# SPDX-License-Identifier: BSD-2-Clause
"""The figures in kernel/README.md's tables are those that were measured.

Instructions are those that tests/data/kernel-counts.tsv keeps, cycles the ranges over layouts of
docs/experiments/layout.md, and what they have to beat is what a test on the RTL asserts.

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
LAYOUTS = "docs/experiments/layout.md"
ASSERTED = "tests/e2e/test_rocket_figures.py"
CYCLES = "mean warm cycles"
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
            elif cells[0] == "row":
                heads = cells
            elif heads and cells[0].startswith("`"):
                wrong = _cycles(root, cells) if CYCLES in heads else _row(heads, cells, counts)
                yield from (f"{PAGE}:{number}: {what}" for what in wrong)


def _cycles(root: Path, cells: list[str]) -> Iterator[str]:
    """What is wrong with a row of cycles: key, range over layouts, the most that a test allows."""
    name, printed, most = cells[0].strip("`"), cells[1], cells[2]
    if f'"{name}": {most},' not in (root / ASSERTED).read_text():
        yield f"{ASSERTED} does not assert that {name} takes {most} cycles at most"
    measured = re.findall(rf"^\| `{re.escape(name)}` \|(.+)\|$", (root / LAYOUTS).read_text(), re.M)
    ranges = {_range(row.split("|")) for row in measured}
    if ranges and printed not in ranges:
        yield f"{name} takes {' or '.join(sorted(ranges))} cycles over layouts, not {printed}"


def _range(figures: list[str]) -> str:
    """A row of the layouts' tables, which begins with the least and has the greatest after the
    mean, if it has a mean.
    """
    least, greatest = figures[0], figures[2 if len(figures) > 3 else 1]
    return f"{float(least):.0f} to {float(greatest):.0f}"


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
