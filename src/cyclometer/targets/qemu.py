# SPDX-License-Identifier: BSD-2-Clause
"""Kernel images under QEMU, exact in instructions: the reference kernel, or any image that prints what we can read."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import Clock, Contract, Problem
from cyclometer.errors import MeasurementFailed, NotComparable, NothingMeasured, UsageError
from cyclometer.record.decode import Decoder
from cyclometer.record.instructions import RISCV64
from cyclometer.record.schema import Circle, Flow, Hello, Record
from cyclometer.record.trace import telling
from cyclometer.targets import build
from cyclometer.targets.common import Measured, Progress, Request, Traced
from cyclometer.targets.console import Ended, read_console
from cyclometer.targets.disassembly import Places, disassemble, program
from cyclometer.targets.image import emulator, from_console
from cyclometer.targets.qemu_trace import trace

EMULATOR = "qemu-system-riscv64"
CROSS = "riscv64-unknown-elf-gcc"
BOOT_S = 300  # wall clock; a boot of the whole suite takes a fraction of it
IMAGE_S = 60  # for an image that does not say that it has ended
RUNS = 2  # the second one shows that the first one repeats to the byte
FLOW = Flow(initial=10, delta=10, groups=3, tests=5)
PASSES = 10
OPTIONS = {
    "userspace": ("on", "off"), "canaries": ("off", "on"), "objcore": ("off", "on"), "mcs": ("off", "on"),
    "timer": ("rdtime", "mtime"), "asid": ("on", "off"), "accounting": ("off", "on"),
}  # fmt: skip
_USELESS = ("budget_s", "cpu", "clock", "seed", "quick")


@dataclass(frozen=True)
class QemuTarget:
    """The reference kernel on one of QEMU's RISC-V machines."""

    board: str  # as kernel/Makefile and QEMU call it

    @property
    def name(self) -> str:
        return f"qemu-{self.board}"

    @property
    def description(self) -> str:
        return f"the reference kernel on QEMU's {self.board} machine, exact in instructions"

    def missing(self) -> str:
        """One sentence that names what this machine lacks for the target; empty where nothing."""
        lacks = [
            package
            for program, package in ((EMULATOR, "qemu-system-misc"), (CROSS, "gcc-riscv64-unknown-elf"), ("make",) * 2)
            if not shutil.which(program)
        ]
        return f"target {self.name} needs {' and '.join(lacks)}; install with apt-get" if lacks else ""

    def build(self, config: dict[str, str] | None = None) -> list[Path]:
        """The image of a configuration, built if needed. Raises NotComparable where a tool is missing."""
        if lacks := self.missing():
            raise NotComparable(lacks)
        return [_image(self.board, config or {})]

    def circles(self, config: dict[str, str] | None = None) -> tuple[Clock, list[Contract]]:
        """The clock and all contracts of a configuration, as its image prints them."""
        (image,) = self.build(config)
        kept = image.with_name("list.console")  # what an image lists never changes
        if not kept.exists():
            ended = _boot(_command(EMULATOR, self.board, image, ("-bios", "none")), {"list": "1"})
            if not ended.done:
                raise MeasurementFailed(f"{self.name} did not list its circles: the boot {ended.why}")
            kept.write_bytes(ended.console)
        records = Decoder().feed(kept.read_bytes())
        clock = next(r.clock for r in records if isinstance(r, Hello))
        return clock, [r.contract for r in records if isinstance(r, Circle)]

    def measure(self, request: Request, environment: dict[str, Any], progress: Progress) -> Measured:
        """Boots the image `runs` times, as many at once as there are cores to take them."""
        request.refuse(self.name, *_USELESS)
        if request.image is not None:
            return self._measure_image(request, request.image, environment)
        request.refuse(self.name, "machine")
        (image,) = self.build(dict(request.config))
        runs = request.runs or RUNS
        boots = [_arguments(request, run) for run in range(1, runs + 1)]
        command = _command(EMULATOR, self.board, image, ("-bios", "none"))
        ends = _boot_all(command, boots, request.watchdog_s or BOOT_S, progress)
        facts = environment | {"qemu": _version(), "image": image.parent.name, "icount": "shift=0"}
        return _assemble(self.name, facts, ends, {"arguments": boots})

    def trace(self, request: Request, keys: Sequence[str]) -> Traced:
        """A boot of `request` that tells what the telling tests of `keys` executed; a first boot says where they are.

        Raises MeasurementFailed where the machine ends early.
        """
        (image,) = self.build(dict(request.config))
        command, bound_s = _command(EMULATOR, self.board, image, ("-bios", "none")), request.watchdog_s or BOOT_S
        arguments = _arguments(request, 1)
        wanted = telling(Decoder().feed(_boot(command, arguments, bound_s).console), keys)
        numbers = {test.window: key for key, test in wanted.items()}
        places = _places(image)
        stopping = [word.replace("sleep=off", "sleep=on") for word in (*command, "-append", _words(arguments))]
        console, windows = trace(stopping, places, (RISCV64.opens, RISCV64.closes), sorted(numbers), bound_s)
        named = {numbers[number]: steps for number, steps in windows.items()}
        return Traced(Decoder().feed(console), named, places)

    def _measure_image(self, request: Request, image: Path, environment: dict[str, Any]) -> Measured:
        """One boot of a foreign image; its own end, or the bound, ends it."""
        request.refuse(self.name, "config")
        program, options = emulator(image)
        if not shutil.which(program):
            raise NotComparable(f"{image} needs {program}; install it with apt-get")
        command = _command(program, request.machine or self.board, image, options)
        ended = _boot(command, _arguments(request, 1), request.watchdog_s or IMAGE_S)
        facts = environment | {"qemu": _version(program), "image": image.name, "icount": "shift=0"}
        if b"@cyc {" in ended.console:
            return _assemble(image.name, facts, [ended], {})
        return Measured(from_console(ended.console, ended.why), {"run-1": ended.console})


def virt() -> QemuTarget:
    """QEMU's generic RISC-V machine."""
    return QemuTarget("virt")


def sifive_u() -> QemuTarget:
    """QEMU's model of the HiFive Unleashed: `rdtime` traps in S-mode, as on the board."""
    return QemuTarget("sifive_u")


def _image(board: str, config: dict[str, str]) -> Path:
    """Builds an image into the cache, where make keeps it current; one folder per content of the sources."""
    for name, value in config.items():
        if value not in OPTIONS.get(name, ()):
            known = ", ".join(f"{n}={'|'.join(v)}" for n, v in OPTIONS.items())
            raise UsageError(f"the kernel has no option {name}={value}; it has {known}")
    root = build.sources()
    parts = [p for folder in ("core", "kernel") for p in sorted((root / folder).rglob("*")) if p.is_file()]
    out = build.cache() / f"kernel-{build.content(root, parts, (CROSS,))}"
    settings = [f"board={board}", f"BUILD={out}", *(f"{name}={value}" for name, value in sorted(config.items()))]
    command = ["make", "--no-print-directory", "-s", "-C", str(root / "kernel"), *settings]
    _make([*command, "all"])
    return Path(_make([*command, "name"]).strip()) / "kernel.elf"


def _places(image: Path) -> Places:
    """What stands where in the kernel and in the programs that it carries."""
    objdump, root = program(RISCV64), build.sources()
    programs = image.with_name("user.elf")
    user = disassemble(programs, objdump, root) if programs.exists() else {}
    return Places(disassemble(image, objdump, root), user)


def _make(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        first = next((line for line in done.stderr.splitlines() if "rror" in line), done.stderr[:200])
        raise MeasurementFailed(f"the kernel does not build: {first}")
    return done.stdout


def _arguments(request: Request, run: int) -> dict[str, str]:
    """Boot arguments of one run, as kernel/README.md lists them."""
    flow = request.flow or FLOW
    numbers = {name: str(getattr(flow, name)) for name in ("initial", "delta", "groups", "tests")}
    method = {"method": request.method or "accumulated", "passes": str(PASSES)}
    return numbers | method | {"only": ",".join(request.only), "run": str(run)}


def _boot_all(
    command: Sequence[str], boots: Sequence[dict[str, str]], bound_s: float, progress: Progress
) -> list[Ended]:
    done = count(1)

    def boot(arguments: dict[str, str]) -> Ended:
        ended = _boot(command, arguments, bound_s)
        progress.visits(next(done), len(boots), f"boot {arguments['run']}")
        return ended

    progress.visits(0, len(boots), "boot 1")
    with ThreadPoolExecutor(max_workers=build.cores()) as pool:
        return list(pool.map(boot, boots))


def _command(program: str, machine: str, image: Path, options: Sequence[str]) -> list[str]:
    return [
        program, "-M", machine, *options, "-kernel", str(image), "-nodefaults", "-display", "none", "-serial", "stdio",
        "-monitor", "none", "-net", "none", "-icount", "shift=0,sleep=off",
    ]  # fmt: skip


def _boot(command: Sequence[str], arguments: dict[str, str], bound_s: float = BOOT_S) -> Ended:
    """One boot; ends with the image's `end` record, its power-off, or the bound."""
    return read_console([*command, "-append", _words(arguments)], bound_s)


def _words(arguments: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in arguments.items())


def _assemble(target: str, environment: dict[str, Any], ends: Sequence[Ended], plan: dict[str, Any]) -> Measured:
    assembler = Assembler(target, environment)
    for run, ended in enumerate(ends, 1):
        decoder = Decoder()
        records: list[Record] = decoder.feed(ended.console)
        assembler.add(run, records + decoder.finish())
        assembler.add_damage(run, decoder.damage)
        if not decoder.ended:
            _raise_or_keep(assembler, run, ended)
    if not assembler.values():
        raise NothingMeasured(f"{target} measured nothing; no circle of this configuration matches --only")
    assembler.plan |= plan
    return Measured(assembler.bundle(), {f"run-{run}": ended.console for run, ended in enumerate(ends, 1)})


def _raise_or_keep(assembler: Assembler, run: int, ended: Ended) -> None:
    """A boot that did not come to its end: nothing to keep is an error, else a problem of the bundle."""
    if not assembler.values():
        tail = ended.console[-300:].decode(errors="replace").strip()
        raise MeasurementFailed(f"boot {run} {ended.why} before anything was measured; its console ends: {tail!r}")
    assembler.problems.append(Problem(f"the boot {ended.why}; its records until then are kept", f"run {run}", "failed"))


def _version(program: str = EMULATOR) -> str:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else ""
