# SPDX-License-Identifier: BSD-2-Clause
"""What every target takes and gives: the request, progress between visits, and what was
measured.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cyclometer.bundle.model import Bundle
from cyclometer.errors import UsageError
from cyclometer.record.schema import Flow

# What only a foreign image may be given.
IMAGE_OPTIONS = ("name", "until", "bios", "memory_mib")
SCHEDULING = ("policy", "nice", "slice_s")
"""Options that only a Linux at hand can heed."""


@dataclass(frozen=True)
class Request:
    """What the user asked for; None if nothing was said. A target refuses what it has no use
    for.
    """

    only: tuple[str, ...] = ("*",)
    runs: int | None = None
    quick: bool = False
    method: str | None = None
    budget_s: float | None = None
    cpu: int | None = None
    clock: str | None = None
    seed: int | None = None
    watchdog_s: int | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    flow: Flow | None = None
    image: Path | None = None
    machine: str | None = None
    kernel: str | None = None
    append: str | None = None
    cpu_model: str | None = None
    symbols: str | None = None  # path
    memory_latency_cyc: int | None = None
    memory_jitter: int | None = None  # seed
    circles: tuple[str, ...] = ()  # C files or names of entry points
    exec: tuple[str, ...] = ()  # [NAME=]COMMAND
    policy: str | None = None  # "fifo", "other" or "batch"
    nice: int | None = None
    slice_s: float | None = None
    name: str | None = None
    until: str | None = None  # text
    bios: str | None = None  # of QEMU: a path, or "default"
    memory_mib: int | None = None

    def refuse(self, target: str, *names: str) -> None:
        """UsageError for the first of these options that was given to a target that cannot heed
        it.
        """
        for name in names:
            value = getattr(self, name)
            if value is not None and value is not False and value not in ({}, ()):  # 0 is given
                option = name.removesuffix("_s").removesuffix("_cyc").replace("_", "-")
                raise UsageError(f"--{option} does not apply to target {target}; leave it out")


@dataclass(frozen=True)
class Progress:
    """What a display may show, called between visits or steps of a build; and the wish to end, for
    those in threads.
    """

    # visits done, of how many, the next one's name
    visits: Callable[[int, int, str], None] = lambda *_: None
    stop: threading.Event = field(default_factory=threading.Event)


SILENT = Progress()


def emulator_version(program: str) -> str:
    """The first line that an emulator says of itself; empty where it says nothing."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else ""


@dataclass
class MeasurementResult:
    """What a measurement yields: the bundle, not yet stored, and every run's console."""

    bundle: Bundle
    consoles: dict[str, bytes]
    interrupted: bool = False
    broken: bool = False  # the machine did not end as it should have; a problem says how

    @property
    def console(self) -> bytes:
        """The consoles of all runs, one after another."""
        return b"".join(f"== {name}\n".encode() + text for name, text in self.consoles.items())
