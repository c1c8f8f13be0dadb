# SPDX-License-Identifier: BSD-2-Clause
"""What every target takes and gives: the request, progress between visits, and what was measured."""

from __future__ import annotations

import fnmatch
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cyclometer.bundle.model import Bundle, Contract
from cyclometer.errors import UsageError
from cyclometer.record.schema import Flow, Record
from cyclometer.record.trace import Steps
from cyclometer.targets.disassembly import Places
from cyclometer.targets.plan import REFERENCES


@dataclass(frozen=True)
class Request:
    """What the user asked for; None where nothing was said. A target refuses what it has no use for."""

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

    def refuse(self, target: str, *names: str) -> None:
        """UsageError for the first of these options that was given to a target that cannot heed it."""
        for name in names:
            value = getattr(self, name)
            if value is not None and value is not False and value != {}:  # 0 is an answer, too
                option = name.removesuffix("_s").removesuffix("_cyc").replace("_", "-")
                raise UsageError(f"target {target} has no use for --{option}; leave it out")


@dataclass(frozen=True)
class Progress:
    """What a display may show, called between visits or steps of a build; and the wish to end, for those in threads."""

    visits: Callable[[int, int, str], None] = lambda *_: None  # visits done, of how many, the next one's name
    stop: threading.Event = field(default_factory=threading.Event)


SILENT = Progress()


def choose(contracts: Sequence[Contract], only: Sequence[str]) -> list[Contract]:
    """The circles that match, and the references, which every measurement of Linux needs; UsageError for none."""
    chosen = [c.key for c in contracts if any(fnmatch.fnmatchcase(c.key, pattern) for pattern in only)]
    if not chosen:
        raise UsageError(f"no circle matches {' '.join(only)}; `cyclometer list` shows them all")
    return [c for c in contracts if c.key in chosen or c.key in REFERENCES]


def emulator_version(program: str) -> str:
    """The first line that an emulator says of itself; empty where it says nothing."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else ""


@dataclass
class Measured:
    """What a measurement yields: the bundle, not yet stored, and every run's console."""

    bundle: Bundle
    consoles: dict[str, bytes]
    interrupted: bool = False


@dataclass(frozen=True)
class Traced:
    """Boots whose machine wrote down what it executed: their records, and the window of each circle's telling test."""

    records: Sequence[Record]
    windows: Mapping[str, Steps]  # by key; see record.trace.telling
    places: Places
    settings: Mapping[str, str] = field(default_factory=dict)  # of the machine, beside the image's configuration
