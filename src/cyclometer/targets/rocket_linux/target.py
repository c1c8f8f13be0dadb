# SPDX-License-Identifier: BSD-2-Clause
"""riscv64 Linux kernels on the RTL of the Rocket core, exact in cycles.

Booting there would take hours. A kernel boots in QEMU, goes on from there once for each circle,
stops before the first test, and is moved to the RTL, which makes the tests and prints the records.
"""

from __future__ import annotations

import fnmatch
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import Clock, Contract, Problem
from cyclometer.errors import MeasurementFailed, NotComparable, NothingMeasured, UsageError
from cyclometer.record.decode import Decoder
from cyclometer.record.schema import Circle, Failed, Flow, Group, Hello, Record, Skipped
from cyclometer.record.trace import TraceResult
from cyclometer.targets import build
from cyclometer.targets.api import (
    SILENT,
    MeasurementResult,
    Progress,
    Request,
    emulator_version,
)
from cyclometer.targets.console import BootResult, read_console
from cyclometer.targets.linux import harness
from cyclometer.targets.linux.harness import Visit
from cyclometer.targets.linux.measurement import own_method
from cyclometer.targets.qemu_linux import image as kernel_image
from cyclometer.targets.qemu_linux.guest import Guest
from cyclometer.targets.qemu_linux.image import MACHINES
from cyclometer.targets.rocket import firmware
from cyclometer.targets.rocket import simulator as rocket_board
from cyclometer.targets.rocket.target import board_options, board_settings
from cyclometer.targets.rocket_linux import m_mode, proof
from cyclometer.targets.rocket_linux import trace as moved_trace
from cyclometer.targets.rocket_linux.checkpoint import on_board
from cyclometer.targets.rocket_linux.moves import Moved, Moves

CLOCK = Clock("cycle", "cycles", 0, exact=True)
CORE = "LitexFullConfig"
MACHINE = MACHINES["riscv64"]
BOOT_S = 1800  # wall clock; most circles take half a minute
RUNS = 1  # of one checkpoint; a second one shows that it repeats to the byte
PASSES = 10
_PROOF_RUN, _RUN = 0, 1
_PROOF_FLOW = Flow(initial=4, delta=0, groups=1, tests=2)
_GROUPS, _TESTS, _TESTS_FEWEST = 3, 4, 2
_TURNS_MAX = 32
_INSTRUCTIONS = 500_000  # of all tests of a circle; the core needs two to three cycles for each
# Linux beside these: no more page-table levels than the core has, no self-tests of ciphers, which
# take hours there.
_WORDS = "no4lvl cryptomgr.notests"
_NEEDED = ("RISCV_SBI", "FPU", "SERIAL_8250_CONSOLE", "SERIAL_OF_PLATFORM", "SIFIVE_PLIC")
_MEMORY_SETTINGS = {"memory_latency": "memory_latency_cyc", "memory_jitter": "memory_jitter"}
_SETTINGS = ("kernel", "append", "symbols", "firmware")
_OPTIONS = frozenset((*_SETTINGS, *_MEMORY_SETTINGS.values()))
_OPTIONS |= {"only", "runs", "method", "watchdog_s", "config", "flow"}
_TAIL_BYTES = 300


class RocketLinuxTarget:
    """`cyclometer run --target rocket-linux --kernel PATH|debian@RELEASE:PACKAGE`."""

    name = "rocket-linux"
    description = "a riscv64 Linux kernel moved from QEMU to the RTL of the Rocket core"
    options = _OPTIONS
    concurrent = False
    exact = True
    programs = frozenset((MACHINE.emulator, "verilator", f"{m_mode.CROSS}gcc"))
    trace_flow = moved_trace.FLOW

    def missing(self) -> str:
        """One sentence that names what this machine lacks for the target; empty where nothing."""
        packages = rocket_board.PACKAGES | m_mode.PACKAGES | {MACHINE.emulator: MACHINE.package}
        lacks = sorted({pack for program, pack in packages.items() if not shutil.which(program)})
        return (
            f"target {self.name} needs {' and '.join(lacks)}; install with apt-get" if lacks else ""
        )

    def build(
        self, config: Mapping[str, str] | None = None, progress: Progress = SILENT
    ) -> list[Path]:
        """The simulator, the firmware and the harness, built if needed. Raises NotComparable
        without the tools.
        """
        del config
        if lacks := self.missing():
            raise NotComparable(lacks)
        return [rocket_board.simulator(CORE, progress.visits), m_mode.firmware(), _harness()]

    def circles(self, config: Mapping[str, str] | None = None) -> tuple[Clock, list[Contract]]:
        """The clock of every moved kernel, and the contracts of the harness."""
        del config
        records = harness.list_circles(build.harness(), [])
        return CLOCK, [r.contract for r in records if isinstance(r, Circle)]

    def measure(
        self, request: Request, environment: dict[str, Any], progress: Progress
    ) -> MeasurementResult:
        """Proves all circles in one boot of QEMU, then moves the kernel to the RTL before each of
        them, as many at once as there are cores.

        `environment`, the host's, has no bearing on cycles of the RTL, and is left out.
        """
        del environment
        request.refuse_others(self.name, self.options)
        request = _with_config(request)
        guest, simulator = self._prepare(request, progress)
        contracts = self._chosen(request.only)
        progress.visits(0, len(contracts) + 1, f"{guest.kernel.name}: proof")
        proven = prove(guest, tuple(contracts), request.watchdog_s or BOOT_S)
        visits = {
            key: _visit(contracts[key], request, cost)
            for key, cost in turn_costs(proven.records).items()
        }
        runs = request.runs or RUNS
        moves = _moves(guest, simulator, request, progress)
        moved = moves.all([visit for visit in visits.values() for _ in range(runs)])
        return self._bundle(guest, proven, moved, runs, request, progress)

    def trace(self, request: Request, keys: Sequence[str]) -> TraceResult:
        """A move for each circle of `keys`, whose explained test's window the RTL writes down."""
        request = _with_config(request)
        guest, simulator = self._prepare(request, SILENT)
        bound_s = request.watchdog_s or BOOT_S
        symbols = moved_trace.symbols(guest, bound_s)
        proven = prove(guest, tuple(keys), bound_s)
        contracts = {contract.key: contract for contract in self.circles()[1]}
        costs = turn_costs(proven.records)
        visits = [
            moved_trace.visit(key, request.method or own_method(contracts[key]), costs[key])
            for key in keys
            if key in costs
        ]
        moves = _moves(guest, simulator, request, SILENT)
        untold = [r for r in proven.records if isinstance(r, Failed | Skipped)]
        found = moved_trace.traced(guest, symbols, visits, moves.traced, request.firmware)
        return replace(found, records=[*found.records, *untold], settings=board_settings(request))

    def prove(self, request: Request, key: str) -> proof.Proof:
        """One window of a circle in QEMU and on the RTL. Raises MeasurementFailed, and UsageError
        where there is no such circle.
        """
        request = _with_config(request)
        guest, simulator = self._prepare(request, SILENT)
        if key not in {contract.key for contract in self.circles()[1]}:
            raise UsageError(f"{self.name} has no circle {key!r}; `cyclometer list` names them")
        bound_s = request.watchdog_s or BOOT_S
        known = moved_trace.symbols(guest, bound_s)
        visit = Visit(_RUN, key, "accumulated", proof.FLOW)
        moves = _moves(guest, simulator, request, SILENT)
        found = moved_trace.traced(guest, known, [visit], moves.traced)
        if key not in found.windows:
            raise MeasurementFailed(
                f"{key} has no test on the RTL; `cyclometer run --target {self.name} --only {key}` "
                "says why"
            )
        qemu = proof.in_qemu(guest, visit, bound_s)
        function = proof.named(known, found.places)
        return proof.compare(key, proof.FLOW.initial, qemu, found.windows[key], function)

    def _chosen(self, only: Sequence[str]) -> dict[str, Contract]:
        """By key. Raises NothingMeasured if none matches. An exact clock needs no circles for
        reference.
        """
        chosen = {
            contract.key: contract
            for contract in self.circles()[1]
            if any(fnmatch.fnmatchcase(contract.key, pattern) for pattern in only)
        }
        if not chosen:
            raise NothingMeasured(f"{self.name} measured nothing; no circle matches --only")
        return chosen

    def _prepare(self, request: Request, progress: Progress) -> tuple[Guest, Path]:
        simulator = self.build(progress=progress)[0]
        return guest_of(request), simulator

    def _bundle(
        self,
        guest: Guest,
        proven: Printed,
        moved: Sequence[Moved],
        runs: int,
        request: Request,
        progress: Progress,
    ) -> MeasurementResult:
        facts = guest.kernel.facts() | {
            "qemu": emulator_version(MACHINE.emulator),
            "verilator": rocket_board.verilator_version(),
            "core": CORE,
            **firmware.facts(request.firmware),
        }
        options = {"kernel": proven.hello.kernel, **board_settings(request)}
        assembler = Assembler(self.name, facts, options)
        assembler.add(_PROOF_RUN, proven.records)
        consoles = {f"run-{_PROOF_RUN}": proven.ended.console}
        for number, one in enumerate(moved):
            run = 1 + number % runs
            _add(assembler, run, one)
            consoles[f"run-{run}"] = consoles.get(f"run-{run}", b"") + one.ended.console
        stopped = progress.stop.is_set()
        if not assembler.values() and not stopped:
            reasons = [f"{p.where}: {p.what}" for p in assembler.problems]
            raise NothingMeasured(
                f"{guest.kernel.name}: nothing was measured ({(reasons or ['see the console'])[0]})"
            )
        checkpoints = {one.visit.key: one.sha256 for one in moved if one.sha256}
        assembler.plan |= {"checkpoints": checkpoints, "settings": {"runs": runs}}
        return MeasurementResult(assembler.bundle(), consoles, stopped)


@dataclass(frozen=True)
class Printed:
    """A boot that printed records."""

    ended: BootResult
    hello: Hello
    records: Sequence[Record]


def prove(guest: Guest, keys: Sequence[str], bound_s: float) -> Printed:
    """One boot in QEMU, on the machine that will be moved, in which every circle meets its contract
    and counts what a turn costs. Raises MeasurementFailed if the kernel does not run.
    """
    visits = [Visit(_PROOF_RUN, key, "proof", _PROOF_FLOW) for key in keys]
    with (
        on_board(guest, to_be_moved=False) as board,
        board.boot(_PROOF_RUN, visits, ["--proof"]) as command,
    ):
        ended = read_console(command, bound_s)
    decoder = Decoder()
    records = decoder.feed(ended.console) + decoder.finish()
    hello = next((record for record in records if isinstance(record, Hello)), None)
    if hello is None:
        tail = ended.console[-_TAIL_BYTES:].decode(errors="replace").strip()
        raise MeasurementFailed(
            f"{guest.kernel.name} {ended.why} in QEMU, on the machine that would be moved, before "
            f"it ran the harness; its console ends: {tail!r}"
        )
    return Printed(ended, hello, records)


def turn_costs(records: Sequence[Record]) -> dict[str, float]:
    """Instructions a turn by key, of the circles that the proof could run."""
    return {r.circle: min(r.values) / r.turns for r in records if isinstance(r, Group)}


def flow(turn_cost: float) -> Flow:
    """Three sizes of as many tests and turns as the simulator gets through in seconds."""
    sizes = _GROUPS * (_GROUPS + 1) // 2
    tests = int(_INSTRUCTIONS / (sizes * turn_cost))
    tests = max(_TESTS_FEWEST, min(_TESTS, tests))
    turns = max(1, min(_TURNS_MAX, int(_INSTRUCTIONS / (sizes * tests * turn_cost))))
    return Flow(initial=turns, delta=turns, groups=_GROUPS, tests=tests)


def _visit(contract: Contract, request: Request, cost: float) -> Visit:
    method = request.method or own_method(contract)
    if method != "accumulated":
        return Visit(_RUN, contract.key, method, Flow(1, 0, 1, PASSES))
    return Visit(_RUN, contract.key, method, request.flow or flow(cost))


def _add(assembler: Assembler, run: int, moved: Moved) -> None:
    decoder = Decoder()
    assembler.add(run, decoder.feed(moved.ended.console) + decoder.finish())
    assembler.add_damage(run, decoder.damage)
    if not decoder.ended:
        tail = moved.ended.console[-_TAIL_BYTES:].decode(errors="replace").strip()
        ends = f"; its console ends: {tail!r}" if tail else ""
        assembler.problems.append(
            Problem(
                f"the moved kernel {moved.ended.why}{ends}", f"circle {moved.visit.key}", "failed"
            )
        )


def _moves(guest: Guest, simulator: Path, request: Request, progress: Progress) -> Moves:
    command = [str(simulator), *board_options(request)]
    supervisor = request.firmware is not None
    return Moves(guest, command, request.watchdog_s or BOOT_S, progress, supervisor)


def guest_of(request: Request) -> Guest:
    """The kernel that a request names, with the harness. Raises MeasurementFailed for one that
    cannot run there.
    """
    if not request.kernel:
        raise UsageError(
            f"target {RocketLinuxTarget.name} needs a kernel; name one with --kernel PATH or "
            "--kernel debian@trixie:linux-image-6.12*-riscv64"
        )
    kernel = kernel_image.find(request.kernel, Path(request.symbols) if request.symbols else None)
    if kernel.machine is not MACHINE:
        raise MeasurementFailed(
            f"{kernel.name} is a kernel for {kernel.machine.name}, and the Rocket core runs "
            "riscv64; name one for riscv64, or take --target qemu-linux"
        )
    lacks = [name for name in _NEEDED if kernel.config.get(f"CONFIG_{name}", "y") != "y"]
    if lacks:
        raise MeasurementFailed(
            f"{kernel.name} is built without {' and '.join(lacks)}, which it needs on the Rocket "
            "board; build it with them"
        )
    append = " ".join(filter(None, (_WORDS, request.append)))
    return Guest(kernel, _harness(), MACHINE.cpu, append)


def _harness() -> Path:
    """Its clock is `cycle`, which counts instructions under QEMU and cycles on the RTL."""
    return build.harness(("-static",), shutil.which(f"{m_mode.CROSS}gcc"))


def _with_config(request: Request) -> Request:
    """The request with the settings that a matrix gave as its configuration."""
    chosen: dict[str, Any] = {}
    for name, value in request.config.items():
        if name in _MEMORY_SETTINGS:
            chosen[_MEMORY_SETTINGS[name]] = _number(name, value)
        elif name in _SETTINGS:
            chosen[name] = value
        else:
            known = ", ".join((*_SETTINGS, *_MEMORY_SETTINGS))
            raise UsageError(
                f"target {RocketLinuxTarget.name} has no setting {name}; it has {known}"
            )
    return replace(request, config={}, **chosen)


def _number(name: str, value: str) -> int:
    if not value.isdecimal():
        raise UsageError(f"{name}={value} is not a number; write it as {name}=20")
    return int(value)
