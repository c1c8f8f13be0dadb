# SPDX-License-Identifier: BSD-2-Clause
"""A Linux kernel with the harness in it, ready to boot: what all its boots have in common."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cyclometer.targets.linux.harness import Visit
from cyclometer.targets.linux.programs import Program
from cyclometer.targets.qemu_linux import carried, initramfs, orders
from cyclometer.targets.qemu_linux.image import Kernel

COMMAND_LINE = "panic=-1 nokaslr norandmaps"
_VISIT_S = 5  # of the guest's time, which is so many thousand million instructions


@dataclass(frozen=True)
class Guest:
    """A kernel, its machine, and the harness linked statically."""

    kernel: Kernel
    program: Path
    cpu_model: str
    append: str
    programs: tuple[Program, ...] = ()  # of the user's, which the guest carries
    clock: str = "icount"  # of the harness
    memory_mib: int = 256
    hardware: tuple[str, ...] = ()  # the emulator's further options
    state: Path | None = None  # a machine that has booted, to be continued instead

    @property
    def command_line(self) -> str:
        """The kernel's."""
        machine = self.kernel.machine
        return " ".join(
            filter(None, (f"console={machine.console}", COMMAND_LINE, machine.append, self.append))
        )

    @contextmanager
    def boot(
        self, run: int, visits: Sequence[Visit], options: Sequence[str] = ()
    ) -> Iterator[list[str]]:
        """The emulator's command for a boot that makes these visits; its files are there as long
        as the context.
        """
        arguments, plan = self._orders(run, visits, options)
        if self.state is not None:
            with self.unordered() as command, orders.given(self.state, arguments, plan) as state:
                yield [*command, "-incoming", orders.reading(state)]
            return
        with self._archived({"arguments": arguments.encode(), "plan": plan.encode()}) as archive:
            yield self._command(archive)

    @contextmanager
    def unordered(self) -> Iterator[list[str]]:
        """The command for a boot in which the harness stops at a hint and waits for its orders."""
        with self._archived({}) as archive:
            yield self._command(archive)

    @contextmanager
    def restored(self, image: Path, memory_mib: int, visit: Visit) -> Iterator[list[str]]:
        """The command for a machine that does not boot: `image`, an ELF file, puts back one that
        waited for its orders, to make this visit.
        """
        with orders.given(image, *self._orders(visit.run, [visit], ())) as ordered:
            start = ("-bios", "none", "-device", f"loader,file={ordered},cpu-num=0")
            yield [*self._machine(memory_mib), *start]

    def _orders(self, run: int, visits: Sequence[Visit], options: Sequence[str]) -> tuple[str, str]:
        """The harness's arguments, one a line, and its plan."""
        words = [*("--clock", self.clock), *("--cpu", "0"), *("--run", str(run))]
        words += ["--watchdog", str(_VISIT_S)]
        words += ["--exec", f"/{carried.DESCRIPTION}"] if self.programs else []
        arguments = "".join(f"{word}\n" for word in (*words, *options))
        return arguments, "".join(visit.line() for visit in visits)

    @contextmanager
    def _archived(self, files: Mapping[str, bytes]) -> Iterator[str]:
        """The name of an archive with the harness and `files`."""
        ours = {carried.DESCRIPTION: carried.description(self.programs).encode(), **files}
        with tempfile.NamedTemporaryFile(prefix="cyclometer-", suffix=".cpio") as archive:
            archive.write(
                initramfs.archive(self.program.read_bytes(), ours, carried.files(self.programs))
            )
            archive.flush()
            yield archive.name

    def _command(self, archive: str) -> list[str]:
        boot = ("-kernel", str(self.kernel.image), "-initrd", archive, "-append", self.command_line)
        return [*self._machine(self.memory_mib), *self.hardware, *boot]

    def _machine(self, memory_mib: int) -> list[str]:
        """Time is what the guest executes: no clock of the host is in it."""
        machine = self.kernel.machine
        return [
            machine.emulator,
            *machine.board,
            "-cpu",
            self.cpu_model,
            "-m",
            str(memory_mib),
            "-smp",
            "1",
            "-icount",
            "shift=0,sleep=off",
            "-rtc",
            "base=2020-01-01,clock=vm",
            "-nodefaults",
            "-no-reboot",
            "-display",
            "none",
            "-serial",
            "stdio",
            "-monitor",
            "none",
            "-net",
            "none",
        ]
