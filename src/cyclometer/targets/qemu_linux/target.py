# SPDX-License-Identifier: BSD-2-Clause
"""Linux kernels as images under QEMU, exact in instructions: the harness is their first process and
all of user space.

A kernel is booted once to prove the contracts and to learn what a turn costs, then `runs` times to
be timed, each time with the circles in another order: what a circle inherits from those before it
shows as a difference between runs.
"""

from __future__ import annotations

import random
import re
import shutil
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import Clock, Contract
from cyclometer.errors import MeasurementFailed, NotComparable, NothingMeasured, UsageError
from cyclometer.record.decode import Decoder
from cyclometer.record.schema import Circle, Flow, Group, Hello, Record
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
from cyclometer.targets.linux.added import LEARNING_FLOW, Added, added, with_contracts
from cyclometer.targets.linux.harness import Visit
from cyclometer.targets.linux.measurement import own_method
from cyclometer.targets.linux.plan import choose
from cyclometer.targets.qemu_linux import image as kernel_image
from cyclometer.targets.qemu_linux import trace as guest_trace
from cyclometer.targets.qemu_linux.booted import booted
from cyclometer.targets.qemu_linux.guest import Guest
from cyclometer.targets.qemu_linux.image import MACHINES, Machine

RUNS = 2  # the second one shows how far the first one's order decided
BOOT_S = 300  # wall clock; a boot of the whole suite takes a fraction of it
_PROOF_RUN = 0
_PROOF_FLOW = Flow(initial=4, delta=0, groups=1, tests=3)
_GROUPS, _TESTS, _PASSES = 3, 40, 60
_TURNS_MAX = 128
# instructions of a test that most likely meets nothing that the kernel does by the clock
_UNDISTURBED = 400_000
_SETTINGS = ("kernel", "append", "cpu_model", "symbols")
_OPTIONS = frozenset(_SETTINGS) | {"only", "runs", "method", "seed", "watchdog_s"}
_OPTIONS |= {"config", "flow", "circles", "exec"}
_HEAD_BYTES, _TAIL_BYTES = 8192, 300  # of a console, to look for a reason in
_LACKING = re.compile(
    rb"^\S+: warning: TCG doesn't support requested feature: CPUID\S*E[A-D]X\.(\S+) \[", re.M
)
_cores = threading.BoundedSemaphore(build.cores())  # several kernels measured at once share them


class QemuLinuxTarget:
    """`cyclometer run --target qemu-linux --kernel PATH|debian:PACKAGE`."""

    name = "qemu-linux"
    description = "a Linux kernel image under QEMU, exact in instructions"
    options = _OPTIONS
    concurrent = True  # several measurements at once take turns by the boot
    exact = True
    programs = frozenset(machine.emulator for machine in MACHINES.values())
    trace_flow = None  # by what a turn costs

    def missing(self) -> str:
        """What this machine lacks for x86-64 kernels; others are asked for when one is named."""
        return _missing(MACHINES["x86_64"])

    def build(
        self, config: dict[str, str] | None = None, progress: Progress = SILENT
    ) -> list[Path]:
        """The harness for x86-64 kernels, compiled if needed."""
        del config
        progress.visits(0, 1, "the harness")
        return [_program(MACHINES["x86_64"])]

    def circles(self, config: dict[str, str] | None = None) -> tuple[Clock, list[Contract]]:
        """The clock of every guest, and the contracts of the harness."""
        del config
        return Clock("icount", "instructions", 1e9, True), _contracts(build.harness())

    def measure(
        self, request: Request, environment: dict[str, Any], progress: Progress
    ) -> MeasurementResult:
        """Boots the kernel to prove, then `runs` times to time, as many boots at once as there are
        cores.

        `environment`, the host's, has no bearing on what a guest's instructions are, and is left
        out.
        """
        del environment
        request.refuse_others(self.name, self.options)
        ours = added(request.circles, request.exec)
        guest = _guest(_with_config(request), ours)
        known = _contracts(build.harness(circles=ours.files))
        known += [Contract(key=program.key) for program in ours.programs]
        contracts = {c.key: c for c in choose(known, ours.chosen(request.only, known))}
        measurement = _Measurement(guest, contracts, request, progress)
        return measurement.run()

    def trace(
        self,
        request: Request,
        keys: Sequence[str],
        measured: Mapping[str, float] | None = None,
    ) -> TraceResult:
        """A boot that traces what the explained tests of `keys` executed. Tests are of the
        request's flow, if it has one, but never larger than can be written down. `measured`:
        instructions of a turn by key, where they are known.
        """
        guest = _guest(_with_config(request), Added())
        contracts = {contract.key: contract for contract in self.circles()[1]}
        methods = {key: request.method or own_method(contracts[key]) for key in keys}
        bound_s = request.watchdog_s or BOOT_S
        return guest_trace.trace(booted(guest, bound_s), methods, bound_s, measured, request.flow)


class _Measurement:
    """One kernel: the proof, then the timed boots, then the bundle."""

    def __init__(
        self, guest: Guest, contracts: Mapping[str, Contract], request: Request, progress: Progress
    ):
        self.guest, self.contracts, self.request, self.progress = (
            guest,
            contracts,
            request,
            progress,
        )
        self.seed = request.seed or 0
        self.bound_s = request.watchdog_s or BOOT_S
        self.runs = request.runs or RUNS
        self.consoles: dict[str, bytes] = {}
        self._done = count(1)

    def run(self) -> MeasurementResult:
        if self.guest.programs:
            self._learn()
        self.progress.visits(0, self.runs + 1, f"{self.guest.kernel.name}: boot")
        with _cores:
            self.guest = booted(self.guest, self.bound_s, self.progress.stop)
        self.progress.visits(0, self.runs + 1, f"{self.guest.kernel.name}: proof")
        proof = [Visit(_PROOF_RUN, key, "proof", _PROOF_FLOW) for key in self.contracts]
        proven = self._boot(_PROOF_RUN, proof, ["--proof"])
        hello = next((r for r in proven.records if isinstance(r, Hello)), None)
        if hello is None:
            raise _failure(self.guest, proven.ended)
        plans = {
            run: self._plan(run, _turn_costs(proven.records)) for run in range(1, self.runs + 1)
        }
        with ThreadPoolExecutor(max_workers=self.runs) as pool:
            boots = [pool.submit(self._boot, run, visits) for run, visits in plans.items()]
            try:
                wait(boots)
            except KeyboardInterrupt:
                self.progress.stop.set()
        return self._bundle(hello, [proven, *(boot.result() for boot in boots)], plans)

    def _learn(self) -> None:
        """A boot that shows what the user's programs count; later boots hold them to it."""
        self.progress.visits(0, self.runs + 1, f"{self.guest.kernel.name}: programs")
        visits = [
            Visit(_PROOF_RUN, program.key, "proof", LEARNING_FLOW)
            for program in self.guest.programs
        ]
        with _cores, self.guest.boot(_PROOF_RUN, visits, ["--proof"]) as command:
            boot = _Boot(_PROOF_RUN, read_console(command, self.bound_s, self.progress.stop))
        if not any(isinstance(record, Hello) for record in boot.records):
            raise _failure(self.guest, boot.ended)
        known = with_contracts(self.guest.programs, lambda: boot.records)
        self.guest = replace(self.guest, programs=known)

    def _plan(self, run: int, costs: Mapping[str, float]) -> list[Visit]:
        """Every circle once, sized so that most tests meet no timer tick, in an order of the run's
        own.
        """
        visits = [self._visit(run, key, cost) for key, cost in costs.items()]
        random.Random(self.seed + run).shuffle(visits)
        return visits

    def _visit(self, run: int, key: str, cost: float) -> Visit:
        method = self.request.method or own_method(self.contracts[key])
        if method != "accumulated":
            return Visit(run, key, method, Flow(1, 0, 1, _PASSES))
        return Visit(run, key, method, self.request.flow or flow(cost, _UNDISTURBED))

    def _boot(self, run: int, visits: Sequence[Visit], options: Sequence[str] = ()) -> _Boot:
        with _cores, self.guest.boot(run, visits, options) as command:
            ended = read_console(command, self.bound_s, self.progress.stop)
        self.progress.visits(
            next(self._done), self.runs + 1, f"{self.guest.kernel.name}: run {run}"
        )
        self.consoles[f"run-{run}"] = ended.console
        return _Boot(run, ended)

    def _bundle(
        self, hello: Hello, boots: Sequence[_Boot], plans: Mapping[int, Sequence[Visit]]
    ) -> MeasurementResult:
        guest = self.guest
        facts = guest.kernel.facts() | {
            "qemu": emulator_version(guest.kernel.machine.emulator),
            "icount": "shift=0",
        }
        if lacks := _lacks(boots[0].ended.console):
            facts["cpu_lacks"] = lacks
        options = {"kernel": hello.kernel, "cpu_model": guest.cpu_model}
        assembler = Assembler(QemuLinuxTarget.name, facts, options)
        for boot in boots:
            assembler.add(boot.run, boot.records)
            assembler.add_damage(boot.run, boot.decoder.damage)
            if not boot.decoder.ended:
                assembler.add_early_end(boot.run, f"the kernel {_reason(guest, boot.ended)}")
        if not assembler.values() and not self.progress.stop.is_set():
            reasons = [f"{p.where}: {p.what}" for p in assembler.problems]
            raise NothingMeasured(
                f"{guest.kernel.name}: nothing was measured ({(reasons or ['see the console'])[0]})"
            )
        order = [
            {"run": run, "circle": v.key, "method": v.method}
            for run, visits in plans.items()
            for v in visits
        ]
        assembler.plan |= {"settings": {"seed": self.seed, "runs": self.runs}, "order": order}
        consoles = dict(sorted(self.consoles.items()))
        return MeasurementResult(assembler.bundle(), consoles, self.progress.stop.is_set())


class _Boot:
    """What one boot printed, decoded."""

    def __init__(self, run: int, ended: BootResult):
        self.run, self.ended, self.decoder = run, ended, Decoder()
        self.records: list[Record] = self.decoder.feed(ended.console) + self.decoder.finish()


def flow(turn_cost: float, largest: int) -> Flow:
    """Three sizes in powers of two, so that kernels that differ a little are measured alike, the
    largest test within `largest` instructions where a turn is.
    """
    turns = 1
    while turns < _TURNS_MAX and 2 * turns * _GROUPS * turn_cost <= largest:
        turns *= 2
    return Flow(initial=turns, delta=turns, groups=_GROUPS, tests=_TESTS)


def _turn_costs(records: Sequence[Record]) -> dict[str, float]:
    """Instructions a turn by key, as the proof's least disturbed test had them, events of ours
    included.
    """
    return {r.circle: min(r.values) / r.turns for r in records if isinstance(r, Group)}


def _with_config(request: Request) -> Request:
    """The request with the settings that a matrix gave as its configuration."""
    config = {name.replace("-", "_"): value for name, value in request.config.items()}
    if unknown := [name for name in config if name not in _SETTINGS]:
        raise UsageError(
            f"target qemu-linux has no setting {unknown[0]}; it has {', '.join(_SETTINGS)}"
        )
    return replace(request, config={}, **config)  # type: ignore[arg-type]


def _guest(request: Request, ours: Added) -> Guest:
    if not request.kernel:
        raise UsageError(
            "target qemu-linux needs a kernel; name one with --kernel PATH or --kernel "
            "debian:PACKAGE"
        )
    kernel = kernel_image.find(request.kernel, Path(request.symbols) if request.symbols else None)
    if lacks := _missing(kernel.machine):
        raise NotComparable(lacks)
    cpu_model = request.cpu_model or kernel.machine.cpu
    return Guest(
        kernel,
        _program(kernel.machine, ours.files),
        cpu_model,
        request.append or "",
        ours.programs,
    )


def _missing(machine: Machine) -> str:
    """One sentence that names what this computer lacks for a machine's kernels; empty where
    nothing.
    """
    lacks = [] if shutil.which(machine.emulator) else [machine.package]
    if not build.compiler_for(machine.name, machine.cross):
        lacks.append(f"gcc-{machine.cross.rstrip('-').replace('_', '-')}")
    return (
        f"{machine.name} kernels need {' and '.join(lacks)}; install with apt-get" if lacks else ""
    )


def _program(machine: Machine, circles: Sequence[Path] = ()) -> Path:
    """The harness for a machine, without a library that would have to be beside it."""
    return build.harness(
        ("-static", *machine.flags), build.compiler_for(machine.name, machine.cross), circles
    )


def _contracts(program: Path) -> list[Contract]:
    return [r.contract for r in harness.list_circles(program, []) if isinstance(r, Circle)]


def _lacks(console: bytes) -> str:
    """What the CPU model has and the emulator leaves out, as it warns before the kernel starts."""
    found = _LACKING.findall(console[:_HEAD_BYTES])
    return " ".join(name.decode() for name in dict.fromkeys(found))


def _failure(guest: Guest, ended: BootResult) -> UsageError | MeasurementFailed:
    """Why a kernel never ran the harness; its console is kept for whoever wants to see."""
    lines = ended.console[:_HEAD_BYTES].decode(errors="replace").splitlines()
    own = [
        line for line in lines if not line.startswith(f"{guest.kernel.machine.emulator}: warning:")
    ]
    # the emulator itself refused
    if own and own[0].startswith(f"{guest.kernel.machine.emulator}: "):
        return UsageError(f"{own[0]}; correct --cpu-model, or the image")
    kept = build.cache() / "failed-boots" / f"{guest.kernel.sha256[:16]}.console"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(ended.console)
    return MeasurementFailed(
        f"{guest.kernel.name} {_reason(guest, ended)}; its console is in {kept}"
    )


def _reason(guest: Guest, ended: BootResult) -> str:
    """A phrase that completes "the kernel ..."."""
    if said := re.search(rb"cyclometer-linux: ([^\r\n]*)", ended.console):
        return f"started the harness, which gave up: {_plain(said[1])}"
    if panic := re.search(rb"Kernel panic - not syncing: ([^\r\n]*)", ended.console):
        return f"panicked: {_plain(panic[1])}"
    if not ended.console:
        console = guest.kernel.machine.console
        return (
            f"{ended.why}: no console on {console} (is its serial driver built in?), or it "
            "did not start"
        )
    return f"{ended.why}; its console ends: {_plain(ended.console[-_TAIL_BYTES:])}"


def _plain(data: bytes) -> str:
    return repr(data.decode(errors="replace").strip())
