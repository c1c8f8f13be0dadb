# SPDX-License-Identifier: BSD-2-Clause
"""Builds and boots configurations side by side: each option must cost where theory says, and
nowhere else.
"""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from run import Record, boot, failures, records

KERNEL = Path(__file__).resolve().parent.parent
FLOW = "initial=4 delta=4 groups=2 tests=1 passes=2"


@dataclass(frozen=True)
class Row:
    """One circle in one configuration: its contract, instructions per turn, corrected, and counter
    deltas a turn.
    """

    contract: Record
    cost: float
    counts: dict[str, int]
    drained: bool  # what it counts lies in part outside its interval, and explains no cost

    @property
    def partial(self) -> bool:
        """Whether the interval holds a part of the turn alone, so that what is counted may lie
        outside.
        """
        return bool(self.contract["interval"]["kind"] == "half")


def measure(options: str) -> dict[str, Row]:
    """Return every row of a configuration, given as make variables, by key."""
    variables = options.split()
    make = ["make", "--no-print-directory", "-s", "-C", str(KERNEL), *variables]
    subprocess.run([*make, "all"], check=True)
    name = subprocess.run(
        [*make, "name"], check=True, capture_output=True, text=True
    ).stdout.strip()
    machine = next((v.removeprefix("board=") for v in variables if v.startswith("board=")), "virt")
    found = records(boot(machine, KERNEL / name / "kernel.elf", FLOW))
    contracts = {r["contract"]["key"]: r["contract"] for r in found if r["kind"] == "circle"}
    overheads = {r["circle"]: r["values"][-1] for r in found if r["kind"] == "overhead"}
    rows: dict[str, Row] = {}
    drained = {
        r["contract"]["key"]
        for r in found
        if r["kind"] == "circle" and "drain" in r["contract"]["params"]
    }
    groups = [r for r in found if r["kind"] in ("group", "pass")]
    for record in groups:
        key, turns, value = record["circle"], record["turns"], record["values"][-1]
        first = next(r for r in groups if r["circle"] == key)
        if record is not first:
            cost = (value - first["values"][-1]) / (turns - first["turns"])
        else:
            cost = value / turns - overheads.get(key, 0)
        counts = {name: deltas[-1] // turns for name, deltas in record["counters"].items()}
        rows[key] = Row(contracts[key], cost, counts, key in drained)
    return rows


def expect_rows(
    title: str, before: dict[str, Row], after: dict[str, Row], law: Callable[[Row, Row], str | None]
) -> None:
    """Hold every row of both configurations against the law, which names what is wrong, if
    anything.
    """
    common = {key for key in before.keys() & after.keys() if not before[key].drained}
    changed = 0
    for key in sorted(common):
        wrong = law(before[key], after[key])
        changed += before[key].cost != after[key].cost
        if wrong is not None:
            failures.append(f"{title}: {key}: {before[key].cost:g} -> {after[key].cost:g}: {wrong}")
    if not common:
        failures.append(f"{title}: no rows in common")
    print(f"{title}: {changed} of {len(common)} rows change")


def costs_only(counter: str) -> Callable[[Row, Row], str | None]:
    """Return the law that a row costs more exactly where it has the counter."""

    def law(before: Row, after: Row) -> str | None:
        if after.counts[counter] == 0:
            return None if after.cost == before.cost else f"changes without any {counter}"
        if after.partial:
            return None if after.cost >= before.cost else f"costs less, with {counter}"
        return None if after.cost > before.cost else f"does not cost more, with {counter}"

    return law


def saves_only(counter: str) -> Callable[[Row, Row], str | None]:
    """Return the law that a row costs less exactly where it has the counter."""
    costs = costs_only(counter)
    return lambda before, after: costs(after, before)


def changes_only(counter: str) -> Callable[[Row, Row], str | None]:
    """Return the law that a row's cost changes exactly where it has the counter, whichever way."""

    def law(before: Row, after: Row) -> str | None:
        wrong = (before.cost != after.cost) != (after.counts[counter] != 0)
        return f"changes without {counter}, or has them and does not" if wrong else None

    return law


def canaries_cost_calls(before: Row, after: Row) -> str | None:
    """Hold that whatever calls the kernel costs more, and the rig's own loop does not."""
    if after.contract["sequence"]:
        return None if after.cost > before.cost else "does not cost more"
    return None if after.cost == before.cost else "changes without a call"


def check_spaces(rows: dict[str, Row]) -> None:
    """Hold that a row across spaces costs more than its twin in one space."""
    pairs = [(key, key.removesuffix(".same") + ".cross") for key in rows if key.endswith(".same")]
    for same, cross in pairs:
        if rows[cross].cost <= rows[same].cost:
            failures.append(f"{cross}: {rows[cross].cost:g}, and {rows[same].cost:g} in one space")
    print(f"across spaces: {len(pairs)} pairs compared")


# Each row costs more than the one before it.
LADDERS = [
    [
        "hardware.crossing.one",
        "hardware.crossing.two",
        "hardware.crossing.two.satp_1",
        "hardware.crossing.two.satp_2",
    ],
    [
        "hardware.crossing.two.satp_1",
        "hardware.crossing.two.satp_1.flush",
        "hardware.crossing.two.satp_2.flush",
    ],
    ["hardware.crossing.two", "floor.crossing.user", "component.invoke.same"],
    [
        "brand.upcall.pend",
        "brand.upcall.delayed",
        "brand.upcall.immediate.same",
        "brand.upcall.mediated.run_now.same",
    ],
    ["brand.upcall.delayed", "brand.upcall.mediated.declined.same"],
    ["component.upcall.same", "brand.upcall.immediate.same"],
    ["scheduler.switch.bare.same", "scheduler.switch.run_queue"],
    ["microkit.ppcall.cross", "microkit.notify.cross"],
    [f"microkit.notify{how}.cross" for how in ("", "_bare_coroutine_wait", "_coroutine_wait")],
]
LADDERS_ACCOUNTED = [
    [
        "scheduler.switch.bare.same",
        *(f"scheduler.switch.accounted.levels_{n}" for n in (1, 2, 3, 4)),
    ],
    ["scheduler.switch.run_queue", "scheduler.switch.run_queue.accounted"],
]


def check_ladders(rows: dict[str, Row], ladders: list[list[str]]) -> None:
    """Hold that every row of a ladder costs more than the one before it."""
    for ladder in ladders:
        for lower, upper in pairwise(ladder):
            if rows[upper].cost <= rows[lower].cost:
                failures.append(f"{upper}: {rows[upper].cost:g}, and {lower} {rows[lower].cost:g}")
    print(f"{len(ladders)} ladders climbed")


def main() -> int:
    """Check every direction; exit 1 with a sentence for each that does not hold."""
    base = measure("board=virt")
    check_spaces(base)
    check_ladders(base, LADDERS)
    # A flush is one instruction; what it costs afterwards, in TLB misses, only a clock of cycles
    # shows.
    expect_rows("asid=off", base, measure("board=virt asid=off"), changes_only("space_switches"))
    expect_rows("objcore=on", base, measure("board=virt objcore=on"), costs_only("switches"))
    expect_rows("canaries=on", base, measure("board=virt canaries=on"), canaries_cost_calls)
    accounted = measure("board=virt accounting=on")
    expect_rows("accounting=on", base, accounted, costs_only("switches"))
    check_ladders(accounted, LADDERS_ACCOUNTED)
    unleashed = measure("board=sifive_u")
    expect_rows(
        "timer=mtime", unleashed, measure("board=sifive_u timer=mtime"), saves_only("time_reads")
    )
    mcs = measure("board=sifive_u mcs=on")
    expect_rows(
        "mcs=on timer=mtime",
        mcs,
        measure("board=sifive_u mcs=on timer=mtime"),
        saves_only("time_reads"),
    )
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
