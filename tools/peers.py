# SPDX-License-Identifier: BSD-2-Clause
"""What other tools say of about the same work as our circles, in one sitting with ours: who times
what.
"""

from __future__ import annotations

import glob
import itertools
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclometer.compare.finding import Finding
from cyclometer.compare.statistics import change
from cyclometer.compare.verdicts import Comparison
from cyclometer.estimate.interval import Interval, critical_value

REPEATS = 5
TIMEOUT_S = 60
LMBENCH_SAMPLE_US = "100000"
"""How long lmbench's programs time at a stretch; where the clock is coarse they choose seconds."""
PERF, RT_TESTS, STRESS_NG = (
    f"apt-get install {package}" for package in ("linux-perf", "rt-tests", "stress-ng")
)
LMBENCH = "apt-get install lmbench (Debian's section non-free)"
SCHBENCH = (
    "no package has it; "
    "git clone https://git.kernel.org/pub/scm/linux/kernel/git/mason/schbench.git, make"
)
CORE_TO_CORE = "cargo install core-to-core-latency"
PLACES = (str(Path(sys.executable).parent), *glob.glob("/usr/lib/lmbench/bin/*"))
"""Folders of peers beside $PATH."""


@dataclass(frozen=True)
class Peer:
    """Another tool's figure for about the same work; `pattern` finds it in its output, in units of
    `to_ns` ns.
    """

    name: str
    install: str
    command: tuple[str, ...]  # `{cpus}` stands for two CPUs, as 1,0
    pattern: str
    to_ns: float  # 0: the figure is operations a second
    circle: str
    times: str  # what it really times


ON_ONE_CPU = (
    Peer(
        "perf bench sched pipe",
        PERF,
        ("perf", "bench", "sched", "pipe", "-l", "20000"),
        r"([\d.]+) usecs/op",
        1e3,
        "pipe.round_trip.cross.equal",
        "whole program / operations; not pinned, ordinary priority, start included",
    ),
    Peer(
        "stress-ng --switch",
        STRESS_NG,
        ("stress-ng", "--switch", "1", "--switch-ops", "50000", "--metrics"),
        r"([\d.]+) nanosecs per context switch",
        1,
        "pipe.round_trip.cross.equal",
        "one direction of a pipe, two processes, not pinned; ours is a round trip",
    ),
    Peer(
        "perf bench syscall basic",
        PERF,
        ("perf", "bench", "syscall", "basic", "-l", "1000000"),
        r"([\d.]+) usecs/op",
        1e3,
        "syscall.null",
        "one loop of getppid / calls",
    ),
    Peer(
        "perf bench futex hash",
        PERF,
        ("perf", "bench", "futex", "hash", "-r", "1", "-t", "1"),
        r"Averaged (\d+) operations/sec",
        0,
        "futex.wake.nobody",
        "FUTEX_WAIT that fails at once, over 1024 futexes",
    ),
    Peer(
        "ptsematest",
        RT_TESTS,
        ("ptsematest", "-a", "1", "-p", "50", "-l", "500", "-i", "500", "-q"),
        r"Avg +(\d+)",
        1e3,
        "semaphore.posix.give.wake+ctx",
        "one way, whole microseconds, mutex as semaphore",
    ),
    Peer(
        "pmqtest",
        RT_TESTS,
        ("pmqtest", "-a", "1", "-p", "50", "-l", "500", "-i", "500", "-q"),
        r"Avg +(\d+)",
        1e3,
        "posix_queue.round_trip.same.equal",
        "one way, whole microseconds; ours is a round trip",
    ),
    Peer(
        "signaltest",
        RT_TESTS,
        ("signaltest", "-a", "1", "-p", "50", "-l", "500", "-q"),
        r"T: 0.*Avg: +(\d+)",
        1e3,
        "signal.to_thread",
        "signal passed round two threads, whole microseconds",
    ),
)

PIPE = "pipe.round_trip.cross.equal.other_cpu"
MESSAGES = 20 * 20 * 200
"""Of 20 senders to 20 receivers each, 200 times."""

ON_TWO_CPUS = (
    Peer(
        "perf bench sched pipe",
        PERF,
        ("taskset", "-c", "{cpus}", "perf", "bench", "sched", "pipe", "-l", "20000"),
        r"([\d.]+) usecs/op",
        1e3,
        PIPE,
        "round trip; two processes on either CPU, as the scheduler likes, start included",
    ),
    Peer(
        "perf bench messaging",
        PERF,
        (
            *("taskset", "-c", "{cpus}"),
            *("perf", "bench", "sched", "messaging", "-p", "-g", "1", "-l", "200"),
        ),
        r"Total time: ([\d.]+)",
        1e9 / MESSAGES,
        PIPE,
        "40 processes that write to each other without waiting; time / messages",
    ),
    Peer(
        "stress-ng --switch",
        STRESS_NG,
        (
            *("stress-ng", "--taskset", "{cpus}"),
            *("--switch", "1", "--switch-ops", "50000", "--metrics"),
        ),
        r"([\d.]+) nanosecs per context switch",
        1,
        PIPE,
        "one direction of a pipe, two processes on either CPU; ours is a round trip",
    ),
    Peer(
        "lat_pipe",
        LMBENCH,
        ("taskset", "-c", "{cpus}", "lat_pipe", "-N", "5"),
        r"Pipe latency: ([\d.]+) microseconds",
        1e3,
        PIPE,
        "round trip, two processes on either CPU",
    ),
    Peer(
        "schbench",
        SCHBENCH,
        ("taskset", "-c", "{cpus}", "schbench", "-m", "1", "-t", "1", "-r", "3"),
        r"(?s)\A.*?50\.0th: +(\d+)",
        1e3,
        "notification.low_to_high.one_way.same.other_cpu",
        "median of wake-ups by futex in whole microseconds, from when it was queued; either CPU",
    ),
    Peer(
        "core-to-core-latency",
        CORE_TO_CORE,
        ("core-to-core-latency", "1000", "300", "--bench", "1", "--cores", "{cpus}"),
        r"Mean latency: (?:\x1b\[[\d;]*m)*([\d.]+)",  # in colour even to a pipe
        1,
        "cache_line.ping_pong.add.other_cpu",
        "one way of a cache line by compare-and-swap, pinned; ours is there and back",
    ),
)


Sitting = Mapping[Peer, Sequence[float]]
"""What each start of a peer printed, in ns; nothing if it is not installed or does not run."""


def sitting(peers: Sequence[Peer], cpus: str = "") -> Sitting:
    """Starts each peer REPEATS times."""
    return {peer: [] if _missing(peer) else _starts(peer, cpus) for peer in peers}


def table(ours: Comparison, theirs: tuple[Sitting, Sitting]) -> None:
    """Prints a line per peer beside our circle, of two sittings of either: mean and half-width in
    the second one, and the change since the first, of which nothing is real. Then what each times.
    """
    columns = f"{'ns':>7} {'+- %':>5} {'A/A %':>11}"
    print(f"{'':24} {'peer':^25} {'ours':^25}\n{'peer':24} {columns} {columns}")
    findings = {finding.key: finding for finding in ours.findings}
    for peer in theirs[0]:
        figure = _missing(peer) and "not installed"
        figure = figure or _figure(*(one[peer] for one in theirs)) or "does not run here"
        mine = _ours(findings.get(peer.circle)) or "not measured here"
        print(f"{peer.name:24} {figure:>25} {mine:>25}")
    for circle, peers in itertools.groupby(theirs[0], key=lambda peer: peer.circle):
        print(f"beside {circle}:")
        for peer in peers:
            _print_wrapped(f"{peer.name}: {peer.times}")
            if _missing(peer):
                _print_wrapped(f"{peer.name}: not installed; {peer.install}")


def _print_wrapped(sentence: str) -> None:
    print(
        textwrap.fill(
            sentence,
            80,
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def _figure(before: Sequence[float], after: Sequence[float]) -> str:
    """The cells of a peer; '' if a start of it failed."""
    if min(len(before), len(after)) < REPEATS:
        return ""
    mean = statistics.mean(after)
    error = statistics.stdev(after) / math.sqrt(len(after))
    moved = change(before, after)
    half_width = critical_value(0.95, len(after) - 1) * error / mean
    return _cells(mean, half_width, moved.fraction, moved.interval)


def _ours(finding: Finding | None) -> str:
    """The cells of our circle; '' if it was not measured."""
    if finding is None or finding.pair.after is None:
        return ""
    e = finding.pair.after.estimate
    if e.latency is None or e.ns is None or finding.change is None or finding.interval is None:
        return ""
    half_width = e.latency.interval.half_width / e.latency.value
    return _cells(e.ns, half_width, finding.change, finding.interval)


def _cells(ns: float, half_width: float, moved: float, interval: Interval) -> str:
    change = f"{100 * moved:+.1f} +-{100 * interval.half_width:.1f}"
    return f"{ns:7.0f} {100 * half_width:5.2f} {change:>11}"


def _path() -> str:
    return os.pathsep.join((os.environ.get("PATH", ""), *PLACES))


def _missing(peer: Peer) -> bool:
    """Whether the peer, or what starts it, is not there."""
    programs = [peer.command[0], *(peer.command[3:4] if peer.command[0] == "taskset" else ())]
    return any(shutil.which(program, path=_path()) is None for program in programs)


def _starts(peer: Peer, cpus: str) -> list[float]:
    return [value for _ in range(REPEATS) if (value := _once(peer, cpus)) is not None]


def _once(peer: Peer, cpus: str) -> float | None:
    """What a start printed, in ns; None if it failed or did not end in time."""
    try:
        done = subprocess.run(
            [word.format(cpus=cpus) for word in peer.command],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
            env=os.environ | {"PATH": _path(), "ENOUGH": LMBENCH_SAMPLE_US},
        )
    except subprocess.TimeoutExpired:
        return None
    return read(peer, done.stdout + done.stderr)


def read(peer: Peer, printed: str) -> float | None:
    """The nanoseconds of an operation that the peer printed; None if it printed none."""
    found = re.findall(peer.pattern, printed)
    if not found:
        return None
    return float(found[-1]) * peer.to_ns if peer.to_ns else 1e9 / float(found[-1])
