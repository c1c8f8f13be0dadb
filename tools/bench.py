# SPDX-License-Identifier: BSD-2-Clause
"""`make bench`: what this project claims of its speed and precision, measured here and now, peers
beside it.

Every line is a ratio or a spread from one sitting; absolute times are printed only to be divided by
each other. A peer that is not installed is named, with the Debian package that has it.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import large_bundles
import sel4bench_logs
from cyclometer.targets import reference_kernel
from cyclometer.targets.rocket import simulator as rocket_board

REPEATS = 5
SPREAD_TARGET = 0.003
RIG_TARGET = 0.02
SUITE_TARGET_S = 60.0
SIMULATOR_TARGET_HZ = 40_000
SIMULATED_CYC = 1_000_000


@dataclass(frozen=True)
class Peer:
    """Another tool's figure for about the same work; `pattern` finds it in its output, in units of
    `to_ns` ns.
    """

    name: str
    package: str
    command: tuple[str, ...]
    pattern: str
    to_ns: float  # 0: the figure is operations a second
    circle: str
    times: str  # what it really times


PEERS = (
    Peer(
        "perf bench sched pipe",
        "linux-perf",
        ("perf", "bench", "sched", "pipe", "-l", "20000"),
        r"([\d.]+) usecs/op",
        1e3,
        "pipe.round_trip.cross.equal",
        "whole program / operations; not pinned, ordinary priority, start included",
    ),
    Peer(
        "perf bench syscall basic",
        "linux-perf",
        ("perf", "bench", "syscall", "basic", "-l", "1000000"),
        r"([\d.]+) usecs/op",
        1e3,
        "syscall.null",
        "one loop of getppid / calls",
    ),
    Peer(
        "perf bench futex hash",
        "linux-perf",
        ("perf", "bench", "futex", "hash", "-r", "1", "-t", "1"),
        r"Averaged (\d+) operations/sec",
        0,
        "futex.wake.nobody",
        "FUTEX_WAIT that fails at once, over 1024 futexes",
    ),
    Peer(
        "ptsematest",
        "rt-tests",
        ("ptsematest", "-a", "1", "-p", "50", "-l", "500", "-i", "500", "-q"),
        r"Avg +(\d+)",
        1e3,
        "semaphore.posix.give.wake+ctx",
        "one way, whole microseconds, mutex as semaphore",
    ),
    Peer(
        "pmqtest",
        "rt-tests",
        ("pmqtest", "-a", "1", "-p", "50", "-l", "500", "-i", "500", "-q"),
        r"Avg +(\d+)",
        1e3,
        "posix_queue.round_trip.same.equal",
        "one way, whole microseconds; ours is a round trip",
    ),
    Peer(
        "signaltest",
        "rt-tests",
        ("signaltest", "-a", "1", "-p", "50", "-l", "500", "-q"),
        r"T: 0.*Avg: +(\d+)",
        1e3,
        "signal.to_thread",
        "signal passed round two threads, whole microseconds",
    ),
    Peer(
        "stress-ng --switch",
        "stress-ng",
        ("stress-ng", "--switch", "1", "--switch-ops", "50000", "--metrics"),
        r"([\d.]+) nanosecs per context switch",
        1,
        "pipe.round_trip.cross.equal",
        "one direction of a pipe, two processes, not pinned; ours is a round trip",
    ),
)

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

# Whole suites on machines that are emulated or simulated: target, options, seconds they may take on
# two cores.
SUITES = (
    ("qemu-virt", (), 60),
    ("qemu-linux", ("--kernel", "debian:linux-image-6.1.0-*-cloud-amd64"), 240),
    ("rocket", ("--quick",), 600),
)


def main() -> int:
    """Prints the lines; 0 even where a target is missed: this reports, tests assert."""
    with tempfile.TemporaryDirectory() as folder:
        rows, suite_s = _suite(Path(folder) / "suite")
        _rig(rows)
        _spread(rows)
        print(
            f"suite            {len(rows)} circles in {suite_s:.1f} s (target {SUITE_TARGET_S:.0f} "
            "s)"
        )
        _peers(rows)
        _laboratory(Path(folder))
        _simulator()
        for target, figures in SEL4.items():
            _kernel(Path(folder) / f"kernel-{target}", target, figures)
        for target, options, target_s in SUITES:
            rows, suite_s = _suite(Path(folder) / f"suite-{target}", "--target", target, *options)
            print(
                f"suite            {len(rows)} circles on {target} in {suite_s:.0f} s (target "
                f"{target_s} s)"
            )
    return 0


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


def _peers(rows: dict[str, dict[str, Any]]) -> None:
    header = (
        "peer",
        "its ns",
        "its spread",
        "our ns",
        "our spread",
        "circle; what the peer really times",
    )
    print(
        f"{header[0]:26} {header[1]:>9} {header[2]:>11} {header[3]:>9} {header[4]:>11}  {header[5]}"
    )
    for peer in PEERS:
        ours = rows[peer.circle]
        mine = f"{ours['ns'] or 0:9.0f} {100 * (ours['spread'] or 0):9.2f} %"
        print(f"{peer.name:26} {_figure(peer)} {mine}  {peer.circle}; {peer.times}")


def _figure(peer: Peer) -> str:
    """Mean and spread (sd / mean) of REPEATS starts of the peer, or why there is none."""
    if not shutil.which(peer.command[0]):
        return f"not installed ({peer.package})".rjust(21)
    values = [value for _ in range(REPEATS) if (value := _once(peer)) is not None]
    if len(values) < REPEATS:
        return "does not run here".rjust(21)
    mean = statistics.mean(values)
    return f"{mean:9.0f} {100 * statistics.stdev(values) / mean:9.2f} %"


def _once(peer: Peer) -> float | None:
    done = subprocess.run(peer.command, capture_output=True, text=True, check=False, timeout=60)
    found = re.findall(peer.pattern, done.stdout + done.stderr)
    if not found:
        return None
    return float(found[-1]) * peer.to_ns if peer.to_ns else 1e9 / float(found[-1])


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
    """Speed of the simulated core, alone on one of this machine's."""
    simulator, image = (
        rocket_board.simulator("LitexFullConfig"),
        reference_kernel.image("rocket", {}),
    )
    started = time.monotonic()
    subprocess.run(
        [str(simulator), "--max-cycles", str(SIMULATED_CYC), str(image)],
        capture_output=True,
        check=False,
    )
    khz, wanted_khz = SIMULATED_CYC / (time.monotonic() - started) / 1e3, SIMULATOR_TARGET_HZ / 1e3
    print(f"simulator        {khz:.0f} kHz a core (target {wanted_khz:.0f} kHz)")


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


if __name__ == "__main__":
    sys.exit(main())
