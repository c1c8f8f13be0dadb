# SPDX-License-Identifier: BSD-2-Clause
"""A Linux kernel with the harness in it, ready to boot: what all its boots have in common."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cyclometer.targets.linux.harness import Visit
from cyclometer.targets.linux.programs import Program
from cyclometer.targets.qemu_linux import carried, initramfs
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
        """The emulator's command for a boot that makes these visits; its archive is there as long
        as the context.
        """
        arguments = [
            "--clock",
            self.clock,
            "--cpu",
            "0",
            "--run",
            str(run),
            "--watchdog",
            str(_VISIT_S),
            *(["--exec", f"/{carried.DESCRIPTION}"] if self.programs else []),
            *options,
        ]
        plan = "".join(visit.line() for visit in visits)
        files = {
            "arguments": "".join(f"{word}\n" for word in arguments).encode(),
            "plan": plan.encode(),
            carried.DESCRIPTION: carried.description(self.programs).encode(),
        }
        with tempfile.NamedTemporaryFile(prefix="cyclometer-", suffix=".cpio") as archive:
            archive.write(
                initramfs.archive(self.program.read_bytes(), files, carried.files(self.programs))
            )
            archive.flush()
            yield self._command(archive.name)

    def _command(self, archive: str) -> list[str]:
        """Time is what the guest executes: no clock of the host is in it."""
        machine = self.kernel.machine
        return [
            machine.emulator,
            *machine.board,
            *self.hardware,
            "-cpu",
            self.cpu_model,
            "-m",
            str(self.memory_mib),
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
            "-kernel",
            str(self.kernel.image),
            "-initrd",
            archive,
            "-append",
            self.command_line,
        ]
