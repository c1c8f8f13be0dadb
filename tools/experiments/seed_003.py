# SPDX-License-Identifier: BSD-2-Clause
"""Seed 003 on the Rocket core: an immediate brand, summed by hand as the seed does, and by what was executed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import board

WHOLE = "brand.upcall.immediate.cross"
HALVES = ("brand.upcall.immediate.start.cross", "brand.upcall.immediate.complete.cross")
HARDWARE = ("hardware.crossing.two", "hardware.crossing.two.satp_2", "hardware.crossing.two.satp_2.flush")


def by_hand() -> str:
    """The seed's sum with our figures: the two halves, the hardware, and what is left over."""
    found = board.latencies({}, [WHOLE, *HALVES, *HARDWARE])
    rows = [(f"`{key}`", f"{found[key]:.4g}") for key in (*HALVES, *HARDWARE, WHOLE)]
    halves, hardware = sum(found[key] for key in HALVES), found[HARDWARE[-1]]
    rows += [("the two halves", f"{halves:.4g}")]
    rows += [("less the whole turn: counted twice", f"{halves - found[WHOLE]:+.4g}")]
    rows += [("the turn less its hardware: the software's", f"{found[WHOLE] - hardware:.4g}")]
    return board.table(["term", "cycles"], rows)


def executed() -> str:
    """The same turn from a traced test of eight, a turn: by mode and cause."""
    turns = int(board.FLOW["initial"])
    with tempfile.TemporaryDirectory() as folder:
        found = board.parts(board.traced({}, WHOLE, Path(folder))[-1])
    rows = [(f"{mode}: {cause}", f"{n / turns:.1f}") for (mode, cause), n in found.most_common() if n]
    return board.table(["mode and cause", "cycles a turn"], [*rows, ("sum", f"{found.total() / turns:.1f}")])


if __name__ == "__main__":
    board.write("seed-003.md", by_hand=by_hand(), executed=executed())
