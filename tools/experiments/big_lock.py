# SPDX-License-Identifier: BSD-2-Clause
"""Is a big lock fine for a microkernel? Rows of one hart and between two Rocket cores, with fast
and slow memory, and how each hart fares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import board

from cyclometer.compare.matrix import MatrixRow, matrix
from cyclometer.compare.pairing import side
from cyclometer.explain.explanation import Explanation, explain
from cyclometer.explain.harts import IDLE, MISS, SPINNING
from cyclometer.explain.sources import trace
from cyclometer.record.schema import Flow
from cyclometer.targets.api import SILENT, Request
from cyclometer.targets.rocket.target import rocket_duo

SCHEMES = ("biglock", "fine")
MEMORY_CYC = (0, 20)
FLOW = Flow(initial=4, delta=4, groups=2, tests=2)
ONE_HART = (
    "endpoint.round_trip.words_0.same",
    "endpoint.round_trip.words_0.cross",
    "notification.round_trip.low_to_high.u_to_u.cross",
    "notification.signal.immediate.user",
    "semaphore.give.immediate.user",
    "thread.yield.preemptive.ctx.u_to_u",
)
TWO_HARTS = (
    "endpoint.round_trip.words_0.cross.other_cpu",
    "notification.round_trip.cross.other_cpu",
    "semaphore.round_trip.cross.other_cpu",
    "mutex.round_trip.cross.other_cpu",
    "thread.abort.running.user.from.user.other_cpu",
    "memory.shootdown.idle.other_cpu",
    "memory.shootdown.busy.other_cpu",
)
EXPLAINED = (
    "endpoint.round_trip.words_0.cross.other_cpu",
    "mutex.round_trip.cross.other_cpu",
    "thread.abort.running.user.from.user.other_cpu",
)


def rows(keys: Sequence[str], schemes: Sequence[str], memory_cyc: int) -> list[MatrixRow]:
    """What `cyclometer compare --across smp` pairs, a column for each scheme."""
    requests = {
        scheme: replace(request(scheme, keys), memory_latency_cyc=memory_cyc) for scheme in schemes
    }
    sides = {
        scheme: side([rocket_duo().measure(asked, {}, SILENT).bundle])
        for scheme, asked in requests.items()
    }
    return list(matrix(sides, across={"smp": None}).rows)


def request(scheme: str, keys: Sequence[str]) -> Request:
    """A boot of the reference kernel under a scheme."""
    config = {"smp": scheme}
    return Request(only=tuple(keys), config=config, flow=FLOW, quick=True)


def line(row: MatrixRow, memory_cyc: int) -> tuple[str, ...]:
    """A row with the cycles of each scheme, and all but the first as multiples of the first. Raises
    ValueError for a row without a valid latency.
    """
    found = [cell.estimate for cell in row.cells if cell and cell.estimate.valid]
    cycles = [e.latency.value for e in found if e.latency is not None]
    if len(cycles) < len(row.cells):
        raise ValueError(f"{row.contract.key} has no latency under every scheme")
    ratios = (f"{other / cycles[0]:.2f}" for other in cycles[1:])
    slower = f" memory +{memory_cyc}" if memory_cyc else ""
    return f"`{row.contract.key}`{slower}", *(f"{c:,.0f}" for c in cycles), *ratios


def measured(keys: Sequence[str], schemes: Sequence[str]) -> str:
    """The table of some rows, for each latency of the memory."""
    ratios = [f"{scheme} / {schemes[0]}" for scheme in schemes[1:]]
    return board.table(
        ["row", *schemes, *ratios],
        [line(row, cyc) for cyc in MEMORY_CYC for row in rows(keys, schemes, cyc)],
    )


def spent(scheme: str) -> dict[str, list[Explanation]]:
    """Both harts in a steady turn of each explained row, as `cyclometer explain --hart` tells."""
    found = trace(rocket_duo(), request(scheme, EXPLAINED), EXPLAINED, steady_only=True)
    return {key: [explain(found[key]["steady"], hart=n) for n in range(2)] for key in EXPLAINED}


def shares(key: str, scheme: str, harts: Sequence[Explanation]) -> tuple[str, ...]:
    """A turn's cycles, then of each hart its instructions and how long it waited, and for what."""
    client = harts[0]
    cells: list[float] = [float(client.length)]
    for lane, own in zip(client.harts, harts, strict=True):
        waited = [client.a_turn(lane.cycles(state)) for state in (IDLE, SPINNING, MISS)]
        cells += map(float, (own.a_turn(own.whole.instructions), *waited))
    return f"`{key}`", scheme, *(f"{cell:,.0f}" for cell in cells)


def explained() -> str:
    """Each row under both schemes, one below the other."""
    found = {scheme: spent(scheme) for scheme in SCHEMES}
    return board.table(
        ["row", "smp", "cycles", *of_harts()],
        [shares(key, scheme, found[scheme][key]) for key in EXPLAINED for scheme in found],
    )


def of_harts() -> Iterator[str]:
    """The heads of the columns of both harts."""
    for hart in range(2):
        for what in ("instructions", "idle", "spinning", "coherence"):
            yield f"{what} {hart}"


if __name__ == "__main__":
    board.write("big-lock.md", **{"one-hart": measured(ONE_HART, ("off", *SCHEMES))})
    board.write("big-lock.md", **{"two-harts": measured(TWO_HARTS, SCHEMES)})
    board.write("big-lock.md", spent=explained())
