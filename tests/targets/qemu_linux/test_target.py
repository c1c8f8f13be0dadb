# SPDX-License-Identifier: BSD-2-Clause
"""Kernels as images: boots and plans, with an emulator of ours in QEMU's place that answers every
visit at once.
"""

from __future__ import annotations

import stat
import sys
import threading
from pathlib import Path

import pytest

from cyclometer.bundle.model import Bundle, Contract
from cyclometer.errors import MeasurementFailed, NothingMeasured, UsageError
from cyclometer.estimate.rows import estimates
from cyclometer.record.schema import Flow
from cyclometer.targets.api import Progress, Request
from cyclometer.targets.qemu_linux import target as qemu_linux
from cyclometer.targets.qemu_linux.target import QemuLinuxTarget
from tests.targets.qemu_linux.test_image import image

# Plays a kernel: reads the plan from the archive it is given, and answers each visit with 40
# instructions per turn.
EMULATOR = """#!{python}
import sys, re
if "--version" in sys.argv: print("QEMU of ours"); sys.exit()
sys.path.insert(0, {root!r})
from tests.streams import circle, end, group, hello, line
archive = open(sys.argv[sys.argv.index("-initrd") + 1], "rb").read()
append = sys.argv[sys.argv.index("-append") + 1]
visits = [v.decode().split()[1:] for v in re.findall(rb"visit [^\\n]*", archive)]
run = int(re.search(rb"--run\\n(\\d+)", archive)[1])
out = lambda data: (sys.stdout.buffer.write(data), sys.stdout.buffer.flush())
clock = dict(name="icount", unit="instructions", hz=10**9, exact=True)
{misbehave}
out(line(hello(clock=clock, run=run, kernel="6.1-ours", build=dict(command_line=append))))
seq = values = 0
for key, method, initial, delta, groups, tests in visits:
    out(line(circle(seq + 1, method, key=key, expect={{}})))
    seq += 1
    for number in range(int(groups)):
        turns = int(initial) + number * int(delta)
        kind = "pass" if method in ("direct", "passes") else "group"
        found = [7 + 40 * turns] * int(tests)
        out(line(group(seq + 1, found, turns, circle=key, method=method, group=number, kind=kind)))
        seq, values = seq + 1, values + len(found)
out(line(end(seq + 1, values)))
"""
TWO = ("syscall.null", "pipe.round_trip.cross.equal")


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A kernel image; the emulator that boots it is the well-behaved one until `misbehave` is
    called.
    """
    path = tmp_path / "bzImage"
    path.write_bytes(image("x86_64"))
    monkeypatch.setattr(qemu_linux, "_program", lambda *_: path)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    misbehave(path, "pass")
    return str(path)


def misbehave(kernel: str | Path, how: str) -> None:
    script = Path(kernel).with_name("qemu-system-x86_64")
    root = str(Path(__file__).parents[3])
    script.write_text(EMULATOR.format(python=sys.executable, root=root, misbehave=how))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)


def measure(kernel: str, **request: object) -> Bundle:
    asked = Request(only=TWO, kernel=kernel, **request)  # type: ignore[arg-type]
    return QemuLinuxTarget().measure(asked, {"host": "not of the guest"}, Progress()).bundle


def test_a_kernel_is_proven_once_and_timed_twice_each_time_in_another_order(kernel: str) -> None:
    bundle = measure(kernel)
    assert {r.method for r in bundle.identity.rows} == {"proof", "accumulated"}
    assert sorted(set(bundle.samples.run.tolist())) == [0, 1, 2]
    orders = {
        run: [v["circle"] for v in bundle.identity.plan["order"] if v["run"] == run]
        for run in (1, 2)
    }
    assert sorted(orders[1]) == sorted(orders[2])
    assert orders[1] != orders[2]
    assert [e.latency.value for e in estimates(bundle) if e.latency] == [40.0] * len(orders[1])


def test_the_bundle_names_the_kernel_and_not_the_host(kernel: str) -> None:
    Path(kernel).with_name("config").write_text("CONFIG_HZ=250\n")
    bundle = measure(kernel, append="mitigations=off")
    environment = bundle.identity.environment
    assert "host" not in environment
    assert environment["image"]["name"] == "bzImage"
    assert environment["config"] == {"CONFIG_HZ": "250"}
    assert environment["build"]["command_line"].endswith("norandmaps mitigations=off")
    assert bundle.identity.rows[0].configuration["kernel"] == "6.1-ours"


def test_tests_are_small_beside_a_tick_and_alike_for_kernels_that_differ_a_little() -> None:
    assert qemu_linux.flow(11_768, 400_000) == qemu_linux.flow(11_500, 400_000)
    assert qemu_linux.flow(0.19, 400_000).initial == 128
    assert qemu_linux.flow(1e9, 400_000) == Flow(1, 1, 3, 40)
    for cost in (10, 337, 5000, 40_000):
        largest = qemu_linux.flow(cost, 400_000)
        assert (largest.initial + 2 * largest.delta) * cost <= 400_000


@pytest.mark.parametrize(
    ("how", "says", "watchdog_s"),
    [
        (
            "print('Kernel panic - not syncing: VFS: no root\\nmore'); sys.exit()",
            "panicked: 'VFS: no root'",
            60,
        ),
        ("sys.exit()", "no console on ttyS0", 60),
        ("print('hello'); sys.exit()", "ended by itself; its console ends: 'hello'", 60),
        ("import time; time.sleep(60)", "was silent after 1 s (--watchdog allows more)", 1),
        (
            "print(f'qemu-system-x86_64: warning: no pcid\\n' * 9 + 'Kernel panic - not syncing: "
            "oops'); sys.exit()",
            "panicked: 'oops'",
            60,
        ),
        (
            "print('cyclometer-linux: no such clock'); sys.exit()",
            "which gave up: 'no such clock'",
            60,
        ),
    ],
)
def test_a_kernel_that_does_not_run_the_harness_is_one_sentence_and_its_console_is_kept(
    kernel: str,
    how: str,
    says: str,
    watchdog_s: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(
        QemuLinuxTarget, "circles", lambda _: (None, [Contract(key=key) for key in TWO])
    )
    misbehave(kernel, how)
    with pytest.raises(MeasurementFailed) as caught:
        measure(kernel, watchdog_s=watchdog_s)
    assert says in str(caught.value)
    assert len(list((tmp_path / "cyclometer/failed-boots").iterdir())) == 1


def test_what_the_emulator_leaves_out_of_the_processor_is_in_the_bundle(kernel: str) -> None:
    assert "cpu_lacks" not in measure(kernel).identity.environment
    warned = "qemu-system-x86_64: warning: TCG doesn't support requested feature: CPUID.{} [bit 1]"
    lines = [warned.format(name) for name in ("07H:EBX.sha-ni", "0DH:EAX.xsaves")]
    misbehave(kernel, "; ".join(f"print({line!r}, flush=True)" for line in lines))
    assert measure(kernel).identity.environment["cpu_lacks"] == "sha-ni xsaves"


def test_what_the_emulator_refuses_is_its_own_sentence(kernel: str) -> None:
    misbehave(kernel, "print('qemu-system-x86_64: no CPU model x'); sys.exit(1)")
    with pytest.raises(UsageError, match="no CPU model x; correct"):
        measure(kernel, cpu_model="x")


def test_a_boot_that_dies_on_the_way_keeps_what_it_had(kernel: str) -> None:
    misbehave(
        kernel, "if run == 2: end = lambda *_: sys.exit(print('Kernel panic - not syncing: late'))"
    )
    bundle = measure(kernel)
    (problem,) = [p for p in bundle.identity.problems if p.kind == "failed"]
    assert (problem.where, "panicked: 'late'" in problem.what) == ("run 2", True)
    assert all(e.valid for e in estimates(bundle))


def test_nothing_measured_is_said(kernel: str) -> None:
    misbehave(kernel, "visits = []")
    with pytest.raises(NothingMeasured, match="nothing was measured"):
        measure(kernel)


def test_a_measurement_that_is_stopped_keeps_what_it_has(kernel: str) -> None:
    misbehave(kernel, "import time; run and time.sleep(60)")
    stop = threading.Event()  # set when the proof is done
    progress = Progress(lambda done, *_: stop.set() if done == 1 else None, stop)
    measured = QemuLinuxTarget().measure(Request(only=TWO, kernel=kernel), {}, progress)
    assert measured.interrupted
    assert set(measured.consoles) == {"run-0", "run-1", "run-2"}


def test_settings_of_a_matrix_are_those_of_the_options(kernel: str) -> None:
    bundle = measure("", config={"kernel": kernel, "cpu-model": "max"})
    assert bundle.identity.rows[0].configuration["cpu_model"] == "max"
    with pytest.raises(UsageError, match="nowhere is not a file; name the kernel"):
        measure(kernel, symbols="nowhere")
    with pytest.raises(UsageError, match="no setting colour"):
        measure(kernel, config={"colour": "red"})
    with pytest.raises(UsageError, match="--kernel PATH or --kernel debian:PACKAGE"):
        QemuLinuxTarget().measure(Request(), {}, Progress())
