# SPDX-License-Identifier: BSD-2-Clause
"""KBench's circle on the Rocket core: accumulated latencies from N=1 upwards beside every
single turn, traced.
"""

from __future__ import annotations

import math
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import board
import numpy as np
from numpy.typing import NDArray

from cyclometer.estimate import digits, marginal
from cyclometer.record.trace import USER, Steps, load, windows
from cyclometer.targets import build, reference_kernel
from cyclometer.targets.console import BootResult
from cyclometer.targets.rocket import simulator as rocket_board

KEY = "notification.round_trip.low_to_high.u_to_u.same"
FLOW = {"initial": "1", "delta": "4", "groups": "5", "tests": "30", "only": KEY}
ECALL = 0x73
JITTER = {
    "steady memory": (),
    "jitter, seed 1": ("--memory-jitter", "1"),
    "jitter, seed 2": ("--memory-jitter", "2"),
}


@dataclass(frozen=True)
class Observed:
    """One boot: A and N of every test, and within each test the turns that the trace shows."""

    A: NDArray[np.float64]
    N: NDArray[np.int64]
    turns: list[NDArray[np.int64]]  # a test's turns, from one call of the client to its next


def turns(window: Steps) -> NDArray[np.int64]:
    """Lengths of the turns in one test: the client's call is the first one there, and the same one
    every time.
    """
    calls = window[(window["insn"] == ECALL) & (window["privilege"] == USER)]
    return np.diff(calls["clock"][calls["pc"] == calls["pc"][0]].astype(np.int64))


def boot(trace: Path, memory: tuple[str, ...]) -> BootResult:
    """One boot of KBench's circle until the simulator ends by itself: only then its trace is
    whole.
    """
    simulator, image = (
        rocket_board.simulator("LitexFullConfig"),
        reference_kernel.image("rocket", {}),
    )
    command = [
        str(simulator),
        "--trace",
        str(trace),
        *memory,
        "--append",
        reference_kernel.words(FLOW),
        str(image),
    ]
    return BootResult(
        subprocess.run(command, capture_output=True, check=True).stdout,
        "ended by itself",
        done=True,
    )


def observe(memory: tuple[str, ...]) -> Observed:
    """A boot, traced whole; the windows are the tests, in order."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        ended = boot(trace, memory)
        samples = reference_kernel.assemble("rocket", {}, {1: [ended]}, {}).bundle.samples
        return Observed(samples.value, samples.turns, [turns(w) for w in windows(load(trace), KEY)])


def against_n(seen: Observed) -> tuple[str, str]:
    """Mean and standard deviation of A and A/N for every N; and the line through all tests."""
    fit, rows = marginal.fit(seen.A, seen.N), []
    for n in np.unique(seen.N):
        a = seen.A[n == seen.N]
        rows.append(
            (
                n,
                f"{a.mean():.1f}",
                f"{a.std(ddof=1):.2f}",
                f"{a.mean() / n:.2f}",
                f"{fit.b + fit.c / n:.2f}",
            )
        )
    b, c = (
        digits.with_interval(x, i.half_width)
        for x, i in ((fit.b, fit.b_interval), (fit.c, fit.c_interval))
    )
    assert fit.curvature is not None
    bend = f"lack of fit p = {fit.curvature.lack_of_fit_p:.2g}"
    return board.table(
        ["N", "mean A", "sd A", "A/N", "(c + b N)/N"], rows
    ), f"b = {b}, c = {c} cycles; {bend}"


def sigmas(name: str, seen: Observed) -> tuple[object, ...]:
    """Sigma of a turn: as KBench infers it from the longest tests, and as the trace shows the very
    same turns.
    """
    n = int(seen.N.max())
    inferred = float((seen.A[n == seen.N] / n).std(ddof=1)) * math.sqrt(n)
    tests = [t for t, size in zip(seen.turns, seen.N, strict=True) if size == n]
    every = np.concatenate(tests).astype(float)
    centred = [t - every.mean() for t in tests]
    pairs = [np.concatenate(part) for part in ([c[:-1] for c in centred], [c[1:] for c in centred])]
    lag = float((pairs[0] * pairs[1]).mean() / every.var()) if every.var() else 0.0
    return name, f"{every.mean():.2f}", f"{inferred:.2f}", f"{every.std(ddof=1):.2f}", f"{lag:+.2f}"


def main() -> None:
    """Measures under each memory and writes the page's tables."""
    reference_kernel.image("rocket", {})  # before the boots, which would all build it
    with ThreadPoolExecutor(max_workers=build.cores()) as pool:
        seen = dict(zip(JITTER, pool.map(observe, JITTER.values()), strict=True))
    steady, line = against_n(seen["steady memory"])
    jittered, jittered_line = against_n(seen["jitter, seed 1"])
    header = ["memory", "mean turn", "sigma inferred", "sigma of the turns", "lag-1 correlation"]
    known = board.table(header, [sigmas(name, one) for name, one in seen.items()])
    board.write(
        "kbench-accumulated.md",
        steady=f"{steady}\n\n{line}",
        jitter=f"{jittered}\n\n{jittered_line}",
        known=known,
    )


if __name__ == "__main__":
    main()
