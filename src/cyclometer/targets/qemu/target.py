# SPDX-License-Identifier: BSD-2-Clause
"""Kernel images under QEMU, exact in instructions: the reference kernel, or any image that prints
what we can read.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from cyclometer.bundle.model import Clock, Contract
from cyclometer.errors import MeasurementFailed, NotComparable
from cyclometer.record.address_map import AddressMap
from cyclometer.record.decode import Decoder
from cyclometer.record.instructions import RISCV64
from cyclometer.record.schema import Clock as RecordedClock
from cyclometer.record.schema import Flow
from cyclometer.record.span import Spanned, Wanted
from cyclometer.record.trace import TraceResult, to_explain
from cyclometer.targets import build, foreign_image, reference_kernel
from cyclometer.targets.api import (
    SILENT,
    TRACE_FLOW,
    MeasurementResult,
    Progress,
    Request,
    emulator_version,
)
from cyclometer.targets.console import BootResult, read_console
from cyclometer.targets.qemu.image import emulator
from cyclometer.targets.qemu.monitor import Monitor
from cyclometer.targets.qemu.spans import spans
from cyclometer.targets.qemu.trace import trace

EMULATOR = "qemu-system-riscv64"
CROSS = reference_kernel.CROSS
BOOT_S = 300  # wall clock; a boot of the whole suite takes a fraction of it
IMAGE_S = 60  # for an image that does not say that it has ended
RUNS = 2  # the second one shows that the first one repeats to the byte
FLOW = Flow(initial=10, delta=10, groups=3, tests=5)
PASSES = 10
# For images that can choose (core/include/cyc/arguments.h).
CLOCK_WORDS = {"clock": "instret", "exact": "1"}
_OF_BOTH = frozenset(("only", "method", "watchdog_s", "flow", "config"))
_OF_KERNEL = _OF_BOTH | {"runs"}
_OF_IMAGES = _OF_BOTH | {"image", "machine", "symbols", "name", "until", "firmware", "memory_mib"}


@dataclass(frozen=True)
class QemuTarget:
    """The reference kernel on one of QEMU's RISC-V machines."""

    board: str  # as kernel/Makefile and QEMU call it
    options = _OF_KERNEL | _OF_IMAGES
    concurrent = False
    exact = True
    programs = frozenset((EMULATOR, reference_kernel.CROSS))
    trace_flow = TRACE_FLOW

    @property
    def name(self) -> str:
        return f"qemu-{self.board}"

    @property
    def description(self) -> str:
        return f"the reference kernel on QEMU's {self.board} machine, exact in instructions"

    def missing(self) -> str:
        """One sentence that names what this machine lacks for the target; empty where nothing."""
        return reference_kernel.lacking(
            self.name, {EMULATOR: "qemu-system-misc"} | reference_kernel.PACKAGES
        )

    def build(
        self, config: Mapping[str, str] | None = None, progress: Progress = SILENT
    ) -> list[Path]:
        """The image of a configuration, built if needed. Raises NotComparable if a tool is
        missing.
        """
        if lacks := self.missing():
            raise NotComparable(lacks)
        progress.visits(0, 1, f"the kernel for {self.board}")
        return [reference_kernel.image(self.board, config or {})]

    def circles(self, config: Mapping[str, str] | None = None) -> tuple[Clock, list[Contract]]:
        """The clock and all contracts of a configuration, as its image prints them."""
        (image,) = self.build(config)
        return _listed(image, self.board, ("-bios", "none"))

    def measure(
        self, request: Request, environment: dict[str, Any], progress: Progress
    ) -> MeasurementResult:
        """Boots the image `runs` times, as many at once as there are cores to take them."""
        request.refuse_others(self.name, _OF_IMAGES if request.image else _OF_KERNEL)
        if request.image is not None:
            return self._measure_image(request, request.image, environment, progress)
        (image,) = self.build(request.config)
        runs = request.runs or RUNS
        boots = [
            reference_kernel.arguments(request, run, FLOW, PASSES) for run in range(1, runs + 1)
        ]
        command = _command(EMULATOR, self.board, image, ("-bios", "none"))
        ends = _boot_all(command, boots, request.watchdog_s or BOOT_S, progress)
        facts = environment | {
            "qemu": emulator_version(EMULATOR),
            "image": image.parent.name,
            "icount": "shift=0",
        }
        return reference_kernel.assemble(
            self.name, facts, {n: [e] for n, e in enumerate(ends, 1)}, {"arguments": boots}
        )

    def trace(self, request: Request, keys: Sequence[str]) -> TraceResult:
        """A boot of `request` that traces what the explained tests of `keys` executed; a first boot
        says where they are.

        Raises MeasurementFailed if the machine ends early.
        """
        if request.image is not None:
            return self._trace_image(request, request.image, keys)
        (image,) = self.build(dict(request.config))
        command = _command(EMULATOR, self.board, image, ("-bios", "none"))
        arguments = reference_kernel.arguments(request, 1, FLOW, PASSES)
        return self._traced(request, command, arguments, reference_kernel.places(image), keys)

    def _trace_image(self, request: Request, image: Path, keys: Sequence[str]) -> TraceResult:
        """As the reference kernel is traced; names come from the image and from --symbols."""
        command, known = self._traceable(request, image)
        foreign_image.hints(known, image)
        words = reference_kernel.arguments(request, 1, FLOW, PASSES) | CLOCK_WORDS
        try:
            found = self._traced(request, command, words, known, keys)
        except MeasurementFailed as error:
            raise MeasurementFailed(
                f"{error}; if a program of the image times itself, name its ELF file by --symbols"
            ) from error
        return replace(found, settings={**request.config, "image": request.name or image.name})

    def spans(self, request: Request, wanted: Wanted) -> Spanned:
        """One boot of an image, traced from one address to another, without any hint in it."""
        image = request.image
        assert image is not None
        command, known = self._traceable(request, image)
        windows, ended = spans(
            _stopping(command, reference_kernel.arguments(request, 1, FLOW, PASSES) | CLOCK_WORDS),
            known,
            foreign_image.span(known, wanted),
            foreign_image.last_texts(request),
            request.watchdog_s or IMAGE_S,
        )
        clock = RecordedClock("instret", "instructions", exact=True)
        settings = {"image": request.name or image.name}
        return Spanned(windows, ended, clock, known, settings)

    def _traceable(self, request: Request, image: Path) -> tuple[list[str], AddressMap]:
        """The command that boots an image, and what stands where in it."""
        if emulator(image)[0] != EMULATOR:
            raise NotComparable(f"{image} is not an image for RISC-V, and no other is traced")
        return _image_command(request, image, self.board), foreign_image.places(request)

    def _traced(
        self,
        request: Request,
        command: Sequence[str],
        arguments: Mapping[str, str],
        places: AddressMap,
        keys: Sequence[str],
    ) -> TraceResult:
        bound_s = request.watchdog_s or BOOT_S
        wanted = to_explain(Decoder().feed(_boot(command, arguments, bound_s).console), keys)
        numbers = {test.window: key for key, test in wanted.items()}
        stopping = _stopping(command, arguments)
        traced = trace(stopping, places, (RISCV64.opens, RISCV64.closes), sorted(numbers), bound_s)
        named = {numbers[number]: steps for number, steps in traced.windows.items()}
        return TraceResult(Decoder().feed(traced.console), named, places)

    def _measure_image(
        self, request: Request, image: Path, environment: dict[str, Any], progress: Progress
    ) -> MeasurementResult:
        """One boot of a foreign image; its own end, or the bound, ends it."""
        program = emulator(image)[0]
        command = _image_command(request, image, self.board)
        words = reference_kernel.arguments(request, 1, FLOW, PASSES)
        if program == EMULATOR:
            words |= CLOCK_WORDS
        options = {"machine": f"qemu {request.machine or self.board}"}
        if request.firmware is not None:
            options["firmware"] = Path(request.firmware).name
        options = foreign_image.labelled(request, options)
        with Monitor() as monitor:
            whole = [*command, *monitor.options, "-append", reference_kernel.words(words)]
            ended = foreign_image.interruptible(
                progress,
                lambda stop: read_console(
                    whole,
                    request.watchdog_s or IMAGE_S,
                    stop,
                    ends=foreign_image.ends(request),
                    shared=[monitor.theirs],
                    where=monitor.where,
                    tell=foreign_image.last_line(progress),
                ),
            )
        facts = environment | {"qemu": emulator_version(program), "icount": "shift=0"}
        clock = Clock("", "instructions", 0, exact=True) if program == EMULATOR else None
        return foreign_image.result(request, ended, facts, options, clock, progress)


def _image_command(request: Request, image: Path, board: str) -> list[str]:
    """Raises UsageError for what is not an image, NotComparable without its emulator."""
    program, options = emulator(image)
    if not shutil.which(program):
        raise NotComparable(f"{image} needs {program}; install it with apt-get")
    if request.firmware is not None:
        options = ("-bios", request.firmware)
    if request.memory_mib is not None:
        options = (*options, "-m", str(request.memory_mib))
    return _command(program, request.machine or board, image, options)


def _stopping(command: Sequence[str], arguments: Mapping[str, str]) -> list[str]:
    """The command for a machine whose time stands still while it is stopped."""
    words = (*command, "-append", reference_kernel.words(arguments))
    return [word.replace("sleep=off", "sleep=on") for word in words]


def virt() -> QemuTarget:
    """QEMU's generic RISC-V machine."""
    return QemuTarget("virt")


def circles_of_harts(config: Mapping[str, str], harts: int) -> tuple[Clock, list[Contract]]:
    """What an image of several harts lists on a `virt` that has as many. Harts cannot be counted,
    for one that waits for another would never let it run: no target measures there.
    """
    image = reference_kernel.image("virt", config, harts)
    return _listed(image, "virt", ("-bios", "none", "-smp", str(harts)), counted=False)


def _listed(
    image: Path, machine: str, options: Sequence[str], counted: bool = True
) -> tuple[Clock, list[Contract]]:
    command = _command(EMULATOR, machine, image, options, counted=counted)
    return reference_kernel.circles(image, lambda arguments: _boot(command, arguments))


def sifive_u() -> QemuTarget:
    """QEMU's model of the HiFive Unleashed: `rdtime` traps in S-mode, as on the board."""
    return QemuTarget("sifive_u")


def spike() -> QemuTarget:
    """QEMU's model of Spike, the simulator of the RISC-V specification: one plain hart, a console
    without registers of its own, and an end by software.
    """
    return QemuTarget("spike")


def _boot_all(
    command: Sequence[str], boots: Sequence[Mapping[str, str]], bound_s: float, progress: Progress
) -> list[BootResult]:
    done = count(1)

    def boot(arguments: Mapping[str, str]) -> BootResult:
        ended = _boot(command, arguments, bound_s)
        progress.visits(next(done), len(boots), f"boot {arguments['run']}")
        return ended

    progress.visits(0, len(boots), "boot 1")
    with ThreadPoolExecutor(max_workers=build.cores()) as pool:
        return list(pool.map(boot, boots))


def _command(
    program: str, machine: str, image: Path, options: Sequence[str], *, counted: bool = True
) -> list[str]:
    return [
        program,
        "-M",
        machine,
        *options,
        "-kernel",
        str(image),
        "-nodefaults",
        "-display",
        "none",
        "-serial",
        "stdio",
        "-monitor",
        "none",
        "-net",
        "none",
        *(["-icount", "shift=0,sleep=off"] if counted else []),
    ]


def _boot(
    command: Sequence[str], arguments: Mapping[str, str], bound_s: float = BOOT_S
) -> BootResult:
    """One boot; ends with the image's `end` record, its power-off, or the bound."""
    return read_console([*command, "-append", reference_kernel.words(arguments)], bound_s)
