# SPDX-License-Identifier: BSD-2-Clause
"""sel4bench's report on the Rocket core: what reading mtime instead of rdtime saves, with and
without mcs, to the cycle.

`python tools/experiments/sel4bench_mtime.py` measures four layouts; with a STORE behind it, it
takes those of its sweep (sel4bench_mtime.toml) that are there with all four kernels.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path

import board

from cyclometer.compare.finding import Finding
from cyclometer.compare.pairing import Side, side
from cyclometer.compare.verdicts import compare
from cyclometer.errors import NothingMeasured
from cyclometer.explain.difference import Difference, PartChange, difference
from cyclometer.store import layout, transfer
from cyclometer.sweep import done, plan
from cyclometer.targets.api import SILENT, Request
from cyclometer.targets.rocket.target import rocket

ROWS = Path(__file__).resolve().parents[2] / "tests" / "data" / "rows-of-sel4bench.tsv"
PLAN = Path(__file__).with_suffix(".toml")
SIGNAL = "notification.signal.wake+ctx.prio_1.u_to_u.same"
TIMERS = ("rdtime", "mtime")  # before, after
LAYOUTS = ("0", "64", "516", "1088")  # what moving code alone does is the spread between them
MOST = 12  # functions that are told; the others are one line

Kernels = Mapping[tuple[str, str], Side]  # by mcs and timer


def report_rows() -> list[tuple[str, str]]:
    """The report's name of each row, and the circle's."""
    with ROWS.open(encoding="utf-8") as file:
        lines = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        return [(line["row"].replace("|", " "), line["key"]) for line in lines]


def measured() -> Kernels:
    """The rows' circles in every layout of four kernels, as `cyclometer run --quick` measures
    them.
    """
    keys = tuple(key for _, key in report_rows())
    found = {}
    for mcs in ("off", "on"):
        for timer in TIMERS:
            configs = [{"mcs": mcs, "timer": timer, "layout": shift} for shift in LAYOUTS]
            requests = [Request(only=keys, config=config, quick=True) for config in configs]
            found[mcs, timer] = side([rocket().measure(r, {}, SILENT).bundle for r in requests])
    return found


def swept(url: str) -> Kernels:
    """The same of the sweep whose store that is. Raises NothingMeasured before three layouts are
    complete.
    """
    location, tasks = layout.opened(url), plan.read(PLAN).tasks
    known = done.of(location, tasks)
    by_layout = defaultdict(list)
    for task in tasks:
        if task.name in known:
            by_layout[task.settings["config"]["layout"]].append(task)
    whole = [task for group in by_layout.values() if len(group) == 4 for task in group]
    if len(whole) < 12:
        raise NothingMeasured(f"{url} has {len(whole) // 4} whole layouts; sweep {PLAN} on")
    bundles = defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        for task in whole:
            config = task.settings["config"]
            bundle = transfer.pull(location, known[task.name].bundle, Path(scratch, task.name))
            bundles[config["mcs"], config["timer"]].append(bundle)
        return {kernel: side(held) for kernel, held in bundles.items()}


def changes(kernels: Kernels, mcs: str) -> str:
    """Each row with rdtime and with mtime, and what `cyclometer compare --across timer` says of
    it.
    """
    before, after = (kernels[mcs, timer] for timer in TIMERS)
    found = {
        finding.key: finding for finding in compare(before, after, across={"timer": None}).findings
    }
    rows = [(name, f"`{key}`", *verdict(found[key])) for name, key in report_rows()]
    return board.table(
        ["row of the report", "circle", *TIMERS, "change", "interval", "verdict"], rows
    )


def verdict(finding: Finding) -> tuple[str, ...]:
    """Means over the layouts, and the change with its interval between layouts."""
    b, a, change, interval = finding.before, finding.after, finding.change, finding.interval
    if b is None or a is None or change is None or interval is None:
        return "", "", "", "", finding.verdict
    ends = f"{interval.low:+.1%} to {interval.high:+.1%}"
    return f"{b.value:.0f}", f"{a.value:.0f}", f"{change:+.1%}", ends, finding.verdict


def carried() -> Difference:
    """What `cyclometer explain --diff` finds for the signal."""
    before, after = (board.explained({"mcs": "on", "timer": timer}, SIGNAL) for timer in TIMERS)
    return difference(before, after)


def of_which(change: PartChange) -> str:
    """The three causes that changed most."""
    return ", ".join(
        f"{cause} {float(cycles):+.4g}" for cause, cycles in list(change.by_cause.items())[:3]
    )


def lines(changed: Iterable[PartChange]) -> list[tuple[str, ...]]:
    """A row for each name."""
    return [
        (
            one.name,
            *(f"{float(n):.4g}" for n in (one.before, one.after)),
            f"{float(one.change):+.4g}",
            of_which(one),
        )
        for one in changed
    ]


def functions(found: Difference) -> list[tuple[str, ...]]:
    """Those that changed most, and what all others changed."""
    rest = sum((one.change for one in found.functions[MOST:]), Fraction(0))
    return [*lines(found.functions[:MOST]), ("all others", "", "", f"{float(rest):+.4g}", "")]


if __name__ == "__main__":
    kernels = swept(sys.argv[1]) if sys.argv[1:] else measured()
    signal = carried()
    header = ["rdtime", "mtime", "difference", "of which, largest first"]
    board.write(
        "sel4bench-mtime.md",
        mcs_on=changes(kernels, "on"),
        mcs_off=changes(kernels, "off"),
        modes=board.table(["mode", *header], lines([*signal.modes, signal.whole])),
        functions=board.table(["function", *header], functions(signal)),
    )
