# SPDX-License-Identifier: BSD-2-Clause
"""What caches are worth: every circle on the Rocket core with 16 KiB and with 4 KiB caches, and
what carries the rest.

The two bundles may be given; otherwise both suites are measured, for some ten minutes each on two
cores.
"""

from __future__ import annotations

import statistics
import sys
from fractions import Fraction
from pathlib import Path

import board

from cyclometer.bundle import store
from cyclometer.compare.matrix import MatrixRow, matrix
from cyclometer.compare.pairing import Side, side
from cyclometer.explain.difference import Difference, PartChange, difference
from cyclometer.explain.explanation import explain
from cyclometer.explain.sources import trace
from cyclometer.targets.api import SILENT, Request
from cyclometer.targets.rocket.target import CoreTarget, rocket, rocket_small

BOARDS = (rocket(), rocket_small())
TIMED = {"turns, many in a row": "accumulated", "passes, each alone": "direct"}
MOST = 8  # rows that moved most, and as many that moved least
EXPLAINED = (
    "floor.crossing.user",
    "thread.yield.round_trip.u_to_u.cross",
    "semaphore.give.wake+ctx.u_to_u",
    "endpoint.round_trip.words_0.same",
    "endpoint.round_trip.words_0.cross",
    "endpoint.round_trip.words_10.cross",
    "microkit.ppcall.cross",
    "microkit.notify.cross",
)
CHARGED = {
    "caches": ("icache", "dcache", "store"),
    "TLBs": ("tlb",),
    "prediction": ("branch",),
    "multiplier": ("muldiv",),
}


def measured(target: CoreTarget) -> Side:
    """All circles, as `cyclometer run --quick` measures them."""
    return side([target.measure(Request(quick=True), {}, SILENT).bundle])


def laid(sides: tuple[Side, Side]) -> dict[str, str]:
    """The tables of ratios: by class of row, and of the rows that moved most and least."""
    found = matrix(dict(zip((b.name for b in BOARDS), sides, strict=True)), across={"target": None})
    means = [
        (name, mean[1].rows, f"{mean[1].ratio:.2f}")
        for name, mean in found.means.items()
        if mean[1].ratio
    ]
    moved = sorted((row for row in found.rows if ratio(row)), key=ratio, reverse=True)
    timed = [
        (name, [ratio(row) for row in moved if method(row) == word]) for name, word in TIMED.items()
    ]
    means[1:1] = [
        (name, len(ratios), f"{statistics.geometric_mean(ratios):.2f}") for name, ratios in timed
    ]
    header = ["row", "rocket", "rocket-small", "ratio"]
    return {
        "classes": board.table(["class of rows", "rows", "geometric mean of the ratios"], means),
        "most": board.table(header, map(line, moved[:MOST])),
        "least": board.table(header, map(line, moved[-MOST:])),
    }


def ratio(row: MatrixRow) -> float:
    """What the row costs on the small core, where the other one is 1; 0 where a board has no valid
    latency.
    """
    finding = row.findings[1]
    return 0.0 if finding is None or finding.change is None else 1 + finding.change


def method(row: MatrixRow) -> str:
    """How the row was timed."""
    return next(cell.estimate.method for cell in row.cells if cell)


def line(row: MatrixRow) -> tuple[str, ...]:
    """A row with both latencies."""
    values = [cell.estimate.latency.value for cell in row.cells if cell and cell.estimate.latency]
    return f"`{row.contract.key}`", *(f"{value:.4g}" for value in values), f"{ratio(row):.2f}"


def explained(key: str) -> Difference:
    """What `cyclometer explain --diff rocket rocket-small` finds."""
    request = Request(only=(key,))
    before, after = (
        explain(trace(b, request, [key], steady_only=True)[key]["steady"]) for b in BOARDS
    )
    return difference(before, after)


def charged(change: PartChange) -> tuple[str, ...]:
    """Both turns, and the change by what of the core causes it; the parts sum to the change."""
    of = {cause: part for part, causes in CHARGED.items() for cause in causes}
    parts = dict.fromkeys((*CHARGED, "other"), Fraction(0))
    for cause, cycles in change.by_cause.items():
        parts[of.get(cause, "other")] += cycles
    return tuple(
        f"{float(n):.4g}" for n in (change.before, change.after, change.change, *parts.values())
    )


def carried() -> str:
    """Which parts of the core carry the difference of some rows, in cycles per turn."""
    header = ["row", "rocket", "rocket-small", "change", *CHARGED, "other"]
    return board.table(header, [(f"`{key}`", *charged(explained(key).whole)) for key in EXPLAINED])


def main(bundles: list[str]) -> None:
    """Writes the page's tables."""
    given = [side([store.read(Path(path))]) for path in bundles]
    before, after = given or [measured(target) for target in BOARDS]
    board.write("caches.md", **laid((before, after)), carried=carried())


if __name__ == "__main__":
    main(sys.argv[1:])
