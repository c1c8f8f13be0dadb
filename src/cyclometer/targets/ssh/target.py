# SPDX-License-Identifier: BSD-2-Clause
"""A Linux elsewhere: the harness is copied there, takes its plan from here, and is removed."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclometer import environment as machine_facts
from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import Clock, Contract
from cyclometer.environment import parse_cpus, text
from cyclometer.errors import MeasurementFailed, NotComparable
from cyclometer.targets import build
from cyclometer.targets.api import SILENT, MeasurementResult, Progress, Request
from cyclometer.targets.linux import inherited
from cyclometer.targets.linux.added import added
from cyclometer.targets.linux.harness import Launch
from cyclometer.targets.linux.measurement import Measurement, MeasurementSettings
from cyclometer.targets.linux.placement import AUTO, CpuPair, UsableCpus
from cyclometer.targets.linux.plan import choose
from cyclometer.targets.linux.target import (
    LinuxTarget,
    circles_of,
    measured,
    rate_option,
    settings_of,
    without_idle_pair,
)
from cyclometer.targets.qemu_linux.image import MACHINES
from cyclometer.targets.ssh import facts
from cyclometer.targets.ssh.line import SCHEME, Line

_PROGRAM = "cyclometer-linux"
_STATIC = ("-static",)


@dataclass(frozen=True)
class _Lent:
    """A harness on another machine, and what that machine is."""

    program: Path  # there
    launch: Launch
    cpus: UsableCpus
    facts: dict[str, Any]


@dataclass(frozen=True)
class SshTarget:
    """`cyclometer run --target ssh://HOST`."""

    line: Line
    options = LinuxTarget.options - {"exec", "break_on_s"}
    concurrent = False
    exact = False
    programs = LinuxTarget.programs

    @property
    def name(self) -> str:
        return f"{SCHEME}{self.line.host}"

    @property
    def description(self) -> str:
        return f"the Linux of {self.line.host}, by its own clock"

    def missing(self) -> str:
        """Empty: what is missing shows when the machine is asked."""
        return ""

    def build(self, progress: Progress = SILENT) -> list[Path]:
        """The harness for the other machine, compiled here if needed. Errors as `measure`."""
        progress.visits(0, 1, "the harness")
        with tempfile.TemporaryDirectory() as folder:
            return [_program(facts.copy(self.line, Path(folder)))]

    def circles(self, config: dict[str, str] | None = None) -> tuple[Clock, list[Contract]]:
        """The clock and all contracts of the harness there."""
        Request(config=config or {}).refuse_others(self.name, self.options)
        with self._lent() as lent:
            settings = MeasurementSettings(
                cpu=max(lent.cpus.allowed), policy="any", pair=CpuPair(None, "")
            )
            return circles_of(settings, lent.program, lent.launch)

    def measure(
        self, request: Request, environment: dict[str, Any], progress: Progress
    ) -> MeasurementResult:
        """Measures as target `linux` does. `environment`, of this machine, is left out.

        Raises NotComparable for a machine that is not reached, or that nothing here compiles for.
        """
        del environment
        request.refuse_others(self.name, self.options)
        ours = added(request.circles, ())
        with self._lent(ours.files) as lent:
            settings = settings_of(request, AUTO, lent.cpus)
            clock, contracts = circles_of(settings, lent.program, lent.launch)
            only = ours.chosen(settings.only, contracts)
            wanted = choose(contracts, only, request.cpus is not None)
            return measured(
                Measurement(
                    without_idle_pair(settings, wanted),
                    clock,
                    wanted,
                    progress,
                    Assembler(LinuxTarget.name, lent.facts),
                    lent.program,
                    lent.launch,
                    rate_option(clock),
                )
            )

    @contextlib.contextmanager
    def _lent(self, circles: tuple[Path, ...] = ()) -> Iterator[_Lent]:
        """The harness on the other machine, as long as the context and the line hold."""
        with tempfile.TemporaryDirectory() as copied, self.line.folder() as folder:
            root = Path(copied)
            program = _program(facts.copy(self.line, root), circles)
            there = folder / _PROGRAM
            self.line.ask(f"cat > {there} && chmod 700 {there}", program.read_bytes())
            yield _Lent(
                Path(there),
                Launch((*self.line.command, "exec")),
                _usable(self.line, root),
                machine_facts.collect(root) | inherited.collect(root) | {"host": self.line.host},
            )


def _program(architecture: str, circles: tuple[Path, ...] = ()) -> Path:
    """The harness for an architecture, without a library that would have to be beside it."""
    machine = MACHINES.get(architecture)
    cc = machine and build.compiler_for(machine.name, machine.cross)
    if machine is None:
        known = ", ".join(MACHINES)
        raise NotComparable(
            f"the harness is for {known}; the machine is {architecture or 'silent'}"
        )
    if not cc:
        package = f"gcc-{machine.cross.rstrip('-').replace('_', '-')}"
        raise NotComparable(f"{architecture} needs a compiler here; apt-get install {package}")
    return build.harness(_STATIC, cc, circles)


def _usable(line: Line, root: Path) -> UsableCpus:
    found = facts.CPUS_ALLOWED.search(text(root, "proc/self/status") or "")
    if found is None:
        raise MeasurementFailed(f"{line.host} does not say which CPUs may be used; is it Linux?")
    return UsableCpus(frozenset(parse_cpus(found[1])), root)
