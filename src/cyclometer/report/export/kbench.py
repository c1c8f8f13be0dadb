# SPDX-License-Identifier: BSD-2-Clause
"""KBench's own table: raw accumulated latencies of one run of one circle, tests down, groups
across.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import Bundle
from cyclometer.errors import NothingMeasured, UsageError
from cyclometer.estimate.rows import Estimate
from cyclometer.report.export.request import ExportRequest


def export(request: ExportRequest) -> str:
    """The table that KBench prints, of one circle and one run; every test is in it, disturbed or
    not.
    """
    e = request.only_one("kbench")
    run, rows = _run(request.bundle, e, request.run)
    samples = request.bundle.samples
    sizes = np.unique(samples.turns[rows])
    steps = np.unique(np.diff(sizes))
    if len(steps) > 1:
        raise UsageError(
            f"the sizes of {e.contract.key} do not grow by one delta ({_list(sizes)}); use csv "
            "--samples"
        )
    columns = [samples.value[rows[samples.turns[rows] == size]] for size in sizes]
    tests = min(len(column) for column in columns)
    lines = [
        *_preamble(
            e, run, len(rows) - tests * len(sizes), int(np.count_nonzero(samples.tags[rows]))
        ),
        "",
        f"Initial Test size: {sizes[0]}",
        f"Delta: {steps[0] if len(steps) else 0}",
        f"Number of Tests / Sample size of Accumulated latency: {tests}",
        f"Number of Groups: {len(sizes)}",
        "Accumulated latencies (clock cycles):",
        *(_list(line) for line in np.stack([column[:tests] for column in columns], axis=1)),
        "",
        "Done!",
    ]
    return "\n".join(lines) + "\n"


def _run(bundle: Bundle, e: Estimate, wanted: int | None) -> tuple[int, NDArray[np.intp]]:
    """The run to print, the first where none is wanted, and its tests in arrival order."""
    rows = bundle.samples.tests(e.row)
    runs = np.unique(bundle.samples.run[rows]).tolist()
    if not runs:
        raise NothingMeasured(
            f"the bundle holds no raw samples of {e.contract.key}, which KBench's table consists of"
        )
    run = runs[0] if wanted is None else wanted
    if run not in runs:
        raise UsageError(
            f"the bundle has no run {run} of {e.contract.key}; it has {', '.join(map(str, runs))}"
        )
    return run, rows[bundle.samples.run[rows] == run]


def _preamble(e: Estimate, run: int, cut: int, tagged: int) -> list[str]:
    """What the format has no field for, as console text before the table: readers of KBench's
    output skip it.
    """
    rate = f" at {e.clock.hz / 1e6:g} MHz" if e.clock.hz else ""
    lines = [f"{e.contract.key}, run {run}, clock {e.clock.name} ({e.clock.unit}{rate})"]
    if tagged:
        lines.append(
            f"{tagged} of the tests were disturbed or invalid; `cyclometer show` sets them aside"
        )
    if cut:
        lines.append(
            f"{cut} tests of an unfinished visit are left out, for the table is rectangular"
        )
    return lines


def _list(values: NDArray[np.generic]) -> str:
    return " ".join(
        repr(value) if value != int(value) else str(int(value)) for value in values.tolist()
    )
