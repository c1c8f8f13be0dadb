# SPDX-License-Identifier: BSD-2-Clause
"""Debian's own kernels under QEMU: exact to the instruction, whatever the order of the circles;
bisected by codes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cyclometer.bundle.model import Bundle
from cyclometer.errors import CyclometerError, MeasurementFailed
from cyclometer.estimate.rows import Estimate, estimates
from cyclometer.explain import evidence
from cyclometer.explain.evidence import Evidence
from cyclometer.explain.explanation import Explanation, explain
from cyclometer.explain.turn import Turn, every
from cyclometer.targets import build
from cyclometer.targets.api import MeasurementResult, Progress, Request
from cyclometer.targets.linux.harness import list_circles
from cyclometer.targets.qemu_linux import debian
from cyclometer.targets.qemu_linux import target as qemu_linux
from cyclometer.targets.qemu_linux.image import MACHINES
from cyclometer.targets.qemu_linux.target import QemuLinuxTarget, _missing

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(QemuLinuxTarget().missing()), reason=QemuLinuxTarget().missing()),
]
SOME = (
    "syscall.*",
    "pipe.round_trip.*",
    "futex.hand_off.*",
    "eventfd.round_trip.same.*",
    "thread.yield.same.*",
)
ROOT = Path(__file__).parent.parent.parent


def needs(machine: str) -> pytest.MarkDecorator:
    """Skips where this computer lacks what kernels of a machine need."""
    lacks = _missing(MACHINES[machine])
    return pytest.mark.skipif(bool(lacks), reason=lacks)


for_arm64, for_riscv64 = needs("aarch64"), needs("riscv64")


def package(pattern: str) -> Path:
    """The kernel out of a package; the test is skipped where there is no network to fetch it by."""
    try:
        return debian.fetch(f"debian:{pattern}")[1]["vmlinuz"]
    except CyclometerError as error:
        pytest.skip(f"{pattern} cannot be fetched here: {error}")


@pytest.fixture(scope="module")
def kernel() -> Path:
    return package("linux-image-6.1.0-*-cloud-amd64")


@pytest.fixture(scope="module")
def measured(kernel: Path) -> MeasurementResult:
    return QemuLinuxTarget().measure(Request(only=SOME, kernel=str(kernel)), {}, Progress())


def found(measured: MeasurementResult) -> list[Estimate]:
    return estimates(measured.bundle)


def test_every_contract_is_proven_and_nothing_failed(measured: MeasurementResult) -> None:
    assert [p for p in measured.bundle.identity.problems if p.kind in ("failed", "damaged")] == []
    assert {e.contract.key: e.reason for e in found(measured) if not e.valid} == {}
    assert {e.contract.key: e.unproven for e in found(measured) if e.unproven} == {}


def test_a_machine_that_is_continued_counts_as_one_that_boots(
    kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counts() -> dict[str, set[float]]:
        asked = Request(only=("syscall.null", "pipe.round_trip.cross.equal"), kernel=str(kernel))
        bundle = QemuLinuxTarget().measure(asked, {}, Progress()).bundle
        return {e.contract.key: {run.latency.value for run in e.runs} for e in estimates(bundle)}

    continued = counts()
    assert list((build.cache() / "booted").glob("*/state"))
    monkeypatch.setattr(qemu_linux, "booted", lambda guest, *_: guest)
    assert counts() == continued


def test_two_boots_are_equal_to_the_instruction_for_nine_circles_of_ten(
    measured: MeasurementResult,
) -> None:
    values = {e.contract.key: {run.latency.value for run in e.runs} for e in found(measured)}
    assert all(e.clock.exact and e.clock.unit == "instructions" for e in found(measured))
    differing = {key: seen for key, seen in values.items() if len(seen) > 1}
    assert len(differing) <= 0.1 * len(values), differing


def test_pipes_of_a_newer_kernel_have_one_state() -> None:
    """A kernel thread that the pair of real-time threads starved would make every switch some ten
    instructions longer, as long as it waited. What is left is one update of the load a millisecond.
    """
    image = package("linux-image-6.12*-cloud-amd64")
    asked = Request(only=("pipe.round_trip.*",), kernel=str(image))
    bundle = QemuLinuxTarget().measure(asked, {}, Progress()).bundle
    found = [e for e in estimates(bundle) if e.contract.key.startswith("pipe.")]
    assert len(found) == 6
    assert {
        e.contract.key: len({run.latency.value for run in e.runs}) for e in found
    } == dict.fromkeys((e.contract.key for e in found), 1)
    samples = bundle.samples
    for e in found:
        tests = samples.tests(e.row, untagged=True)
        for turns in np.unique(samples.turns[tests]):
            counts = samples.value[tests][samples.turns[tests] == turns]
            usual = np.bincount((counts - counts.min()).astype(int)).argmax() + counts.min()
            assert np.mean(counts > usual + 100) < 0.05, (e.contract.key, turns)


def test_ticks_were_counted_by_the_guest_and_the_tests_they_touched_set_aside(
    measured: MeasurementResult,
) -> None:
    samples = measured.bundle.samples
    touched = samples.counters["interrupts"] > 0
    assert np.any(touched)
    assert np.all(samples.tags[touched] != 0)


def test_a_users_program_and_circles_run_inside_the_guest(kernel: Path, tmp_path: Path) -> None:
    examples = ROOT / "examples"
    turns = tmp_path / "turns"
    source = examples / "programs" / "turns.c"
    subprocess.run([build.compiler(), "-O2", source, "-o", turns], check=True)
    request = Request(
        kernel=str(kernel),
        runs=1,
        circles=(str(examples / "circles" / "openat_close.c"),),
        exec=(str(turns),),
    )
    bundle = QemuLinuxTarget().measure(request, {}, Progress()).bundle
    assert [p for p in bundle.identity.problems if p.kind == "failed"] == []
    valid = {one.contract.key: one.valid for one in estimates(bundle)}
    assert valid["exec.turns"]
    assert valid["file.openat_close"]
    learnt = next(r.contract for r in bundle.identity.rows if r.contract.key == "exec.turns")
    assert learnt.expect["entries"] == 1  # the stat() of a turn, and no request


def test_the_empty_loop_takes_its_two_instructions(measured: MeasurementResult) -> None:
    assert {e.contract.key: e.latency.value for e in found(measured) if e.latency}[
        "floor.empty"
    ] == 2


@pytest.mark.parametrize("clock", ["icount", "moved"])
def test_the_clock_of_this_machine_is_not_taken_for_one_of_instructions(clock: str) -> None:
    from cyclometer.errors import NotComparable

    with pytest.raises(NotComparable, match="does not count instructions"):
        list_circles(build.harness(), ["--clock", clock])


def test_a_kernel_that_panics_is_said(kernel: Path) -> None:
    request = Request(only=("syscall.null",), kernel=str(kernel), append="rdinit=/missing")
    with pytest.raises(MeasurementFailed, match=r"panicked: .*mount root fs"):
        QemuLinuxTarget().measure(request, {}, Progress())


# The example of docs/bisect.md, as it stands there, over a folder of images of which one does not
# boot.
def test_bisecting_a_folder_of_images_finds_the_first_slow_one(
    kernel: Path, tmp_path: Path
) -> None:
    newer = package("linux-image-6.12*-cloud-amd64").read_bytes()
    images = tmp_path / "images"
    images.mkdir()
    broken = newer[:0x8000] + bytes(len(newer) - 0x8000)
    for number, content in enumerate((newer, newer, broken, newer, kernel.read_bytes()), 1):
        (images / f"bzImage-{number}").write_bytes(content)
    page = (ROOT / "docs/bisect.md").read_text(encoding="utf-8")
    folder, steps = re.findall(r"```sh\n(.*?)```", page, re.S)[:2]
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "IMAGES": str(images),
    }
    done = subprocess.run(
        ["sh", "-eu", "-c", f"{folder}\n{steps}\necho\ngit bisect log"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    said = re.findall(
        r"^# (good|bad|skip|first bad commit): \[\w+\] bzImage-(\d)", done.stdout, re.M
    )
    result = done.stdout + done.stderr
    # Which image git takes after one that it skipped depends on the commits' names.
    assert said[:3] == [("bad", "5"), ("good", "1"), ("skip", "3")], result
    assert set(said[3:-1]) in ({("good", "4")}, {("good", "2"), ("good", "4")}), result
    assert said[-1] == ("first bad commit", "5"), result


def test_a_traced_turn_is_the_measured_one_and_its_functions_sum_to_it(kernel: Path) -> None:
    keys = ["pipe.round_trip.cross.equal", "syscall.null"]
    traced = QemuLinuxTarget().trace(Request(kernel=str(kernel)), keys)
    for found in evidence.gather("qemu-linux", traced, keys, "steady").values():
        steady = explain(found)
        assert sum(part.total for part in steady.functions) == steady.turn.length
        assert not [part.name for part in steady.functions if "no symbol" in part.name]
    assert steady.turn.exact
    named = {part.name for part in steady.functions}
    assert {"__x64_sys_getppid", "entry_SYSCALL_64", "getppid_turns"} <= named
    assert {mode.name.split(",")[0] for mode in steady.modes} == {"user", "kernel"}


# Thunks against speculation are the one difference; without them the shape is the kernel's own.
THUNKS = re.compile(r"__x86_(indirect|return)_|srso_|retbleed_|entry_untrain_ret|amd_clear_div")
TREES = (
    "pipe.round_trip.cross.equal",
    "futex.hand_off.cross.equal",
    "fault.segv_handler",
    "signal.self.kill",
)


def trees(kernel: Path, append: str) -> dict[str, Explanation]:
    traced = QemuLinuxTarget().trace(Request(kernel=str(kernel), append=append), TREES)
    found = evidence.gather("qemu-linux", traced, TREES, "steady")
    return {key: explain(one, shortest(one)) for key, one in found.items()}


def shortest(one: Evidence) -> Turn:
    """The turn before which no jiffy passed, so that it has no times of files to update."""
    return min(every(one), key=lambda turn: turn.length)


def test_call_trees_are_whole_with_mitigations_and_the_same_without(kernel: Path) -> None:
    with_thunks, without = trees(kernel, ""), trees(kernel, "mitigations=off")
    for key in TREES:
        shapes = [
            {tuple(name for name in part.name if not THUNKS.match(name)) for part in e.stacks}
            for e in (with_thunks[key], without[key])
        ]
        assert shapes[0] == shapes[1], key
        assert any(THUNKS.match(part.name) for part in with_thunks[key].functions)
        assert len({path[0] for path in shapes[0]}) <= 2, key
        assert not [name for path in shapes[0] for name in path if name.endswith("]")], key


@for_arm64
def test_a_traced_turn_of_an_arm64_kernel_is_the_measured_one() -> None:
    its_turn_is_told(
        package("linux-image-6.1.0-*-cloud-arm64"),
        {"__arm64_sys_getppid", "vectors", "getppid_turns"},
    )


@pytest.mark.slow
@for_riscv64
@pytest.mark.usefixtures("of_debian_13")
def test_a_traced_turn_of_a_riscv64_kernel_is_the_measured_one() -> None:
    its_turn_is_told(
        package("linux-image-6.12*-riscv64"),
        {"__riscv_sys_getppid", "handle_exception", "getppid_turns"},
    )


def its_turn_is_told(kernel: Path, functions: set[str]) -> None:
    """A null system call is one call in the sequence, each of its instructions in a function with a
    name.
    """
    traced = QemuLinuxTarget().trace(Request(kernel=str(kernel)), ["syscall.null"])
    steady = explain(
        evidence.gather("qemu-linux", traced, ["syscall.null"], "steady")["syscall.null"]
    )
    assert steady.turn.exact
    assert steady.in_sequence
    assert sum(part.total for part in steady.functions) == steady.turn.length
    assert [mode.name for mode in steady.modes] == ["user, space 1", "kernel, space 1"]
    named = {part.name for part in steady.functions}
    assert functions <= named
    assert not [name for name in named if "no symbol" in name]
    assert all(place.text and place.insn for place in steady.places.values())


@pytest.mark.slow
@for_arm64
def test_a_kernel_for_arm64_is_as_exact() -> None:
    its_counts_are_exact(package("linux-image-6.1.0-*-cloud-arm64"))


@pytest.mark.slow
@for_riscv64
@pytest.mark.usefixtures("of_debian_13")
def test_a_kernel_for_riscv64_is_as_exact() -> None:
    its_counts_are_exact(package("linux-image-6.12*-riscv64"))


@pytest.fixture
def of_debian_13(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages are those of the first release that has RISC-V, whatever this machine runs; kept
    beside its own.
    """
    own = debian._sources

    def sources(backports: bool) -> set[str]:
        return {
            re.sub(r"\S+ main$", "trixie main", line)
            for line in own(backports)
            if "security" not in line
        }

    monkeypatch.setattr(debian, "_sources", sources)
    monkeypatch.setenv("XDG_CACHE_HOME", str(build.cache() / "debian-13"))


def its_counts_are_exact(kernel: Path) -> None:
    """Few circles differ between two boots, and no system call that nothing touched is longer than
    another.
    """
    bundle = (
        QemuLinuxTarget().measure(Request(only=SOME, kernel=str(kernel)), {}, Progress()).bundle
    )
    values = {e.contract.key: {run.latency.value for run in e.runs} for e in estimates(bundle)}
    assert values["floor.empty"] == {2.0}
    assert sum(len(seen) > 1 for seen in values.values()) <= 0.1 * len(values)
    assert set(lengths(bundle, "syscall.null").values()) == {1}


def lengths(bundle: Bundle, key: str) -> dict[int, int]:
    """Different values that the untagged tests of a circle have, by turns."""
    (row,) = (
        n
        for n, row in enumerate(bundle.identity.rows)
        if (row.contract.key, row.method) == (key, "accumulated")
    )
    samples = bundle.samples
    counted = [i for i in samples.of_row(row) if samples.kind[i] == 0 and samples.tags[i] == 0]
    turns, values = samples.turns[counted], samples.value[counted]
    return {int(n): len(np.unique(values[turns == n])) for n in np.unique(turns)}
