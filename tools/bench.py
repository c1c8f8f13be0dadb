# SPDX-License-Identifier: BSD-2-Clause
"""`make bench`: what this project claims of its speed and precision, measured here and now, peers
beside it.

Every line is a ratio or a spread from one sitting; absolute times are printed only to be divided by
each other. A peer that is not installed is named, with the command that installs it; `make
setup-bench` installs those that have a package.

    make bench BENCH=live     # this Linux and its peers, by turns and twice: five minutes
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import large_bundles
import peers
import sel4bench_logs
import sweep_speed
from aa import HALF_WIDTH_TARGETS
from cyclometer.bundle import store
from cyclometer.compare.pairing import side
from cyclometer.compare.verdicts import Comparison, compare
from cyclometer.targets import reference_kernel
from cyclometer.targets.linux import placement
from cyclometer.targets.rocket import simulator as rocket_board

REPEATS = 5
SPREAD_TARGET = 0.003
RIG_TARGET = 0.02
SUITE_TARGET_S = 60.0
SIMULATOR_TARGET_HZ = 40_000
SIMULATED_CYC = 1_000_000

SIGNAL, YIELD = (
    "notification.signal.wake+ctx.prio_1.u_to_u.same",
    "thread.yield.preemptive.ctx.u_to_u",
)
SAME, CROSS = "endpoint.round_trip.words_0.same", "endpoint.round_trip.words_0.cross"

# seL4, non-MCS, on its fastpath: under QEMU by its own sel4bench, patched to run on RISC-V; on the
# Rocket core by a root task of our own. A round trip is the sum of a Call and a ReplyRecv. Yield of
# QEMU saves floating-point registers (419 without). What is comparable: docs/experiments/sel4.md.
SEL4 = {
    "qemu-virt": {SAME: 249 + 289, CROSS: 249 + 289, SIGNAL: 611, YIELD: 511},
    "rocket": {SAME: 394 + 436, CROSS: 420 + 458, SIGNAL: 872, YIELD: 641},
}

# Sweeps of equal tasks: target, circle, tasks.
SWEEPS = (("qemu-virt", YIELD, 20), ("rocket", YIELD, 4))

# Two kernels as packages: of both a change is explained, of the second one a circle. Seconds on two
# cores, packages and saved machines at hand.
KERNELS = ("debian:linux-image-6.1.0-*-cloud-amd64", "debian:linux-image-6.12*-cloud-amd64")
KDIFF_TARGET_S, EXPLAIN_TARGET_S = 60, 15
EXPLAINED = "pipe.round_trip.cross.equal"

# Whole suites on machines that are emulated or simulated: target, options, seconds they may take on
# two cores.
SUITES = (
    ("qemu-virt", (), 60),
    ("qemu-linux", ("--kernel", "debian:linux-image-6.1.0-*-cloud-amd64"), 240),
    ("rocket", ("--quick",), 600),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the lines; 0 even where a target is missed: this reports, tests assert."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all if none is named")
    wanted = parser.parse_args(arguments).parts
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"there is no part {min(unknown)}; choose from {', '.join(PARTS)}")
    for name, part in PARTS.items():
        if name in (wanted or PARTS):
            with tempfile.TemporaryDirectory() as folder:
                part(Path(folder))
    return 0


def _live(folder: Path) -> None:
    """This Linux on one CPU."""
    rows, suite_s, found, theirs = _by_turns(folder, peers.ON_ONE_CPU)
    _rig(rows)
    _spread(rows)
    print(
        f"suite            {len(rows)} circles in {suite_s:.1f} s (target {SUITE_TARGET_S:.0f} s)"
    )
    _half_widths(found)
    peers.table(found, theirs)


def _emulated(folder: Path) -> None:
    """Machines that are emulated or simulated."""
    _simulator()
    for target, figures in SEL4.items():
        _kernel(folder / f"kernel-{target}", target, figures)
    for target, options, target_s in SUITES:
        rows, suite_s = _suite(folder / f"suite-{target}", "--target", target, *options)
        print(
            f"suite            {len(rows)} circles on {target} in {suite_s:.0f} s (target "
            f"{target_s} s)"
        )


def _kernels(_: Path) -> None:
    """What is asked of two Linux kernels, once each has been fetched and has booted."""
    _seconds(["kdiff", *KERNELS, "syscall.null"])
    for name, target_s, command in (
        ("kdiff of 6.1 and 6.12 by pipe futex syscall", KDIFF_TARGET_S, ["kdiff", *KERNELS]),
        (
            f"explain of {EXPLAINED}",
            EXPLAIN_TARGET_S,
            ["explain", "--kernel", KERNELS[1], EXPLAINED],
        ),
    ):
        print(f"kernels          {name}: {_seconds(command):.0f} s (target {target_s} s)")


def _by_turns(
    folder: Path, chosen: Sequence[peers.Peer], *options: str, cpus: str = ""
) -> tuple[dict[str, dict[str, Any]], float, Comparison, tuple[peers.Sitting, peers.Sitting]]:
    """A suite and then the peers, twice, so that either has an A/A of the same minutes: the second
    suite's rows and seconds, both suites compared, and both sittings of the peers.
    """
    paths, sittings = [folder / "first", folder / "second"], []
    for path in paths:
        rows, suite_s = _suite(path, *options)
        sittings.append(peers.sitting(chosen, cpus))
    before, after = (side([store.read(path)]) for path in paths)
    return rows, suite_s, compare(before, after), (sittings[0], sittings[1])


def _suite(path: Path, *options: str) -> tuple[dict[str, dict[str, Any]], float]:
    """A run's rows by key, and its seconds."""
    started = time.monotonic()
    command = [sys.executable, "-m", "cyclometer", "run", "--json", "-o", str(path), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {row["key"]: row for row in json.loads(done.stdout)["rows"]}, time.monotonic() - started


def _rig(rows: dict[str, dict[str, Any]]) -> None:
    empty, by_hand = rows["floor.empty"]["estimate"], rows["floor.loop"]["estimate"]
    print(
        f"rig              empty circle / hand-written empty loop = {empty / by_hand:.3f}, in one "
        "run"
    )
    unrolled = rows["floor.empty.unrolled"]["estimate"]
    timed = {k: r for k, r in rows.items() if not k.startswith("floor.") and r["valid"]}
    shares = {
        k: (unrolled if r["params"].get("turns_a_branch") else empty) / r["estimate"]
        for k, r in timed.items()
    }
    worst = max(shares, key=lambda key: shares[key])
    print(
        f"rig              at most {100 * shares[worst]:.2f} % of a turn ({worst}; target "
        f"{100 * RIG_TARGET:.0f} %)"
    )


def _spread(rows: dict[str, dict[str, Any]]) -> None:
    spreads = sorted(row["spread"] for row in rows.values() if row["spread"] is not None)
    median = statistics.median(spreads)
    print(
        f"spread           latency, run to run, median over {len(spreads)} circles: "
        f"{100 * median:.2f} % "
        f"(target {100 * SPREAD_TARGET:.1f} %), 90 % of them below "
        f"{100 * spreads[int(0.9 * len(spreads))]:.2f} %"
    )


def _half_widths(found: Comparison) -> None:
    """How precise a session is by itself, and what two of them say of each other."""
    latencies = [c.estimate.latency for c in found.sides[1].circles if c.estimate.valid]
    own = [100 * m.interval.half_width / m.value for m in latencies if m is not None]
    wanted, wanted_tail = (100 * target for target in HALF_WIDTH_TARGETS)
    print(
        f"half-width       of a latency: median circle {np.median(own):.2f} % (target {wanted:.1f} "
        f"%), 90 % of the circles within {np.quantile(own, 0.9):.2f} % (target {wanted_tail:.0f} %)"
    )
    changes = [100 * f.interval.half_width for f in found.findings if f.interval]
    counts = ", ".join(f"{count} {verdict}" for verdict, count in found.counts().items())
    print(
        f"A/A              two suites with the peers between them: {counts}; half-width of a "
        f"change, median circle {np.median(changes):.2f} %"
    )


def _two_cpus(folder: Path) -> None:
    """Circles between two CPUs beside the peers that can be kept on these."""
    allowed = os.sched_getaffinity(0)
    pair = placement.pair(max(allowed), placement.AUTO, allowed)
    if pair.other is None:
        print("peers            none between two CPUs: this process may use one")
        return
    cpus = f"{max(allowed)},{pair.other}"
    only = [word for key in {peer.circle for peer in peers.ON_TWO_CPUS} for word in ("--only", key)]
    options = ("--cpus", cpus, "--budget", "20s", *only)
    _, _, found, theirs = _by_turns(folder, peers.ON_TWO_CPUS, *options, cpus=cpus)
    print(f"peers            between CPUs {cpus}, which share: {pair.apart}")
    peers.table(found, theirs)


def _laboratory(folder: Path) -> None:
    """The laboratory's own speed, each line with the figure it is to reach."""
    (folder / "logs").mkdir()
    logs = sel4bench_logs.write(folder / "logs")
    million = large_bundles.write(folder)
    for name, target_s, repeats, command in (
        ("--help", 0.25, REPEATS, ["--help"]),
        ("show of 1 M samples", 1.0, REPEATS, ["show", str(million[0])]),
        ("compare of two of 1 M samples", 3.0, REPEATS, ["compare", *map(str, million)]),
        (
            f"ingest of {len(logs)} sel4bench logs",
            6.0,
            1,
            ["ingest", *map(str, logs), "-o", str(folder / "ingested")],
        ),
    ):
        taken = statistics.median(_seconds(command) for _ in range(repeats))
        print(f"laboratory       {name}: {taken:.2f} s (target {target_s:g} s)")


def _seconds(command: list[str]) -> float:
    started = time.monotonic()
    subprocess.run([sys.executable, "-m", "cyclometer", *command], capture_output=True, check=True)
    return time.monotonic() - started


def _simulator() -> None:
    """Speed of the simulated cores, alone on one of this machine's."""
    image = reference_kernel.image("rocket", {})
    for config, harts in (("LitexFullConfig", 1), ("LitexLinux2DConfig", 2)):
        started = time.monotonic()
        simulator = rocket_board.simulator(config)
        built_s, started = time.monotonic() - started, time.monotonic()
        subprocess.run(
            [str(simulator), "--max-cycles", str(SIMULATED_CYC), str(image)],
            capture_output=True,
            check=False,
        )
        khz = SIMULATED_CYC / (time.monotonic() - started) / 1e3
        wanted = f" (target {SIMULATOR_TARGET_HZ / 1e3:.0f} kHz)" if harts == 1 else ""
        print(
            f"simulator        {config}: {khz:.0f} kHz, harts {harts}{wanted}; "
            f"built in {built_s:.0f} s (0: it was there)"
        )


def _kernel(path: Path, target: str, figures: dict[str, int]) -> None:
    """The reference kernel beside seL4, on clocks that are exact."""
    only = [word for key in figures for word in ("--only", key)]
    rows, _ = _suite(path, "--target", target, *only)
    for key, theirs in figures.items():
        ours, unit = rows[key]["estimate"], rows[key]["unit"]
        print(
            f"kernel           {key} on {target}: {ours:.4g} / seL4's {theirs} {unit} = "
            f"{ours / theirs:.2f}"
        )


def _sweeps(folder: Path) -> None:
    """What a sweep adds to a task, and what a second worker gains."""
    for target, circle, tasks in SWEEPS:
        sweep_speed.measure(
            sweep_speed.write_plan(folder / f"{target}.toml", target, circle, tasks)
        )


PARTS = {
    "live": _live,
    "two-cpus": _two_cpus,
    "laboratory": _laboratory,
    "sweeps": _sweeps,
    "kernels": _kernels,
    "emulated": _emulated,
}


if __name__ == "__main__":
    sys.exit(main())
