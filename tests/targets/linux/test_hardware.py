# SPDX-License-Identifier: BSD-2-Clause
"""Counters of the processor in proofs: with a simulated PMU, with none, and with this machine's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import Bundle
from cyclometer.estimate import hardware
from cyclometer.record.schema import Flow
from cyclometer.targets import build
from cyclometer.targets.linux.harness import Harness, Launch, Visit

KEY = "syscall.null"
PROOF = Visit(0, KEY, "proof", Flow(200, 2000, 2, 5))


@pytest.fixture(scope="module")
def preload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("pmu") / "simulated_pmu.so"
    source = Path(__file__).parents[2] / "data" / "simulated_pmu.c"
    command = [build.compiler(), "-shared", "-fPIC", "-o", target, source, "-ldl"]
    subprocess.run(command, check=True)
    return target


def proven(**variables: str) -> Bundle:
    """A bundle of one proof, by a harness with these variables."""
    options = ["--proof", "--cpu", str(max(os.sched_getaffinity(0)))]
    runner = Harness(build.harness(), 0, options, 10, Launch((), variables))
    assembler = Assembler("linux", {})
    assembler.add(0, runner.visit(PROOF))
    assembler.add(0, runner.finish())
    return assembler.bundle()


def test_every_counter_that_a_pmu_shows_is_in_the_proof(preload: Path) -> None:
    bundle = proven(LD_PRELOAD=str(preload))
    if not hardware.per_turn(bundle, KEY):
        pytest.skip("this process may not count the events of a whole CPU")
    counted = hardware.per_turn(bundle, KEY)
    assert set(counted) == set(hardware.COUNTERS)
    assert counted["cycles"] > 0
    assert hardware.instructions_per_cycle(counted) is not None
    assert not any(set(hardware.COUNTERS) & set(r.contract.expect) for r in bundle.identity.rows)


def test_without_a_pmu_there_are_no_counters_and_the_proof_is_the_same(preload: Path) -> None:
    bundle = proven(LD_PRELOAD=str(preload), SIMULATED_PMU="none")
    assert hardware.per_turn(bundle, KEY) == {}
    assert len(bundle.samples) == 10
    assert not set(hardware.COUNTERS) & set(bundle.samples.counters)


def test_what_this_machine_shows_makes_sense() -> None:
    counted = hardware.per_turn(proven(), KEY)
    if "instructions_kernel" not in counted:
        pytest.skip("this machine has no PMU")
    assert counted["instructions_kernel"] > counted["instructions_user"] > 0
