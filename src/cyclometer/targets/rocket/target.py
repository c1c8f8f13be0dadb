# SPDX-License-Identifier: BSD-2-Clause
"""Kernel images on the RTL of simulated cores, exact in cycles.

Every circle has a boot of its own, so its cycles do not depend on which others are measured, and
boots share the cores of this machine. A run is one boot of each circle. The boots of the first run
are forks of one; those of further runs begin at reset, and print the same bytes.
"""

from __future__ import annotations

import fnmatch
import shutil
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from cyclometer.bundle.model import Clock, Contract
from cyclometer.errors import MeasurementFailed, NotComparable, NothingMeasured, UsageError
from cyclometer.record.address_map import AddressMap
from cyclometer.record.decode import Decoder
from cyclometer.record.schema import Clock as RecordedClock
from cyclometer.record.schema import Flow, Record
from cyclometer.record.span import Spanned, Wanted, part
from cyclometer.record.trace import Steps, TraceResult, load, to_explain, windows
from cyclometer.targets import build, foreign_image, reference_kernel
from cyclometer.targets.api import (
    SILENT,
    MeasurementResult,
    Progress,
    Request,
)
from cyclometer.targets.console import IDLE, BootResult, read_console
from cyclometer.targets.qemu.image import emulator
from cyclometer.targets.qemu.target import EMULATOR, circles_of_harts, virt
from cyclometer.targets.rocket import firmware
from cyclometer.targets.rocket import simulator as rocket_board
from cyclometer.targets.rocket.forks import forked

# The `cycle` clock of kernel/board.h.
CLOCK = Clock("cycle", "cycles", 0, exact=True)
BOOT_S = 600  # wall clock; the boot of one circle takes seconds
RUNS = 2  # the second one shows that the first one repeats to the byte
FLOW = Flow(initial=20, delta=20, groups=3, tests=5)
# a test is traced when two of its size have gone before
TRACE_FLOW = Flow(initial=16, delta=16, groups=2, tests=3)
PASSES = 10
# For images that can choose (core/include/cyc/arguments.h).
CLOCK_WORDS = {"clock": "cycle", "exact": "1"}
QUICK_FLOW = Flow(initial=16, delta=16, groups=2, tests=2)
QUICK_PASSES = 4
_OF_BOTH = frozenset(
    ("only", "method", "watchdog_s", "flow", "memory_latency_cyc", "memory_jitter", "config")
)
_OF_KERNEL = _OF_BOTH | {"runs", "quick"}
_OF_IMAGES = _OF_BOTH | {
    "image",
    "machine",
    "symbols",
    "name",
    "until",
    "firmware",
    "memory_mib",
}
VIRT = "virt"  # what the board is to an image that was built for QEMU's machine of that name


@dataclass(frozen=True)
class CoreTarget:
    """The reference kernel on one configuration of a core."""

    name: str
    core: str  # a key of simulator.CORES
    described: str
    board: str = "rocket"  # as kernel/Makefile calls it
    identifiers: bool = False  # of address spaces
    harts: int = 1
    trace_flow: Flow = TRACE_FLOW
    options = _OF_KERNEL | _OF_IMAGES
    concurrent = False
    exact = True
    programs = frozenset(("verilator", reference_kernel.CROSS))

    @property
    def description(self) -> str:
        return f"the reference kernel on the RTL of the {self.described}, exact in cycles"

    def missing(self) -> str:
        """One sentence that names what this machine lacks for the target; empty where nothing."""
        return reference_kernel.lacking(
            self.name, rocket_board.PACKAGES | reference_kernel.PACKAGES
        )

    def build(
        self, config: Mapping[str, str] | None = None, progress: Progress = SILENT
    ) -> list[Path]:
        """The simulator and the image of a configuration, built if needed. Raises NotComparable
        without the tools.
        """
        if lacks := self.missing():
            raise NotComparable(lacks)
        image = self._image(config or {})  # refuses what this machine cannot run
        return [rocket_board.simulator(self.core, progress.visits), image]

    def circles(self, config: Mapping[str, str] | None = None) -> tuple[Clock, list[Contract]]:
        """The clock and all contracts of a configuration.

        Contracts are the same on every board, so QEMU lists them where it is installed: simulating
        takes a minute.
        """
        harts = 1 if (config or {}).get("smp", "off") == "off" else self.harts
        if shutil.which(EMULATOR) and not virt().missing():
            asid = (config or {}).get("asid", "on") if self.identifiers else "off"
            listed = {**(config or {}), "asid": asid}
            if harts == 1:
                return CLOCK, virt().circles(listed)[1]
            return CLOCK, circles_of_harts(listed, harts)[1]
        simulator, image = self.build(config)
        return reference_kernel.circles(
            image, lambda arguments: _boot([str(simulator)], image, arguments)
        )

    def measure(
        self, request: Request, environment: dict[str, Any], progress: Progress
    ) -> MeasurementResult:
        """Boots the image once for every circle that is asked for, `runs` times: the first time by
        forks.
        """
        request.refuse_others(self.name, _OF_IMAGES if request.image else _OF_KERNEL)
        if lacks := self.missing():
            raise NotComparable(lacks)
        simulator = rocket_board.simulator(self.core, progress.visits)
        command = [str(simulator), *board_options(request)]
        facts = environment | {"verilator": rocket_board.verilator_version(), "core": self.core}
        if request.image is not None:
            return self._measure_image(request, request.image, command, facts, progress)
        image = self._image(request.config)
        boots = self._boots(request)
        number = request.runs or (1 if request.quick else RUNS)
        bound_s = request.watchdog_s or BOOT_S
        ends = forked(command, image, boots, bound_s, progress, number)
        ends += _boot_all(command, image, boots * (number - 1), bound_s, progress, done=len(boots))
        runs = {
            run: ends[(run - 1) * len(boots) : run * len(boots)] for run in range(1, number + 1)
        }
        if interrupted := progress.stop.is_set():
            runs = {
                run: kept
                for run, of_run in runs.items()
                if (kept := [ended for ended in of_run if ended.done])
            }
        if not runs:
            raise NothingMeasured(
                f"{self.name} was interrupted before its first circle was measured"
            )
        facts |= {"image": image.parent.name}
        measured = reference_kernel.assemble(
            self.name, facts, runs, {"arguments": boots}, board_settings(request)
        )
        return replace(measured, interrupted=interrupted)

    def trace(self, request: Request, keys: Sequence[str]) -> TraceResult:
        """A boot of each circle that `request` asks for; those of `keys` trace what their explained
        tests executed.

        Raises MeasurementFailed or BadFile if a boot ends inside a window.
        """
        if request.image is not None:
            return self._trace_image(request, request.image, keys)
        simulator, image = self.build(request.config)
        boots = self._boots(request)
        command = [str(simulator), *board_options(request)]
        with tempfile.TemporaryDirectory() as folder:
            files = {key: Path(folder) / f"{number}.trace" for number, key in enumerate(keys)}
            options = [
                ("--trace", str(files[boot["only"]])) if boot["only"] in files else ()
                for boot in boots
            ]
            progress = Progress()
            ends = _boot_all(command, image, boots, request.watchdog_s or BOOT_S, progress, options)
            if progress.stop.is_set():
                raise KeyboardInterrupt
            by_circle = {
                boot["only"]: Decoder().feed(ended.console)
                for boot, ended in zip(boots, ends, strict=True)
            }
            found = {key: _window(by_circle.get(key, []), key, file) for key, file in files.items()}
        records = [record for boot in by_circle.values() for record in boot]
        traced = {key: steps for key, steps in found.items() if steps is not None}
        return TraceResult(records, traced, reference_kernel.places(image), board_settings(request))

    def _image(self, config: Mapping[str, str]) -> Path:
        if config.get("asid") == "on" and not self.identifiers:
            raise UsageError("the Rocket core has no address-space identifiers; leave asid=on out")
        return reference_kernel.image(self.board, config, self.harts)

    def _boots(self, request: Request) -> list[dict[str, str]]:
        """Boot arguments of a run, circle by circle in the order of the catalogue.

        All runs get the same ones: even the run's number, printed, would leave the caches in
        another state.
        """
        keys = [contract.key for contract in self.circles(request.config)[1]]
        chosen = [
            key
            for key in keys
            if any(fnmatch.fnmatchcase(key, pattern) for pattern in request.only)
        ]
        if not chosen:
            raise NothingMeasured(
                f"{self.name} measured nothing; no circle of this configuration matches --only"
            )
        flow, passes = (QUICK_FLOW, QUICK_PASSES) if request.quick else (FLOW, PASSES)
        return [
            reference_kernel.arguments(request, 1, flow, passes) | {"only": key} for key in chosen
        ]

    def _measure_image(
        self,
        request: Request,
        image: Path,
        command: Sequence[str],
        facts: dict[str, Any],
        progress: Progress,
    ) -> MeasurementResult:
        """One boot of a foreign image; its own end, or the bound, ends it."""
        _check_image(request, image)
        own = {"machine": self.name, **board_settings(request)}
        options = foreign_image.labelled(request, own)
        ended = foreign_image.interruptible(
            progress,
            lambda stop: read_console(
                [*command, *_image_words(request), str(image)],
                request.watchdog_s or BOOT_S,
                stop,
                to_exit=True,
                ends=foreign_image.ends(request),
                tell=foreign_image.last_line(progress),
            ),
        )
        facts = facts | firmware.facts(request.firmware)
        clock = Clock("", "cycles", 0, exact=True)
        return foreign_image.result(request, ended, facts, options, clock, progress)

    def _trace_image(self, request: Request, image: Path, keys: Sequence[str]) -> TraceResult:
        """As the reference kernel is traced; names come from the image and from --symbols."""
        known = self._places(request, image)
        foreign_image.hints(known, image)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trace"
            ended = self._boot_traced(request, image, file)
            if not ended.done and ended.status is None and ended.why != IDLE:
                raise MeasurementFailed(f"the traced boot of {image.name} {ended.why}")
            records = Decoder().feed(ended.console)
            found = {key: _window(records, key, file) for key in keys}
        traced = {key: steps for key, steps in found.items() if steps is not None}
        return TraceResult(records, traced, known, _image_settings(request, image))

    def spans(self, request: Request, wanted: Wanted) -> Spanned:
        """One boot of an image, traced from one address to another, without any hint in it."""
        image = request.image
        assert image is not None
        known = self._places(request, image)
        span = foreign_image.span(known, wanted)
        options = ["--trace-from", hex(span.start), "--trace-skip", str(span.skip)]
        options += [] if span.stop is None else ["--trace-to", hex(span.stop)]
        options += [] if span.most is None else ["--trace-count", str(span.most)]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trace"
            ended = self._boot_traced(request, image, file, options)
            windows = part(load(file), span, str(file))
        clock = RecordedClock(CLOCK.name, CLOCK.unit, exact=True)
        return Spanned(windows, ended.why, clock, known, _image_settings(request, image))

    def _places(self, request: Request, image: Path) -> AddressMap:
        if lacks := self.missing():
            raise NotComparable(lacks)
        _check_image(request, image)
        return foreign_image.places(request)

    def _boot_traced(
        self, request: Request, image: Path, file: Path, options: Sequence[str] = ()
    ) -> BootResult:
        command = [str(rocket_board.simulator(self.core)), *board_options(request)]
        ended = read_console(
            [*command, "--trace", str(file), *options, *_image_words(request), str(image)],
            request.watchdog_s or BOOT_S,
            to_exit=True,
            ends=foreign_image.ends(request),
        )
        if not file.exists():
            said = ended.console.decode(errors="replace").strip() or "it said nothing"
            raise MeasurementFailed(f"the board did not start: {said}")
        return ended


def _image_settings(request: Request, image: Path) -> dict[str, str]:
    own = {"image": request.name or image.name, **board_settings(request)}
    return {**request.config, **own}


def _check_image(request: Request, image: Path) -> None:
    """Raises UsageError for what the board cannot run."""
    if request.machine not in (None, VIRT):
        raise UsageError(
            f"the Rocket board cannot be --machine {request.machine}; it can be {VIRT}, for an "
            "image that uses RAM, CLINT, PLIC and UART where QEMU's machine has them"
        )
    if emulator(image)[0] != EMULATOR:
        raise UsageError(f"{image} is not an image for RISC-V, and the Rocket core runs no other")


def _image_words(request: Request) -> list[str]:
    """The simulator's options for a foreign image."""
    words = reference_kernel.arguments(request, 1, FLOW, PASSES) | CLOCK_WORDS
    memory = [] if request.memory_mib is None else ["--memory-mib", str(request.memory_mib)]
    return [*memory, "--append", reference_kernel.words(words)]


def rocket() -> CoreTarget:
    """rv64imafdc, 16 KiB caches of 4 ways, TLBs of 32 entries, branch prediction."""
    return CoreTarget("rocket", "LitexFullConfig", "Rocket core with 16 KiB caches")


def rocket_small() -> CoreTarget:
    """rv64imac, 4 KiB caches of one way, TLBs of 4 entries, no branch prediction."""
    return CoreTarget("rocket-small", "LitexLinuxConfig", "Rocket core with 4 KiB caches")


def rocket_duo() -> CoreTarget:
    """Two of rocket_small's cores, with coherent caches and a bus of 128 bits to memory."""
    return CoreTarget(
        "rocket-duo", "LitexLinux2DConfig", "two Rocket cores with 4 KiB caches", harts=2
    )


def cva6() -> CoreTarget:
    """rv64imac, 16 and 32 KiB caches, the data cache writes through; TLBs of 16 entries with
    identifiers of address spaces; two instructions commit a cycle.
    """
    return CoreTarget("cva6", "cv64a6_imac_sv39", "CVA6 core", board="cva6", identifiers=True)


def _window(records: Sequence[Record], key: str, file: Path) -> Steps | None:
    """The window of a boot's explained test, a copy; None if it has none."""
    test = to_explain(records, [key]).get(key)
    every = windows(load(file), str(file)) if test is not None else []
    return every[test.window].copy() if test is not None and test.window < len(every) else None


def board_options(request: Request) -> list[str]:
    """The simulator's options for the memory and the firmware that were asked for."""
    options = []
    if request.firmware is not None:
        options += ["--firmware", str(firmware.find(request.firmware))]
    if request.memory_latency_cyc is not None:
        options += ["--memory-latency", str(request.memory_latency_cyc)]
    if request.memory_jitter is not None:
        options += ["--memory-jitter", str(request.memory_jitter)]
    return options


def board_settings(request: Request) -> dict[str, str]:
    """What of the machine can be chosen stands in every row's configuration."""
    jitter = "off" if request.memory_jitter is None else str(request.memory_jitter)
    below = {} if request.firmware is None else {"firmware": Path(request.firmware).name}
    memory = {"memory_latency": str(request.memory_latency_cyc or 0), "memory_jitter": jitter}
    return memory | below


def _boot_all(
    command: Sequence[str],
    image: Path,
    boots: Sequence[Mapping[str, str]],
    bound_s: float,
    progress: Progress,
    options: Sequence[Sequence[str]] | None = None,
    done: int = 0,
) -> list[BootResult]:
    """All boots, as many at once as there are cores, in the order given; `options` are each one's
    own, and `done` of the command's boots have gone before.

    An interrupt sets `progress.stop`, and those that had not ended by then are not `done`.
    """
    ended_boots, total = count(done + 1), done + len(boots)

    def boot(arguments: Mapping[str, str], own: Sequence[str]) -> BootResult:
        if progress.stop.is_set():
            return BootResult(b"", "was not begun")
        ended = _boot([*command, *own], image, arguments, bound_s, progress.stop, to_exit=bool(own))
        progress.visits(next(ended_boots), total, arguments["only"])
        return ended

    with ThreadPoolExecutor(max_workers=build.cores()) as pool:
        started = [
            pool.submit(boot, *each)
            for each in zip(boots, options or [()] * len(boots), strict=True)
        ]
        try:
            wait(started)
        except KeyboardInterrupt:
            progress.stop.set()
        return [future.result() for future in started]


def _boot(
    command: Sequence[str],
    image: Path,
    arguments: Mapping[str, str],
    bound_s: float = BOOT_S,
    stop: threading.Event | None = None,
    *,
    to_exit: bool = False,
) -> BootResult:
    """One boot; ends with the image's `end` record, its finisher, the bound, or `stop`."""
    return read_console(
        [*command, "--append", reference_kernel.words(arguments), str(image)],
        bound_s,
        stop,
        to_exit=to_exit,
    )
