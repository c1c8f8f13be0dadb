# SPDX-License-Identifier: BSD-2-Clause
"""The reference kernel on two harts, under one lock and with locks per object: its tests hold in
many interleavings, and find what is taken out of the kernel for a moment.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cyclometer.errors import UsageError
from cyclometer.record.decode import Decoder
from cyclometer.record.schema import Failed, Group, Pass, Values
from cyclometer.targets import build, reference_kernel
from cyclometer.targets.qemu import target as qemu
from cyclometer.targets.rocket import simulator as rocket_board
from cyclometer.targets.rocket import target as cores

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        bool(cores.rocket_duo().missing()) or not shutil.which(qemu.EMULATOR),
        reason=cores.rocket_duo().missing() or qemu.virt().missing(),
    ),
]
SCHEMES = ("biglock", "fine")
MAX_CYC = 20_000_000  # a run that holds takes a quarter
SEEDS = [pytest.param(seed, marks=[pytest.mark.long] if seed > 0 else []) for seed in range(50)]
EMULATED_S = 300  # a whole machine takes a second; two harts on one busy CPU take a minute
FOUND_S = 15  # a run in which nothing is wrong takes one

SPACES = ("same", "cross")
CONVERSATIONS = ("semaphore", "notification", "mutex")
THERE_AND_BACK = {"switches": 4, "interrupts": 2, "wakeups": 2, "ipis": 2, "shootdowns": 0}
SHOOTDOWN = {"entries": 0, "switches": 0, "interrupts": 0, "ipis": 0, "shootdowns": 1}
STOPPED = {"switches": 2, "interrupts": 2, "wakeups": 0, "ipis": 2, "shootdowns": 0}
# Each row between harts, and some of what one of its turns is.
ROWS = {
    **{
        f"endpoint.round_trip.words_{words}.{space}.other_cpu": THERE_AND_BACK | {"entries": 2}
        for words, space in itertools.product((0, 10), SPACES)
    },
    **{
        f"{kind}.round_trip.{space}.other_cpu": THERE_AND_BACK | {"entries": 4}
        for kind, space in itertools.product(CONVERSATIONS, SPACES)
    },
    "semaphore.give.wake+ctx.u_to_u.other_cpu": THERE_AND_BACK | {"entries": 4},
    "thread.abort.running.kernel.from.kernel.other_cpu": STOPPED | {"entries": 0},
    "thread.abort.running.user.from.user.other_cpu": STOPPED | {"entries": 3},
    "memory.shootdown.idle.other_cpu": SHOOTDOWN,
    "memory.shootdown.busy.other_cpu": SHOOTDOWN,
}
# One call of each side per turn, or the monitor's: no hart can be late.
IN_ANY_SCHEDULE = [row for row in ROWS if row.startswith(("endpoint.", "memory."))]
# Two calls of a side, which only there are sure to come before the other hart wakes up; and one.
ON_THE_RTL = (
    "notification.round_trip.cross.other_cpu",
    "endpoint.round_trip.words_0.cross.other_cpu",
)
FLOW = "initial=8 delta=8 groups=1 tests=3 passes=8"

# What is taken out: a file, a text of it, and what stands there instead.
FAULTS = {
    "all locks": ("ticket_lock.h", "!= ticket)", "!= ticket && 0)"),
    "the interrupt that wakes": ("smp.c", "monitor_interrupt(hart->number);", "(void)hart;"),
    "the fence of a shootdown": ("monitor.c", "        fence_all_pages();\n    }", "    }"),
}
# With locks per object, besides.
FINE_FAULTS = {
    "the objects' locks": ("smp.h", "    smp_let_go();\n    lock_take(lock);", "    smp_let_go();"),
    "the look at who arrived": ("trap.c", "        smp_arrivals();\n", ""),
}
PLANTED = [
    *((scheme, fault) for scheme in SCHEMES for fault in FAULTS),
    *(("fine", fault) for fault in FINE_FAULTS),
]


def image(sources: Path, out: Path, board: str, scheme: str) -> Path:
    """The test image of two harts, built from a folder that holds kernel/ and core/."""
    options = [f"board={board}", f"smp={scheme}", f"BUILD={out}"]
    make = ["make", "--no-print-directory", "-s", "-C", str(sources / "kernel"), *options]
    named = subprocess.run([*make, "name"], capture_output=True, text=True, check=True)
    linked = Path(named.stdout.strip()) / "test.elf"
    subprocess.run([*make, "all", str(linked)], check=True)
    return linked


def simulated(linked: Path, seed: int, parameters: str = "") -> tuple[int, str]:
    """The exit code and the console of a run with the memory's jitter drawn from `seed`."""
    simulator = rocket_board.simulator(cores.rocket_duo().core)
    options = ["--leap", "--max-cycles", str(MAX_CYC), "--memory-jitter", str(seed)]
    words = ["--append", parameters]
    done = subprocess.run([simulator, *options, *words, linked], capture_output=True, check=False)
    return done.returncode, done.stdout.decode()


def emulated(linked: Path, bound_s: int, parameters: str = "") -> str:
    """The console of a run in QEMU, whose harts are threads of this machine."""
    command = f"{qemu.EMULATOR} -M virt -smp 2 -bios none -display none -serial stdio -net none"
    try:
        done = subprocess.run(
            [*command.split(), "-kernel", linked, "-append", parameters],
            capture_output=True,
            check=False,
            timeout=bound_s,
        )
    except subprocess.TimeoutExpired as expired:
        return (expired.stdout or b"").decode()
    return done.stdout.decode()


def held(console: str) -> bool:
    """Whether all tests of the plan went well."""
    plan = re.search(r"^1\.\.(\d+)$", console, re.MULTILINE)
    passed = re.findall(r"^ok \d+ - ", console, re.MULTILINE)
    return plan is not None and len(passed) == int(plan[1]) > 40


@pytest.fixture(scope="module", params=SCHEMES)
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def rtl_image(tmp_path_factory: pytest.TempPathFactory, scheme: str) -> Path:
    return image(build.sources(), tmp_path_factory.mktemp("rtl"), "rocket", scheme)


def test_all_holds_on_two_emulated_harts(tmp_path: Path, scheme: str) -> None:
    linked = image(build.sources(), tmp_path, "virt", scheme)
    for _ in range(5):
        console = emulated(linked, EMULATED_S)
        assert held(console), console


def kernel(tests: Path) -> Path:
    """The image of the circles, which is built with that of the tests."""
    return tests.with_name("kernel.elf")


def turns(console: str) -> dict[str, list[Values]]:
    """The groups and passes of each circle; none of them failed."""
    records = Decoder().feed(console.encode())
    assert not [record for record in records if isinstance(record, Failed)]
    found: dict[str, list[Values]] = {}
    for record in records:
        if isinstance(record, Group | Pass):
            found.setdefault(record.circle, []).append(record)
    return found


def check(row: str, measured: list[Values]) -> None:
    """Every test has the counts of its contract."""
    for values in measured:
        for counter, per_turn in ROWS[row].items():
            assert set(values.counters[counter]) == {per_turn * values.turns}, (row, counter)


def test_every_row_between_emulated_harts_is_what_its_contract_says(
    tmp_path: Path, scheme: str
) -> None:
    linked = kernel(image(build.sources(), tmp_path, "virt", scheme))
    found = turns(emulated(linked, EMULATED_S, f"only=*.other_cpu {FLOW}"))
    assert set(found) == set(ROWS)
    for row in IN_ANY_SCHEDULE:
        check(row, found[row])


@pytest.mark.parametrize("row", ON_THE_RTL)
def test_a_row_between_harts_is_exact_on_the_rtl(rtl_image: Path, row: str) -> None:
    code, console = simulated(kernel(rtl_image), 7, f"only={row} {FLOW}")
    assert code == 0, console
    found = turns(console)
    assert set(found) == {row}
    check(row, found[row])
    assert simulated(kernel(rtl_image), 7, f"only={row} {FLOW}") == (code, console)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_holds_in_every_schedule_of_the_rtl(rtl_image: Path, seed: int) -> None:
    code, console = simulated(rtl_image, seed)
    assert code == 0, console
    assert held(console), console


@pytest.mark.parametrize(("scheme", "fault"), PLANTED)
def test_what_is_missing_is_found(tmp_path: Path, scheme: str, fault: str) -> None:
    file, text, instead = (FAULTS | FINE_FAULTS)[fault]
    for folder in ("kernel", "core"):
        shutil.copytree(build.sources() / folder, tmp_path / folder)
    planted = tmp_path / "kernel" / file
    whole = planted.read_text()
    assert whole.count(text) == 1
    planted.write_text(whole.replace(text, instead))
    linked = image(tmp_path, tmp_path / "out", "virt", scheme)
    assert not all(held(emulated(linked, FOUND_S)) for _ in range(3))


@pytest.mark.parametrize("board", ["virt", "rocket", "cva6"])
def test_a_machine_of_one_hart_refuses_it(board: str, scheme: str) -> None:
    with pytest.raises(UsageError, match="rocket-duo"):
        reference_kernel.image(board, {"smp": scheme})
