# SPDX-License-Identifier: BSD-2-Clause
"""A kernel in Rust, built by Cargo, with one C file of ours, on QEMU and on the RTL."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cyclometer.estimate.rows import estimates
from cyclometer.explain import sources, span
from cyclometer.explain.explanation import explain
from cyclometer.record.span import Wanted
from cyclometer.targets.api import Progress, Request
from cyclometer.targets.qemu.target import EMULATOR, virt
from cyclometer.targets.rocket.target import rocket

PORTS = Path(__file__).parents[2] / "examples" / "ports"
CROSS = "riscv64-unknown-elf-gcc"
KEYS = {"task.yield", "signal.round_trip"}
POLL = "embassy_executor::raw::Executor::poll"

MISSING = [name for name in (CROSS, EMULATOR, "cargo") if not shutil.which(name)]
pytestmark = [pytest.mark.e2e, pytest.mark.skipif(bool(MISSING), reason=f"needs {MISSING}")]
needs_rtl = pytest.mark.skipif(bool(rocket().missing()), reason=rocket().missing())


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("embassy"))


@pytest.fixture(scope="module")
def of_thirty_lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("one"), " --features one", "RECORDS=../thirty_lines.c")


def built(folder: Path, features: str = "", *settings: str) -> Path:
    """The port. What it needs of Cargo was fetched by `make setup-all`, or is not here."""
    command = ["make", "-C", str(PORTS / "embassy"), f"BUILD={folder}", *settings]
    command += [f"CARGOFLAGS=--locked --offline{features}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    absent = ("can't find crate for `core`", "--offline", "requires rustc")
    if done.returncode != 0 and any(reason in done.stderr for reason in absent):
        pytest.skip("Embassy's crates or Rust for riscv64imac are not here; run make setup-all")
    assert done.returncode == 0, done.stderr
    return folder / "port.elf"


def test_it_counts_instructions_that_sum_by_rusts_own_names(image: Path) -> None:
    request = Request(image=image)
    bundle = virt().measure(request, {}, Progress()).bundle
    assert bundle.identity.problems == ()
    assert {(row.clock.unit, row.clock.exact) for row in bundle.identity.rows} == {
        ("instructions", True)
    }
    found = {e.contract.key: e.latency.value for e in estimates(bundle) if e.valid and e.latency}
    assert set(found) == KEYS
    assert found["signal.round_trip"] > found["task.yield"]
    traced = sources.trace(virt(), request, ["signal.round_trip"], steady_only=True)
    turn = explain(traced["signal.round_trip"]["steady"])
    assert turn.length == found["signal.round_trip"]
    assert sum(part.total for part in turn.functions) == turn.turn.length
    assert POLL in {part.name for part in turn.functions}


def test_thirty_lines_of_c_count_what_the_longer_file_does(
    image: Path, of_thirty_lines: Path
) -> None:
    """It calls its clock cycles, and the laboratory knows better."""
    request = Request(image=of_thirty_lines)
    bundle = virt().measure(request, {}, Progress()).bundle
    assert bundle.identity.problems == ()
    (row,) = bundle.identity.rows
    assert (row.clock.name, row.clock.unit, row.clock.exact) == ("cycle", "instructions", True)
    (found,) = estimates(bundle)
    longer = estimates(virt().measure(Request(image=image), {}, Progress()).bundle)
    (same,) = (e for e in longer if e.contract.key == found.contract.key)
    assert found.valid
    assert found.latency
    assert same.latency
    assert found.latency.value == same.latency.value
    key = found.contract.key
    turn = explain(sources.trace(virt(), request, [key], steady_only=True)[key]["steady"])
    assert turn.length == found.latency.value


@needs_rtl
def test_thirty_lines_of_c_are_timed_in_cycles_on_the_rtl(of_thirty_lines: Path) -> None:
    request = Request(image=of_thirty_lines, machine="virt")
    bundle = rocket().measure(request, {}, Progress()).bundle
    assert bundle.identity.problems == ()
    (row,) = bundle.identity.rows
    assert (row.clock.unit, row.clock.exact) == ("cycles", True)
    (found,) = estimates(bundle)
    key = found.contract.key
    turn = explain(sources.trace(rocket(), request, [key], steady_only=True)[key]["steady"])
    assert found.latency
    assert turn.length == pytest.approx(found.latency.value, rel=0.1)
    assert sum(part.total for part in turn.functions) == turn.turn.length


@needs_rtl
def test_the_same_image_takes_more_cycles_than_instructions_on_the_rtl(image: Path) -> None:
    request = Request(image=image, machine="virt")
    bundle = rocket().measure(request, {}, Progress()).bundle
    assert bundle.identity.problems == ()
    assert {row.clock.unit for row in bundle.identity.rows} == {"cycles"}
    cycles = {e.contract.key: e.latency.value for e in estimates(bundle) if e.latency}
    counted = virt().measure(Request(image=image), {}, Progress()).bundle
    counts = {e.contract.key: e.latency.value for e in estimates(counted) if e.latency}
    assert all(cycles[key] > counts[key] for key in KEYS)


@needs_rtl
def test_every_poll_is_the_same_on_qemu_and_on_the_rtl(image: Path) -> None:
    """Found by the function's name in Rust, without a hint."""
    wanted = Wanted(POLL, skip=10, most=20)
    there = [virt().spans(Request(image=image), wanted)]
    there.append(rocket().spans(Request(image=image, machine="virt"), wanted))
    executed = [[window["pc"].tolist() for window in found.windows] for found in there]
    assert executed[0] == executed[1]
    assert len(executed[0]) == 20
    explained = [span.explain_first(name, f, wanted) for name, f in zip("ab", there, strict=True)]
    assert POLL in {part.name for part in explained[1].functions}
    assert explained[1].turn.length > explained[0].turn.length
