# SPDX-License-Identifier: BSD-2-Clause
"""One kernel on two cores: where the cycles of a steady turn go on Rocket and on CVA6, with and
without identifiers of address spaces.

A boot a line of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import board

from cyclometer.explain.explanation import Explanation, explain
from cyclometer.explain.sources import trace
from cyclometer.targets.api import Request
from cyclometer.targets.rocket.target import CoreTarget, cva6, rocket

# Round trips, and what sel4bench times one way.
KEYS = (
    "endpoint.round_trip.words_0.same",
    "endpoint.round_trip.words_0.cross",
    "endpoint.round_trip.words_10.cross",
    "notification.round_trip.low_to_high.u_to_u.same",
    "thread.yield.round_trip.u_to_u.cross",
    "endpoint.call.words_0.cross",
    "endpoint.reply_receive.words_0.cross",
    "notification.signal.wake+ctx.prio_1.u_to_u.same",
)
CHARGED = {
    "issue": ("issue",),
    "caches": ("icache", "dcache", "store"),
    "TLBs": ("tlb",),
    "prediction": ("branch",),
    "traps, CSRs": ("trap", "csr"),
    "uncached": ("mmio",),
    "results": ("interlock", "muldiv"),
    "unattributed": ("unattributed",),
}
HEADER = ("row", "core", "instructions", "cycles", *CHARGED)


def turns(target: CoreTarget, config: board.Config, keys: Sequence[str]) -> list[Explanation]:
    """A steady turn of each row, as `cyclometer explain --target ... --config ...` explains it."""
    request = Request(only=tuple(keys), config=config)
    found = trace(target, request, keys, steady_only=True)
    return [explain(found[key]["steady"]) for key in keys]


def line(name: str, result: Explanation) -> tuple[str, ...]:
    """Instructions and cycles of a turn, and the cycles by what of the core takes them, which sum
    to them.
    """
    spent = result.whole.by_cause
    parts = [sum(spent.get(cause, 0) for cause in causes) for causes in CHARGED.values()]
    figures = (result.whole.instructions, result.whole.total, *parts)
    key = result.facts.contract.key
    return f"`{key}`", name, *(f"{float(result.a_turn(n)):.4g}" for n in figures)


def beside(columns: Mapping[str, tuple[CoreTarget, board.Config]], keys: Sequence[str]) -> str:
    """The lines of each row together."""
    explained = {name: turns(*column, keys) for name, column in columns.items()}
    rows = [
        line(name, result[place])
        for place in range(len(keys))
        for name, result in explained.items()
    ]
    return board.table(HEADER, rows)


if __name__ == "__main__":
    columns = {
        "rocket": (rocket(), {}),
        "cva6, asid=off": (cva6(), {"asid": "off"}),
        "cva6, asid=on": (cva6(), {"asid": "on"}),
    }
    board.write("cores.md", cores=beside(columns, KEYS))
