# SPDX-License-Identifier: BSD-2-Clause
"""Anyone's kernel image: its own names in every answer, its own end, and an exit code that is true.

The example port for bare RISC-V stands for the image; it is built for QEMU's machine `virt` and
runs unchanged on the RTL.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cyclometer.bundle import store
from cyclometer.errors import MeasurementFailed, UsageError
from cyclometer.estimate.rows import estimates
from cyclometer.explain import sources, span
from cyclometer.record.schema import Flow
from cyclometer.record.span import Spanned, Wanted
from cyclometer.targets import foreign_image
from cyclometer.targets.api import Progress, Request
from cyclometer.targets.console import read_console
from cyclometer.targets.qemu import target as qemu
from cyclometer.targets.rocket import target as rocket

CROSS = "riscv64-unknown-elf-gcc"
MISSING = [name for name in (CROSS, qemu.EMULATOR, "make") if not shutil.which(name)]
pytestmark = [pytest.mark.e2e, pytest.mark.skipif(bool(MISSING), reason=f"needs {MISSING}")]
needs_rtl = pytest.mark.skipif(bool(rocket.rocket().missing()), reason=rocket.rocket().missing())
PORT = Path(__file__).parents[2] / "examples/ports/riscv"


def built(port: Path, folder: Path) -> Path:
    command = ["make", "-s", "-C", str(port), f"BUILD={folder}"]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "port.elf"


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(PORT, tmp_path_factory.mktemp("port"))


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same kernel after a change: its trap handler reads one more register."""
    folder = tmp_path_factory.mktemp("slower")
    port = folder / "examples/ports/riscv"
    shutil.copytree(PORT, port, ignore=shutil.ignore_patterns("build"))
    (folder / "core").symlink_to(PORT.parents[2] / "core")
    source = port / "main.c"
    more = 'traps++;\n    __asm__ volatile("csrr %0, mcause" : "=r"(pc));'
    source.write_text(source.read_text().replace("traps++;", more, 1))
    return built(port, folder / "build")


def bare(folder: Path, code: str, name: str = "image") -> Path:
    """An image of a few instructions in M mode."""
    source = folder / f"{name}.S"
    source.write_text(f".globl _start\n_start:\n{code}\n1: j 1b\n")
    image = folder / f"{name}.elf"
    flags = ["-nostdlib", "-march=rv64imac_zicsr", "-mabi=lp64", "-Wl,-n,-Ttext=0x80000000"]
    subprocess.run([CROSS, *flags, source, "-o", image], check=True, capture_output=True)
    return image


def printing(text: str, then: str = "") -> str:
    """Code that sends a text to the UART of `virt`."""
    sent = "\n".join(f"li t1, {byte}\nsb t1, 0(t0)" for byte in text.encode())
    return f"li t0, 0x10000000\n{sent}\n{then}"


POWER_OFF = "li t0, 0x100000\nli t1, 0x5555\nsw t1, 0(t0)"
FAIL = "li t0, 0x100000\nli t1, 0x33333\nsw t1, 0(t0)"


# One row as sel4bench prints it, and its last line; it does not end by itself.
SEL4BENCH = """JSON OUTPUT
[{"Benchmark": "Signal to high prio thread", "Results": [{"Min": 826, "Max": 830, "Mean": 828.0,
"Stddev": 1.826, "Variance": 3.3, "Mode": 826.0, "Median": 828.0, "1st quantile": 826.5,
"3rd quantile": 829.5, "Samples": 4, "Raw results": [826, 827, 829, 830]}]}]
END JSON OUTPUT
All is well in the universe
"""


def test_a_bundle_says_the_images_name_clock_hash_and_machine(image: Path) -> None:
    request = Request(image=image, name="bare", flow=Flow(4, 4, 2, 2))
    found = qemu.virt().measure(request, {}, Progress())
    identity = found.bundle.identity
    assert (identity.target, found.broken) == ("bare", False)
    assert identity.environment["image"]["name"] == "port.elf"
    assert len(identity.environment["image"]["sha256"]) == 64
    assert {(row.clock.unit, row.clock.exact) for row in identity.rows} == {("instructions", True)}


def test_a_trace_of_an_image_names_the_images_own_functions(image: Path) -> None:
    request = Request(image=image, name="bare", only=("trap.ecall",))
    found = sources.trace(qemu.virt(), request, ["trap.ecall"], steady_only=True)
    evidence = found["trap.ecall"]["steady"]
    functions = {located.place.function for located in evidence.facts.places}
    files = {located.place.file for located in evidence.facts.places}
    assert {"trap_turns", "handle_trap"} <= functions
    assert not any("kernel/" in file for file in files), files
    assert evidence.facts.configuration["image"] == "bare"


@needs_rtl
def test_an_image_for_virt_runs_unchanged_on_the_rtl(image: Path) -> None:
    small = Flow(2, 2, 2, 1)
    request = Request(image=image, machine="virt", name="bare", flow=small, only=("trap.ecall",))
    found = rocket.rocket().measure(request, {}, Progress())
    clocks = {(row.clock.unit, row.clock.exact) for row in found.bundle.identity.rows}
    assert (clocks, found.broken) == ({("cycles", True)}, False)


def test_an_image_without_hints_is_not_explained_by_another_kernel(tmp_path: Path) -> None:
    request = Request(image=bare(tmp_path, POWER_OFF))
    with pytest.raises(MeasurementFailed, match=r"image\.elf marks no window"):
        qemu.virt().trace(request, ["endpoint.round_trip.words_0.same"])


def test_a_text_ends_an_image_that_does_not_end(tmp_path: Path) -> None:
    image = bare(tmp_path, printing("hello\nfinished\n"))
    request = Request(image=image, until="finished", watchdog_s=50)
    with pytest.raises(MeasurementFailed, match="said that it was done; it printed neither"):
        qemu.virt().measure(request, {}, Progress())


IDLING = "2: wfi\nj 2b"


@pytest.mark.parametrize("until", [None, "finished"])
def test_an_image_that_idles_for_ever_has_ended(tmp_path: Path, until: str | None) -> None:
    """Its rows count, unless the text that was to end it never came."""
    rows = SEL4BENCH.replace("All is well in the universe\n", "")
    request = Request(image=bare(tmp_path, printing(rows, IDLING)), until=until, watchdog_s=300)
    found = qemu.virt().measure(request, {}, Progress())
    said = [problem.what for problem in found.bundle.identity.problems]
    assert found.broken == (until is not None)
    assert found.broken == any("went idle, with no timer to wake it, at pc" in s for s in said)


@needs_rtl
@pytest.mark.parametrize("target", [rocket.rocket(), rocket.cva6()], ids=lambda t: t.name)
def test_the_rtl_says_which_hart_waits_for_ever_and_where(
    tmp_path: Path, target: rocket.CoreTarget
) -> None:
    rows = SEL4BENCH.replace("All is well in the universe\n", "")
    parked = bare(tmp_path, printing(rows, "nop\nparked: wfi\nj parked\n"))
    request = Request(image=parked, machine="virt", until="finished")
    found = target.measure(request, {}, Progress())
    (said,) = [problem.what for problem in found.bundle.identity.problems]
    sentence = (
        "the boot went idle, with no timer to wake it, "
        r"hart 0 at pc 0x8000[0-9a-f]{4} in parked; its records until then are kept"
    )
    assert re.fullmatch(sentence, said), said
    whole = target.measure(replace(request, until=None), {}, Progress())
    assert not whole.broken


def test_labels_stand_in_the_configuration_and_the_last_line_is_shown(tmp_path: Path) -> None:
    shown: list[str] = []
    progress = Progress(lambda *at: shown.append(at[2]))
    image = bare(tmp_path, printing(SEL4BENCH))
    request = Request(image=image, config={"mcs": "on"}, watchdog_s=300)
    found = qemu.virt().measure(request, {}, progress)
    assert {row.configuration["mcs"] for row in found.bundle.identity.rows} == {"on"}
    assert shown
    assert all(line == "no output yet" or line in SEL4BENCH for line in shown)
    with pytest.raises(UsageError, match="the machine sets --config machine to qemu virt"):
        qemu.virt().measure(replace(request, config={"machine": "x"}), {}, progress)


def test_a_console_without_rows_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    request = Request(image=bare(tmp_path, printing("panic: no root\n", FAIL)))
    with pytest.raises(MeasurementFailed, match="its console is in ") as caught:
        qemu.virt().measure(request, {}, Progress())
    kept = Path(str(caught.value).rpartition(" ")[2])
    assert b"panic: no root" in kept.read_bytes()


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (FAIL, r"ended by itself \(exit status 3\); it printed neither"),
        (printing(SEL4BENCH[:120]), "it printed the beginning of sel4bench's figures"),
        ("li a7, 1\necall", r"at pc 0x0, where a trap without a handler goes .* needs --firmware"),
    ],
)
def test_why_there_are_no_rows_is_said(tmp_path: Path, code: str, says: str) -> None:
    with pytest.raises(MeasurementFailed, match=says):
        qemu.virt().measure(Request(image=bare(tmp_path, code), watchdog_s=8), {}, Progress())


def test_what_an_image_did_not_heed_is_a_note(tmp_path: Path) -> None:
    """Its rows are kept: it printed them."""
    image = bare(tmp_path, printing(SEL4BENCH))
    request = Request(image=image, only=("endpoint.*",), method="passes")
    found = qemu.virt().measure(request, {}, Progress())
    assert [p.what for p in found.bundle.identity.problems] == [
        f"1 of 1 rows are not what {option} asked the image for"
        for option in ("--only", "--method")
    ]
    assert not found.broken


def test_the_files_that_a_bundle_names_are_there(tmp_path: Path) -> None:
    """And the valid rows of a boot that ended with a failure do not hide it."""
    text = SEL4BENCH.replace("All is well in the universe", "Kernel panic!")
    words = ["run", "--target", "qemu-virt", "--image", str(bare(tmp_path, printing(text, FAIL)))]
    done = subprocess.run(
        [sys.executable, "-m", "cyclometer", *words, "-o", str(tmp_path / "bundle")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 5
    assert "the image ended itself with code 3" in done.stderr
    found = store.read(tmp_path / "bundle").identity
    assert set(found.files) <= {path.name for path in (tmp_path / "bundle").iterdir()}


def test_rows_and_a_failing_end_exit_with_5(image: Path, tmp_path: Path) -> None:
    """The records are valid; the machine ends with a failure all the same."""
    records = qemu.virt().measure(Request(image=image, flow=Flow(1, 0, 1, 1)), {}, Progress())
    console = records.consoles["run-1"].split(b'@cyc {"kind":"end"')[0].decode()
    broken = bare(tmp_path, printing(console, FAIL))
    words = [sys.executable, "-m", "cyclometer", "run", "--target", "qemu-virt"]
    words += ["--image", str(broken), "-o", str(tmp_path / "bundle")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 5, done.stderr
    assert "run 1: the boot ended by itself" in done.stderr
    assert (tmp_path / "bundle" / "bundle.json").exists()


@pytest.mark.parametrize("target", [qemu.virt(), pytest.param(rocket.rocket(), marks=needs_rtl)])
def test_a_console_of_another_suite_has_the_clock_of_the_machine(
    tmp_path: Path, target: qemu.QemuTarget | rocket.CoreTarget
) -> None:
    """sel4bench calls what it reads cycles; under QEMU they are instructions."""
    image = bare(tmp_path, printing(SEL4BENCH))
    found = target.measure(Request(image=image, name="sel4", watchdog_s=300), {}, Progress())
    identity = found.bundle.identity
    unit = "cycles" if target.name == "rocket" else "instructions"
    assert {(row.clock.unit, row.clock.exact) for row in identity.rows} == {(unit, True)}
    assert (identity.target, identity.problems, found.broken) == ("sel4", (), False)
    assert identity.environment["image"]["name"] == "image.elf"
    assert target.name in identity.rows[0].configuration["machine"].replace(" ", "-")


def test_rows_of_a_boot_that_was_cut_are_kept_and_exit_with_5(image: Path, tmp_path: Path) -> None:
    records = qemu.virt().measure(Request(image=image, flow=Flow(1, 0, 1, 1)), {}, Progress())
    console = records.consoles["run-1"].split(b'@cyc {"kind":"end"')[0].decode()
    request = Request(image=bare(tmp_path, printing(console)), watchdog_s=8)
    found = qemu.virt().measure(request, {}, Progress())
    assert (found.broken, bool(found.bundle.identity.rows)) == (True, True)
    assert "had not finished after 8 s" in found.bundle.identity.problems[-1].what


def test_an_interrupt_keeps_what_an_image_had_printed() -> None:
    """The machine here is a program that interrupts us when it has printed."""
    machine = "import os, signal, time; print('row', flush=True)"
    machine += "; os.kill(os.getppid(), signal.SIGINT); time.sleep(60)"
    progress = Progress()
    ended = foreign_image.interruptible(
        progress, lambda stop: read_console([sys.executable, "-c", machine], 50, stop)
    )
    assert (ended.console, ended.why) == (b"row\n", "was interrupted")
    assert progress.stop.is_set()


@pytest.mark.parametrize(
    ("target", "options", "says"),
    [
        (qemu.virt(), {"name": "x"}, "--name does not apply"),
        (qemu.virt(), {"image": Path("x"), "runs": 3}, "--runs does not apply"),
        (rocket.rocket(), {"firmware": "y"}, "--firmware does not apply"),
        (rocket.rocket(), {"image": Path("x"), "machine": "sifive_u"}, "cannot be --machine"),
    ],
)
def test_what_is_not_heeded_is_refused(
    target: qemu.QemuTarget | rocket.CoreTarget, options: dict[str, object], says: str
) -> None:
    if target.missing():
        pytest.skip(target.missing())
    with pytest.raises(UsageError, match=says):
        target.measure(Request(**options), {}, Progress())  # type: ignore[arg-type]


# `work` is called with 4, 3, 2, 1; odd numbers take two instructions more.
WORKING = """
    li      s0, 4
1:  mv      a0, s0
    call    work
    addi    s0, s0, -1
    bnez    s0, 1b
    j       finished
work:
    andi    t0, a0, 1
    beqz    t0, 2f
    nop
    nop
2:  ret
finished:
"""
WORK = Wanted("work")


def worked(target: qemu.QemuTarget | rocket.CoreTarget, folder: Path, wanted: Wanted) -> Spanned:
    image = bare(folder, WORKING + printing("finished\n"), target.name)
    return target.spans(Request(image=image, until="finished", watchdog_s=120), wanted)


def counts(found: Spanned) -> list[int]:
    return [len(window) for window in found.windows]


def test_every_call_of_a_function_is_found_with_its_path(tmp_path: Path) -> None:
    found = worked(qemu.virt(), tmp_path, WORK)
    assert (counts(found), found.ended) == ([3, 5, 3, 5], "said that it was done")
    even, odd = span.paths(found, WORK)
    assert (even.lengths, odd.lengths) == ([3, 3], [5, 5])
    assert span.extra(even, odd, found.places) == [("work", 2)]


def test_one_window_between_two_addresses(tmp_path: Path) -> None:
    wanted = Wanted("work", "work+0x8", skip=1, most=1)
    found = worked(qemu.virt(), tmp_path, wanted)
    explained = span.explain_first("qemu-virt", found, wanted)
    assert explained.turn.length == 2
    assert [part.name for part in explained.functions] == ["work"]
    loop = worked(qemu.virt(), tmp_path, Wanted("work", "work", most=2))
    assert counts(loop) == [7, 9]  # with the loop around it


@needs_rtl
def test_the_rtl_traces_the_same_windows(tmp_path: Path) -> None:
    for wanted in (WORK, Wanted("work", "work", skip=1, most=2)):
        there = [
            [window["pc"].tolist() for window in worked(target, tmp_path, wanted).windows]
            for target in (qemu.virt(), rocket.rocket())
        ]
        assert there[0] == there[1]
        assert len(there[0]) == (4 if wanted is WORK else 2)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (Wanted("wrok"), r"no symbol wrok .* did you mean work"),
        (Wanted("work+x"), "neither a symbol nor an address"),
        (Wanted("finished+0x0", "0x"), "neither a symbol nor an address"),
    ],
)
def test_a_place_that_is_not_there_is_refused(tmp_path: Path, wanted: Wanted, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        worked(qemu.virt(), tmp_path, wanted)


def test_a_handler_needs_an_end(image: Path) -> None:
    with pytest.raises(UsageError, match=r"handle_trap ends with mret.*--to 0x"):
        qemu.virt().spans(Request(image=image), Wanted("handle_trap"))


def test_a_place_that_is_never_reached_is_one_sentence(tmp_path: Path) -> None:
    wanted = Wanted("work", skip=9)
    with pytest.raises(MeasurementFailed, match=r"nothing ran from work .* after the first 9"):
        span.paths(worked(qemu.virt(), tmp_path, wanted), wanted)


def gate(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cyclometer", "gate", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_gate_of_two_images_judges_and_names_the_function(image: Path, slower: Path) -> None:
    done = gate(image, slower, "--margin", "0%", "--only", "trap.ecall")
    assert done.returncode == 1, done.stderr
    assert "trap.ecall: +1 instructions; handle_trap +1" in done.stdout
    assert gate(slower, image, "--margin", "0%", "--only", "trap.ecall").returncode == 0


def test_a_gate_of_one_image_with_itself_passes(image: Path, tmp_path: Path) -> None:
    other = shutil.copy(image, tmp_path / "other.elf")
    done = gate(image, other, "--json")
    assert done.returncode == 0, done.stderr
    assert '"verdict": "equivalent"' in done.stdout


def test_a_gate_fails_if_a_boot_did(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its records are whole and as good as the base's; then it panics and ends with a failure."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    records = qemu.virt().measure(Request(image=image, name="image"), {}, Progress())
    console = records.consoles["run-1"].split(b'@cyc {"kind":"end"')[0].decode()
    failing = bare(tmp_path, printing(f"{console}panic: no root\n", FAIL))
    done = gate(image, failing, "--margin", "0%")
    assert done.returncode == 5, done.stdout + done.stderr
    assert "the boot ended by itself" in done.stderr
    told = done.stderr.partition(f"the console of {failing} is in ")[2]
    assert "\n    panic: no root\n" in told
    assert "@cyc" not in told
    assert b"panic: no root" in Path(told.partition(" and ends")[0]).read_bytes()


def test_a_gate_of_two_images_that_print_no_rows_names_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    base, other = (
        bare(tmp_path, printing(f"panic: {name}\n", FAIL), name) for name in ("base", "pr")
    )
    done = gate(base, other)
    assert done.returncode == 5, done.stdout + done.stderr
    for one in (base, other):
        assert f"cyclometer: {one}: the image ended by itself" in done.stderr
        assert f"panic: {one.stem}" in done.stderr


def test_several_images_have_a_bundle_each(image: Path, slower: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "cyclometer", "run", "--target", "qemu-virt", "--only", "trap.*"]
    words += ["--image", str(image), "--image", str(slower), "-o", str(tmp_path / "both")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    latencies = [
        estimates(store.read(tmp_path / "both" / name))[0].latency for name in ("port", "port-2")
    ]
    assert latencies[0]
    assert latencies[1]
    assert latencies[1].value == latencies[0].value + 1


def test_named_images_of_one_file_name_are_columns_of_a_matrix(
    image: Path, slower: Path, tmp_path: Path
) -> None:
    assert image.name == slower.name
    command = [sys.executable, "-m", "cyclometer"]
    both = tmp_path / "both"
    words = ["run", "--target", "qemu-virt", "--only", "trap.*", "-o", str(both)]
    words += ["--image", f"base={image}", "--image", f"pr={slower}"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    words = ["matrix", str(both / "base"), str(both / "pr"), "--markdown", "--margin", "0%"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "|  | base | pr |" in done.stdout
    assert "| trap.ecall | 18 instructions | 19 x1.06 |" in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["base=a.elf", "base=b.elf"], "two images are called base"),
        (["=a.elf"], "as NAME=FILE"),
        (["base="], "as NAME=FILE"),
    ],
)
def test_a_name_of_an_image_that_says_nothing_is_refused(words: list[str], says: str) -> None:
    given = [word for one in words for word in ("--image", one)]
    done = subprocess.run(
        [sys.executable, "-m", "cyclometer", "run", "--target", "qemu-virt", *given],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert says in " ".join(done.stderr.replace("\u2502", " ").split())


def test_options_of_images_are_refused_for_bundles(tmp_path: Path) -> None:
    done = gate(tmp_path, tmp_path, "--memory-mib", 64)
    assert (done.returncode, "--memory-mib is for two images" in done.stderr) == (2, True)


LOST = "    nop\nlost:\n    j lost\n"


@pytest.mark.parametrize("target", [qemu.virt(), pytest.param(rocket.rocket(), marks=needs_rtl)])
def test_the_watchdog_names_the_function(
    tmp_path: Path, target: qemu.QemuTarget | rocket.CoreTarget
) -> None:
    request = Request(image=bare(tmp_path, LOST), watchdog_s=4)
    with pytest.raises(MeasurementFailed, match=r"after 4 s .*, at pc 0x8000000\d in lost; it"):
        target.measure(request, {}, Progress())
