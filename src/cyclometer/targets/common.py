# SPDX-License-Identifier: BSD-2-Clause
"""What every target takes and gives: the request, progress between visits, and what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cyclometer.bundle.model import Bundle
from cyclometer.errors import UsageError
from cyclometer.record.schema import Flow, Record
from cyclometer.record.trace import Steps
from cyclometer.targets.disassembly import Places


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
    memory_latency: int | None = None  # cycles
    memory_jitter: int | None = None  # seed

    def refuse(self, target: str, *names: str) -> None:
        """UsageError for the first of these options that was given to a target that cannot heed it."""
        for name in names:
            if getattr(self, name) not in (None, False):
                option = name.removesuffix("_s").replace("_", "-")
                raise UsageError(f"target {target} has no use for --{option}; leave it out")


@dataclass(frozen=True)
class Progress:
    """What a display may show; called between visits, or steps of a build, only."""

    visits: Callable[[int, int, str], None] = lambda *_: None  # visits done, of how many, the next one's name


SILENT = Progress()


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
