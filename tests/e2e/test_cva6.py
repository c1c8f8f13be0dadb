# SPDX-License-Identifier: BSD-2-Clause
"""The CVA6 core's RTL: the same kernel, exact, every cycle accounted for, with address space
identifiers.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from cyclometer.record import trace
from cyclometer.record.decode import Decoder
from cyclometer.record.schema import Flow
from cyclometer.targets import reference_kernel
from cyclometer.targets.api import Progress, Request
from cyclometer.targets.rocket import target as cores

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(cores.cva6().missing()), reason=cores.cva6().missing()),
]
SHORT = Flow(initial=8, delta=8, groups=1, tests=3)
CROSS = "endpoint.round_trip.words_0.cross"


def windows(asid: str, kept: Path) -> tuple[list[int], list[trace.Steps]]:
    """The values of a boot's tests, and what each of them executed."""
    simulator, image = cores.cva6().build({"asid": asid})
    arguments = reference_kernel.arguments(Request(flow=SHORT), 1, SHORT, 1) | {"only": CROSS}
    command = [simulator, "--trace", kept, "--append", reference_kernel.words(arguments), image]
    done = subprocess.run(command, capture_output=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    records = Decoder().feed(done.stdout)
    assert records[0].target == "cva6"
    assert records[0].configuration["asid"] == asid
    values = [test.value for test in trace.tests(records)]
    return values, [w.copy() for w in trace.windows(trace.load(kept), "trace")]


def share(steps: trace.Steps, cause: str) -> float:
    """Of the window's cycles."""
    spent = steps["causes"][1:].sum(axis=0)
    return float(spent[trace.CAUSES.index(cause)] / spent.sum())


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[int], list[trace.Steps]]:
    return windows("on", tmp_path_factory.mktemp("cva6") / "trace")


def test_the_windows_last_what_was_measured(boot: tuple[list[int], list[trace.Steps]]) -> None:
    values, result = boot
    assert len(values) == len(result) == 3
    for window, value in zip(result, values, strict=True):
        reads = window["clock"][window["insn"] & 0xFFFFF07F == 0xC0002073].astype(np.int64)
        assert reads[-1] - reads[0] == value


def test_every_cycle_has_a_cause(boot: tuple[list[int], list[trace.Steps]]) -> None:
    for window in boot[1]:
        passed = np.diff(window["clock"].astype(np.int64))
        assert np.array_equal(window["causes"][1:].sum(axis=1), passed)
        assert share(window, "unattributed") <= 0.01
    assert all(share(boot[1][-1], cause) > 0 for cause in ("issue", "branch", "trap", "csr"))


def test_two_instructions_commit_in_a_cycle(boot: tuple[list[int], list[trace.Steps]]) -> None:
    steps = boot[1][-1]
    assert (np.diff(steps["clock"].astype(np.int64)) == 0).any()
    assert share(steps, "issue") < len(steps) / int(steps["clock"][-1] - steps["clock"][0])


def test_with_identifiers_a_warm_switch_of_spaces_walks_no_tables(
    boot: tuple[list[int], list[trace.Steps]],
) -> None:
    steps = boot[1][-1]
    assert len(set(steps["space"])) >= 2
    assert share(steps, "tlb") == 0


@pytest.mark.long
def test_without_identifiers_it_walks_them_again(
    boot: tuple[list[int], list[trace.Steps]], tmp_path: Path
) -> None:
    values, result = windows("off", tmp_path / "trace")
    assert share(result[-1], "tlb") > 0
    assert values[-1] > boot[0][-1]


@pytest.mark.long
def test_two_runs_are_equal_to_the_byte() -> None:
    request = Request(only=("floor.*",), runs=2, flow=SHORT)
    first, second = cores.cva6().measure(request, {}, Progress()).consoles.values()
    assert len(first.splitlines()) > 6
    assert first == second
