# SPDX-License-Identifier: BSD-2-Clause
"""The Rocket core's RTL: exact, repeatable to the byte, every cycle accounted for, and nothing that
it is given can hurt it.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cyclometer.bundle.model import Bundle
from cyclometer.record import trace
from cyclometer.record.decode import Decoder
from cyclometer.record.schema import Flow
from cyclometer.targets import reference_kernel
from cyclometer.targets.api import MeasurementResult, Progress, Request
from cyclometer.targets.rocket import target as rocket
from cyclometer.targets.rocket.forks import forked

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(rocket.rocket().missing()), reason=rocket.rocket().missing()),
]
SHORT = Flow(initial=16, delta=16, groups=2, tests=2)
FLOOR = ("floor.*",)


@pytest.fixture(scope="module")
def simulator() -> Path:
    return rocket.rocket().build()[0]


@pytest.fixture(scope="module")
def image() -> Path:
    return rocket.rocket().build()[1]


def measure(runs: int, only: tuple[str, ...] = FLOOR, **memory: int) -> MeasurementResult:
    request = Request(only=only, runs=runs, flow=SHORT, memory_latency_cyc=memory.get("latency"))
    return rocket.rocket().measure(request, {}, Progress())


def last_values(bundle: Bundle) -> dict[str, int]:
    """The last test of each circle, in cycles."""
    samples = bundle.samples
    return {
        row.contract.key: int(samples.value[(samples.row == i) & (samples.kind == 0)][-1])
        for i, row in enumerate(bundle.identity.rows)
    }


@pytest.fixture(scope="module")
def floor() -> MeasurementResult:
    return measure(2)


def test_two_runs_are_equal_to_the_byte(floor: MeasurementResult) -> None:
    first, second = floor.consoles.values()
    assert len(first.splitlines()) > 6
    assert first == second


def test_the_clock_is_cycles_and_the_memory_stands_in_the_configuration(
    floor: MeasurementResult,
) -> None:
    row = floor.bundle.identity.rows[0]
    assert (row.clock.name, row.clock.unit, row.clock.exact) == ("cycle", "cycles", True)
    assert row.configuration["memory_latency"] == "0"
    assert row.configuration["asid"] == "off"


def test_a_turn_costs_what_the_pipeline_says(floor: MeasurementResult) -> None:
    """The empty loop retires two instructions per turn, predicted; a crossing is at least its 62
    instructions.
    """
    found = last_values(floor.bundle)
    assert 32 * 2 <= found["floor.empty.kernel"] <= 32 * 4
    assert 32 * 62 <= found["floor.crossing.user"] <= 32 * 120
    assert floor.bundle.samples.tags.any() == 0


def test_a_circle_alone_costs_what_it_costs_among_others(floor: MeasurementResult) -> None:
    alone = last_values(measure(1, ("floor.crossing.user",)).bundle)
    assert alone["floor.crossing.user"] == last_values(floor.bundle)["floor.crossing.user"]


def test_every_cycle_has_a_cause_and_the_windows_last_what_was_measured(
    simulator: Path, image: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "trace"
    arguments = reference_kernel.arguments(Request(flow=SHORT), 1, SHORT, 4) | {
        "only": "endpoint.round_trip.words_0.*"
    }
    command = [
        simulator,
        "--memory-latency",
        "10",
        "--trace",
        kept,
        "--append",
        reference_kernel.words(arguments),
        image,
    ]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    values = [test.value for test in trace.tests(Decoder().feed(done.stdout))]
    windows = trace.windows(trace.load(kept), "trace")
    assert len(windows) == len(values) == 8
    for window, value in zip(windows, values, strict=True):
        reads = window["clock"][window["insn"] & 0xFFFFF07F == 0xC0002073].astype(np.int64)
        assert reads[-1] - reads[0] == value
    spent = np.concatenate([w["causes"][1:] for w in windows]).sum(axis=0)
    assert spent[trace.CAUSES.index("unattributed")] <= 0.03 * spent.sum()
    assert all(
        spent[trace.CAUSES.index(cause)] > 0
        for cause in ("issue", "dcache", "tlb", "branch", "trap", "csr")
    )


def run(simulator: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [str(word) for word in (simulator, *words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_slower_memory_takes_longer(floor: MeasurementResult) -> None:
    """By when the last test began, since the run's origin: warm turns need no memory."""
    slow = measure(1, ("floor.crossing.user",), latency=50).bundle
    begun = floor.bundle.samples.at[floor.bundle.samples.row == len(floor.bundle.identity.rows) - 1]
    assert slow.samples.at[-1] > begun[-1]


def test_jitter_repeats_with_its_seed_and_differs_with_another(
    simulator: Path, image: Path
) -> None:
    words = reference_kernel.words(
        reference_kernel.arguments(Request(flow=SHORT), 1, SHORT, 4) | {"only": "floor.empty.user"}
    )
    outputs = [
        run(simulator, "--memory-jitter", seed, "--append", words, image).stdout
        for seed in (1, 1, 2)
    ]
    assert outputs[0] == outputs[1] != outputs[2]


def test_the_bound_ends_a_run(simulator: Path, image: Path) -> None:
    done = run(simulator, "--max-cycles", 1000, image)
    assert done.returncode == 124
    assert "stopped by --max-cycles in cycle 1000" in done.stderr


def program(*words: int) -> bytes:
    """An ELF file of these instructions at the beginning of RAM."""
    code = b"".join(struct.pack("<I", word) for word in words)
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 243, 1, 1 << 31, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    return (
        header
        + struct.pack("<IIQQQQQQ", 1, 5, 120, 1 << 31, 1 << 31, len(code), len(code), 4096)
        + code
    )


FINISH = (0x100022B7, 0x00A2A023, 0x0000006F)  # lui t0, 0x10002; sw a0, 0(t0); j .


@pytest.mark.parametrize(
    ("code", "exit_code", "message"),
    [
        ((0x00005537, 0x55550513, *FINISH), 0, ""),  # a0 = 0x5555
        ((0x00073537, 0x33350513, *FINISH), 1, "ended itself with code 7"),  # a0 = 0x73333
        ((0x200002B7, 0x0052A023, 0x0000006F), 5, "wrote to 0x20000000, where nothing is"),
    ],
)
def test_an_image_of_ones_own_ends_as_it_says(
    simulator: Path, tmp_path: Path, code: tuple[int, ...], exit_code: int, message: str
) -> None:
    (tmp_path / "own.elf").write_bytes(program(*code))
    done = run(simulator, "--max-cycles", 20000, tmp_path / "own.elf")
    assert (done.returncode, message in done.stderr) == (exit_code, True), done.stderr


def patched(image: bytes, offset: int, layout: str, value: int) -> bytes:
    content = bytearray(image)
    struct.pack_into(layout, content, offset, value)
    return bytes(content)


@pytest.mark.parametrize(
    ("offset", "layout", "value", "message"),
    [
        (0, "<I", 0, "not an ELF file"),
        (18, "<H", 62, "not a 64-bit RISC-V executable"),
        (24, "<Q", 0x10, "where no instruction can be"),
        (32, "<Q", 2**64 - 8, "program headers beyond its end"),
        (56, "<H", 65535, "program headers beyond its end"),
        (64 + 8, "<Q", 2**63, "a segment beyond its end"),
        (64 + 32, "<Q", 2**64 - 1, "a segment beyond its end"),
        (64 + 24, "<Q", 2**64 - 16, "outside RAM"),
        (64 + 40, "<Q", 1 << 40, "outside RAM"),
    ],
)
def test_a_hostile_image_is_one_sentence(
    simulator: Path, tmp_path: Path, offset: int, layout: str, value: int, message: str
) -> None:
    (tmp_path / "bad.elf").write_bytes(patched(program(0x6F), offset, layout, value))
    done = run(simulator, "--max-cycles", 1000, tmp_path / "bad.elf")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_forked_boots_print_what_boots_of_their_own_print(simulator: Path, image: Path) -> None:
    """Of three circles, with delays that are drawn one by one from reset on."""
    command = [str(simulator), "--memory-jitter", "1"]
    boots = [
        reference_kernel.arguments(Request(flow=SHORT), 1, SHORT, 4) | {"only": key}
        for key in ("floor.empty.kernel", "floor.crossing.user", "endpoint.call.words_0.cross")
    ]
    forks = forked(command, image, boots, rocket.BOOT_S, Progress())
    fresh = [rocket._boot(command, image, boot) for boot in boots]
    assert [boot.console for boot in forks] == [boot.console for boot in fresh]
    assert all(boot.done for boot in forks)


def test_forks_that_cannot_be_are_one_sentence(
    simulator: Path, image: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "boots"
    plan.write_text("")
    empty = run(simulator, "--forks", plan, image)
    assert (empty.returncode, "no line of arguments" in empty.stderr) == (5, True)
    plan.write_text("run=1\n")
    both = run(simulator, "--forks", plan, "--append", "run=2", image)
    assert (both.returncode, "leave out --append" in both.stderr) == (2, True)


def test_each_fork_ends_as_it_would_alone(simulator: Path, image: Path, tmp_path: Path) -> None:
    """One boot that the bound ends, one whose arguments do not fit, one that comes to its end."""
    plan = tmp_path / "boots"
    one_turn = "initial=1 delta=0 groups=1 tests=1 only=floor.empty.kernel"
    plan.write_text(f"only=*\n{'x' * 40000}\n{one_turn}\n")
    done = run(simulator, "--forks", plan, "--at-once", 3, "--max-cycles", 500_000, image)
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == ["1 124", "2 2", "3 0"]


def test_the_wall_clock_ends_forks(simulator: Path, image: Path, tmp_path: Path) -> None:
    """Before or after they part, by how fast this machine is."""
    plan = tmp_path / "boots"
    plan.write_text("only=*\n")  # minutes
    run(simulator, "--forks", plan, "--bound-s", 2, image)
    consoles = [path.read_bytes() for path in tmp_path.glob("boots.*")]
    assert any(b"stopped by --bound-s" in console for console in consoles)
