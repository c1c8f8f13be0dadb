# SPDX-License-Identifier: BSD-2-Clause
"""What the place of its code alone does to the cycles of a kernel that is not ours: Embassy, linked
at 32 addresses, each image run on the RTL of the Rocket core.

    python tools/experiments/embassy_layouts.py

It needs Cargo with the target riscv64imac-unknown-none-elf, and takes some three minutes.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import board
from scipy import stats

from cyclometer.estimate.rows import estimates
from cyclometer.targets import build
from cyclometer.targets.api import SILENT, Request
from cyclometer.targets.rocket.target import rocket

PORT = Path(__file__).resolve().parents[2] / "examples" / "ports" / "embassy"
SHIFTS_BYTES = range(0, 32 * 132, 132)  # every place in a line, in all sets of the caches


def images(folder: Path) -> list[Path]:
    """The port, linked once for each shift."""
    found = []
    for shift in SHIFTS_BYTES:
        command = ["make", "-s", "-C", str(PORT), f"LAYOUT={shift}", f"BUILD={folder}"]
        subprocess.run(command, check=True)
        found.append((folder / "port.elf").rename(folder / f"{shift}.elf"))
    return found


def latencies(image: Path) -> dict[str, float]:
    """As `cyclometer run --target rocket --machine virt --image FILE` tells them."""
    request = Request(image=image, machine="virt")
    bundle = rocket().measure(request, {}, SILENT).bundle
    return {e.contract.key: e.latency.value for e in estimates(bundle) if e.latency is not None}


def line(key: str, values: list[float]) -> tuple[str, ...]:
    """Least and greatest, and the mean with its 95 % interval, layouts drawn at random."""
    mean, error = statistics.fmean(values), stats.sem(values)
    low, high = stats.t.interval(0.95, len(values) - 1, mean, error)
    cells = (min(values), mean, max(values))
    interval = f"{low:.4g} to {high:.4g}"
    return f"`{key}`", str(len(values)), *(f"{cell:.4g}" for cell in cells), interval


if __name__ == "__main__":
    rocket().build()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(build.cores()) as pool:
        by_shift = list(pool.map(latencies, images(Path(name))))
    rows = [line(key, [found[key] for found in by_shift]) for key in by_shift[0]]
    header = ("row", "layouts", "least", "mean", "greatest", "95 % interval of the mean")
    board.write("layout.md", embassy=board.table(header, rows))
