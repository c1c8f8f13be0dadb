# SPDX-License-Identifier: BSD-2-Clause
"""Composite's brands on the Rocket core: an immediate brand, summed by hand as it does, and as
`explain` sums it.
"""

from __future__ import annotations

import board

from cyclometer.explain.explanation import Explanation

WHOLE = "brand.upcall.immediate.cross"
HALVES = ("brand.upcall.immediate.start.cross", "brand.upcall.immediate.complete.cross")
HARDWARE = (
    "hardware.crossing.two",
    "hardware.crossing.two.satp_2",
    "hardware.crossing.two.satp_2.flush",
)


def by_hand() -> str:
    """Composite's sum with our figures: its three terms, and how far from the whole they come."""
    found = board.latencies({}, [WHOLE, *HALVES, *HARDWARE])
    rows = [(f"`{key}`", f"{found[key]:.4g}") for key in (*HARDWARE, *HALVES, WHOLE)]
    software, hardware = sum(found[key] for key in HALVES), found[HARDWARE[-1]]
    rows += [("both halves and the hardware with two flushes", f"{software + hardware:.4g}")]
    rows += [("that sum less the whole turn", f"{software + hardware - found[WHOLE]:+.4g}")]
    return board.table(["term", "cycles"], rows)


def executed(turn: Explanation) -> str:
    """A turn by mode and cause."""
    rows = [
        (f"{mode.name}: {cause}", f"{float(turn.a_turn(count)):.4g}")
        for mode in turn.modes
        for cause, count in mode.by_cause.items()
    ]
    return board.table(
        ["mode and cause", "cycles per turn"], [*rows, ("sum", f"{float(turn.length):.4g}")]
    )


def floor(turn: Explanation) -> str:
    """The turn as its least hardware and the kernel's own share, which is Composite's question."""
    rows = [
        (
            share.name,
            f"{float(share.count):.4g}",
            f"{float(share.each):.4g}",
            f"{float(share.total):.4g}",
        )
        for share in turn.floor
    ]
    rows.append(("sum", "", "", f"{float(turn.length):.4g}"))
    return board.table(["share", "times", "each", "cycles per turn"], rows)


if __name__ == "__main__":
    brand = board.explained({}, WHOLE)
    board.write(
        "composite-brands.md", by_hand=by_hand(), floor=floor(brand), executed=executed(brand)
    )
