# SPDX-License-Identifier: BSD-2-Clause
"""Write sel4bench console logs as a board's repeated boots give them, to time `cyclometer ingest`
on.

Usage: sel4bench_logs.py FOLDER [COUNT] [SIZE_BYTES]     (300 logs of 200000 bytes by default)

Each log is a boot: noise, the JSON of the whole suite with raw results, and as many iterations as
fill the size. The same seed gives the same logs.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
from pathlib import Path
from typing import Any

PRIORITIES = (1, 65, 129, 193)
EVENTS = (
    "L1 i-cache misses",
    "L1 d-cache misses",
    "Instructions",
    "Branch mispredictions",
    "Cycle counter",
)
IPC = (  # function, same vspace, words, mean, client priority
    ("seL4_Call", True, 0, 346, 254),
    ("seL4_ReplyRecv", True, 0, 366, 254),
    ("seL4_Call", False, 0, 688, 254),
    ("seL4_Call (FPU)", False, 0, 783, 254),
    ("seL4_ReplyRecv", False, 0, 742, 254),
    ("seL4_ReplyRecv (FPU)", False, 0, 793, 254),
    ("seL4_Send", False, 0, 1764, 253),
    ("seL4_Call", False, 10, 1814, 254),
    ("seL4_ReplyRecv", False, 10, 1738, 254),
)
NAMED = (  # benchmark, mean, samples
    ("Signal to high prio thread", 827, 100),
    ("Signal to low prio thread", 453, 100),
    ("Thread yield", 664, 100),
    ("Process yield", 849, 100),
    ("fault round trip", 1616, 100),
    ("faulter -> fault handler", 779, 100),
    ("fault handler -> faulter", 841, 100),
    ("Hardware null_syscall thread", 114, 100),
    ("Producer to consumer", 2105, 50),
    ("Consumer to producer", 2129, 50),
)
NOISE = (
    "U-Boot 2018.09\r\nPlatform Name       : SiFive Freedom "
    "U540\r\n\x1b[37mse\x1b[32mL4\x1b[37m Benchmark\x1b[0m\r\n"
)


def result(source: random.Random, mean: float, n: int, **about: Any) -> dict[str, Any]:
    """A row with raw results and their statistics, in the names and order of sel4bench."""
    raw = [max(1, round(source.gauss(mean, mean / 50))) for _ in range(n)]
    first, median, third = statistics.quantiles(raw, n=4, method="inclusive")
    return {
        **about,
        "Min": min(raw),
        "Max": max(raw),
        "Mean": float(round(statistics.fmean(raw))),
        "Stddev": round(statistics.stdev(raw), 3),
        "Variance": round(statistics.variance(raw), 1),
        "Mode": float(statistics.mode(raw)),
        "Median": median,
        "1st quantile": first,
        "3rd quantile": third,
        "Samples": n,
        "Raw results": raw,
    }


def suite(source: random.Random, iteration: int) -> list[dict[str, Any]]:
    """One iteration of the suite."""
    ipc = [
        result(
            source,
            mean,
            16,
            **{"Function": name, "Direction": "client->server", "Client Prio": client}
            | {"Server Prio": 254, "Same vspace?": same, "IPC length": words},
        )
        for name, same, words, mean, client in IPC
    ]
    blocks: list[tuple[str, list[dict[str, Any]]]] = [("One way IPC microbenchmarks", ipc)]
    blocks += [
        ("Signal to thread of higher prio", [result(source, 1790, 100, Prio=p) for p in PRIORITIES])
    ]
    blocks += [(name, [result(source, mean, n)]) for name, mean, n in NAMED]
    blocks += [
        ("Average signal to low prio thread", [result(source, 551, 110, Event=e) for e in EVENTS])
    ]
    blocks += [("Wait time", [result(source, 2000 + 90 * i, 50, Waiter=i) for i in range(25)])]
    return [{"Benchmark": name, "Results": rows, "Iteration": iteration} for name, rows in blocks]


def log(seed: int, size_bytes: int) -> str:
    """A console log of at least `size_bytes`."""
    source = random.Random(seed)
    benchmarks: list[dict[str, Any]] = []
    text = ""
    while len(text) < size_bytes:
        benchmarks += suite(source, len(benchmarks) and benchmarks[-1]["Iteration"] + 1)
        text = (
            f"{NOISE}\r\nJSON OUTPUT\r\n{json.dumps(benchmarks)}END JSON OUTPUT\r\nAll is "
            "well in the universe.\r\n"
        )
    return text


def write(folder: Path, count: int = 300, size_bytes: int = 200_000) -> list[Path]:
    """`count` logs in `folder`, which must exist; their paths."""
    paths = [folder / f"boot-{seed:03}.log" for seed in range(count)]
    for seed, path in enumerate(paths):
        path.write_text(log(seed, size_bytes), newline="")
    return paths


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    write(target, *map(int, sys.argv[2:4]))
