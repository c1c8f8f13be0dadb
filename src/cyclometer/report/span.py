# SPDX-License-Identifier: BSD-2-Clause
"""The paths between two addresses of an image, on a terminal and as JSON."""

from __future__ import annotations

from statistics import median

from rich import box
from rich.table import Table

from cyclometer.explain.span import Path, extra, parts_at
from cyclometer.record.span import Spanned, Wanted
from cyclometer.report.comparison import paper
from cyclometer.report.documents.explained import ExecutedPath, ExecutedPaths
from cyclometer.report.explanation import options

_MOST = 20  # paths that a terminal shows; JSON has all
_FUNCTIONS = 3


def show(found: ExecutedPaths) -> None:
    """Prints the paths, the most frequent first, each against the first."""
    console = paper()
    every = sorted(length for path in found.paths for length in path.lengths)
    title = Wanted(found.start, found.stop).title
    for words in (
        f"{len(every)} windows {title}, by {len(found.paths)} paths",
        f"  on {found.target}, {options(found.configuration)}",
        f"  {_spread(every)} {found.unit}; the boot {found.ended}",
    ):
        console.print(words, soft_wrap=True)
    console.print(_table(found))
    if len(found.paths) > _MOST:
        more = len(found.paths) - _MOST
        console.print(f"  and {more} paths more; --json has all", soft_wrap=True)
    if any(path.interrupted for path in found.paths):
        console.print("  i: an interrupt came between", soft_wrap=True)


def _table(found: ExecutedPaths) -> Table:
    cycles = found.unit != "instructions"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for name in ("path", "windows", "first", "instructions", *[found.unit] * cycles):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("leaves path 1 behind; instructions more or fewer", overflow="fold")
    for number, path in enumerate(found.paths[:_MOST], 1):
        mark = "i" if path.interrupted else ""
        cells = [f"{mark}{number}", str(len(path.lengths)), f"#{path.first}"]
        cells += [str(path.instructions), *[_spread(sorted(path.lengths))] * cycles]
        table.add_row(*cells, _difference(path) if number > 1 else "")
    return table


def _difference(path: ExecutedPath) -> str:
    functions = list(path.functions.items())
    changed = ", ".join(f"{name} {count:+d}" for name, count in functions[:_FUNCTIONS])
    more = f", {len(functions) - _FUNCTIONS} more" if len(functions) > _FUNCTIONS else ""
    return f"{path.leaves}; {changed or 'as many in each'}{more}"


def _spread(lengths: list[int]) -> str:
    """Least, median and largest; one number where they are one."""
    if lengths[0] == lengths[-1]:
        return str(lengths[0])
    return f"{lengths[0]} / {median(lengths):g} / {lengths[-1]}"


def as_json(target: str, spanned: Spanned, wanted: Wanted, found: list[Path]) -> ExecutedPaths:
    """The document that `show` prints: all paths, with the length of each window."""
    return ExecutedPaths(
        target=target,
        configuration=dict(spanned.settings),
        unit=spanned.clock.unit,
        start=wanted.start,
        stop=wanted.stop,
        skipped=wanted.skip,
        ended=spanned.ended,
        paths=[
            ExecutedPath(
                first=path.first,
                instructions=len(path.steps),
                interrupted=path.interrupted,
                lengths=path.lengths,
                leaves=parts_at(found[0], path, spanned.places) if path is not found[0] else "",
                functions=dict(extra(found[0], path, spanned.places)),
            )
            for path in found
        ],
    )
