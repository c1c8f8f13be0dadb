# SPDX-License-Identifier: BSD-2-Clause
"""What a turn of every circle of Debian's kernel costs on the RTL of the Rocket core: instructions,
cycles, and what the cycles went to.

    python tools/experiments/linux_on_rtl.py FOLDER

One boot serves all circles, and each is moved to the core by itself. Rows are kept in FOLDER as
they come, so that an interrupted experiment resumes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import board

from cyclometer.errors import CyclometerError
from cyclometer.explain.evidence import Evidence
from cyclometer.explain.explanation import explain
from cyclometer.explain.sources import trace
from cyclometer.record.schema import Failed, Skipped
from cyclometer.targets.api import Request
from cyclometer.targets.rocket_linux.target import (
    RocketLinuxTarget,
    guest_of,
    prove,
    turn_costs,
)

KERNEL = "debian@trixie:linux-image-6.12*-riscv64"
TARGET = RocketLinuxTarget()
AT_ONCE = 20  # circles that share a proof, and whose traces are held in memory
BOUND_S = 900  # of a circle
MOST_INSTRUCTIONS = 350_000  # of a turn; the simulator takes a minute for ten such turns
NAMED = ("issue", "icache", "dcache", "tlb", "branch")  # causes with a column

Row = dict[str, Any]  # `refused`: why there is none, or the figures of a turn


def measure(keys: Sequence[str], folder: Path) -> None:
    """Puts a row for each circle into FOLDER."""
    for first in range(0, len(keys), AT_ONCE):
        chunk = keys[first : first + AT_ONCE]
        began_s = cpu_s()
        rows = explained(chunk)
        for key in chunk:
            shared = {"circle": key, "cpu_s": (cpu_s() - began_s) / len(chunk)}
            (folder / f"{key}.json").write_text(json.dumps(rows[key] | shared))
        publish(folder)


def refused(keys: Sequence[str], folder: Path) -> dict[str, Row]:
    """Circles that are not moved, and why: one boot of QEMU tells what a turn of each takes."""
    file = folder / "refused"
    if not file.exists():
        guest = guest_of(Request(kernel=KERNEL))
        records = prove(guest, keys, BOUND_S).records
        costs = turn_costs(records)
        why = {r.circle: r.reason for r in records if isinstance(r, Failed | Skipped)}
        why |= {key: "its test never came" for key in keys if key not in {*why, *costs}}
        why |= {
            key: f"a turn is {cost:,.0f} instructions, minutes of simulation"
            for key, cost in costs.items()
            if cost > MOST_INSTRUCTIONS
        }
        file.write_text(json.dumps({key: {"circle": key, "refused": why[key]} for key in why}))
    found: dict[str, Row] = json.loads(file.read_text())
    return found


def explained(keys: Sequence[str]) -> dict[str, Row]:
    """Rows by circle; where one of them ends all, they are taken apart until it is found."""
    request = Request(only=tuple(keys), config={"kernel": KERNEL}, watchdog_s=BOUND_S)
    untraced: list[str] = []
    try:
        found = trace(TARGET, request, keys, steady_only=True, untraced=untraced)
    except CyclometerError as error:
        if len(keys) == 1:
            return {keys[0]: {"refused": str(error)}}
        half = len(keys) // 2
        return explained(keys[:half]) | explained(keys[half:])
    return {key: row(key, found[key].get("steady"), untraced) for key in keys}


def row(key: str, evidence: Evidence | None, untraced: Sequence[str]) -> Row:
    """The figures of a steady turn, as `cyclometer explain` prints them."""
    if evidence is None:
        why = next((said for said in untraced if f" {key} " in said), "no test of it came")
        return {"refused": why.partition("to explain: ")[2] or why}
    try:
        turn = explain(evidence)
    except CyclometerError as error:
        return {"refused": str(error)}
    cycles = turn.whole.total
    return {
        "cycles": float(turn.length),
        "instructions": float(turn.a_turn(turn.whole.instructions)),
        "exact": turn.turn.exact,
        "causes": {cause: n / cycles for cause, n in turn.whole.by_cause.items()},
    }


def cpu_s() -> float:
    """Of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def line(of: Row) -> tuple[str, ...]:
    causes, cycles = of["causes"], of["cycles"]
    others = 1 - sum(causes.get(name, 0) for name in NAMED)
    shares = (f"{100 * share:.0f} %" for share in (*(causes.get(n, 0) for n in NAMED), others))
    cpi = f"{cycles / of['instructions']:.2f}"
    return f"`{of['circle']}`", f"{of['instructions']:,.0f}", f"{cycles:,.0f}", cpi, *shares


def publish(folder: Path) -> None:
    """Writes the page's tables, of the rows that there are."""
    rows = [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]
    kept = [one for one in rows if "refused" not in one]
    cost_s = sum(one["cpu_s"] for one in rows)
    rows += json.loads((folder / "refused").read_text()).values()
    refused = sorted((one["circle"], one["refused"]) for one in rows if "refused" in one)
    print(f"{len(kept)} rows, {len(refused)} refused, {cost_s:.0f} s of CPU", file=sys.stderr)
    header = ("circle", "instructions", "cycles", "CPI", *NAMED, "other")
    board.write(
        "linux-on-rtl.md",
        circles=board.table(header, map(line, kept)),
        refused=board.table(("circle", "why"), [(f"`{key}`", why) for key, why in refused]),
    )


def main(folder: Path) -> None:
    """Measures what FOLDER does not have yet."""
    folder.mkdir(parents=True, exist_ok=True)
    TARGET.build()  # so that no row is charged with it
    keys = sorted(contract.key for contract in TARGET.circles()[1])
    left = refused(keys, folder)
    measure([k for k in keys if k not in left and not (folder / f"{k}.json").exists()], folder)
    publish(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
