# SPDX-License-Identifier: BSD-2-Clause
"""Seed 002 on the Rocket core: what reading mtime instead of rdtime saves, with and without mcs, to the cycle."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import board

from cyclometer.explain.difference import Change, Difference, difference

ROWS = Path(__file__).resolve().parents[2] / "tests" / "data" / "seed-002-rows.tsv"
SIGNAL = "notification.signal.wake+ctx.prio_1.u_to_u.same"
TIMERS = ("rdtime", "mtime")  # before, after
MOST = 12  # functions that are told; the others are one line


def seed_rows() -> list[tuple[str, str]]:
    """The seed's name of each row, and the circle's."""
    with ROWS.open(encoding="utf-8") as file:
        lines = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        return [(line["row"].replace("|", " "), line["key"]) for line in lines]


def changes(mcs: str) -> str:
    """Each row with rdtime and with mtime, and the change against rdtime."""
    named = seed_rows()
    before, after = (board.latencies({"mcs": mcs, "timer": timer}, [key for _, key in named]) for timer in TIMERS)
    rows = [
        (name, f"`{key}`", f"{before[key]:.4g}", f"{after[key]:.4g}", f"{after[key] / before[key] - 1:+.2%}")
        for name, key in named
    ]
    return board.table(["row of the seed", "circle", "rdtime", "mtime", "change"], rows)


def carried() -> Difference:
    """What `cyclometer explain --diff` finds for the signal."""
    before, after = (board.explained({"mcs": "on", "timer": timer}, SIGNAL) for timer in TIMERS)
    return difference(before, after)


def of_which(change: Change) -> str:
    """The three causes that changed most."""
    return ", ".join(f"{cause} {float(cycles):+.4g}" for cause, cycles in list(change.by_cause.items())[:3])


def lines(changed: Iterable[Change]) -> list[tuple[str, ...]]:
    """A row for each name."""
    return [
        (one.name, *(f"{float(n):.4g}" for n in (one.before, one.after)), f"{float(one.change):+.4g}", of_which(one))
        for one in changed
    ]


def functions(found: Difference) -> list[tuple[str, ...]]:
    """Those that changed most, and what all others changed."""
    rest = sum((one.change for one in found.functions[MOST:]), Fraction(0))
    return [*lines(found.functions[:MOST]), ("all others", "", "", f"{float(rest):+.4g}", "")]


if __name__ == "__main__":
    signal = carried()
    header = ["rdtime", "mtime", "difference", "of which, largest first"]
    board.write(
        "seed-002.md",
        mcs_on=changes("on"),
        mcs_off=changes("off"),
        modes=board.table(["mode", *header], lines([*signal.modes, signal.whole])),
        functions=board.table(["function", *header], functions(signal)),
    )
