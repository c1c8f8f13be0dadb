# SPDX-License-Identifier: BSD-2-Clause
"""What a target is, what it takes and what it gives: the request, progress between visits, and
what was measured. A package that brings a target needs this module and `bundle.assemble`.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from cyclometer.bundle.model import Bundle, Clock, Contract
from cyclometer.errors import UsageError
from cyclometer.record.profile import Profile
from cyclometer.record.schema import Flow
from cyclometer.record.trace import TraceResult

# two sizes, for the slope; few turns, because each is written down
TRACE_FLOW = Flow(initial=4, delta=4, groups=2, tests=1)


@dataclass(frozen=True)
class Request:
    """What the user asked for: the options of `cyclometer run`; None if nothing was said.

    What a target of another package needs beyond these comes in `config`, by names of its own.
    """

    only: tuple[str, ...] = ("*",)
    runs: int | None = None
    quick: bool = False
    method: str | None = None
    budget_s: float | None = None
    spread_s: float | None = None
    cpu: int | None = None
    cpus: str | None = None  # "A,B" or a kind of pair: targets.linux.placement
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
    break_on_s: float | None = None  # a latency above it ends the measurement and stops the trace
    name: str | None = None
    until: str | None = None  # text
    firmware: str | None = None  # path; of QEMU also "default"
    memory_mib: int | None = None

    def refuse_others(self, target: str, options: frozenset[str]) -> None:
        """UsageError for the first option that was given and is not one of `options`, the fields
        of a request that `target` heeds.
        """
        for one in fields(self):
            if one.name not in options and getattr(self, one.name) != _unset(one):
                option = one.name.removesuffix("_s").removesuffix("_cyc").replace("_", "-")
                raise UsageError(f"--{option} does not apply to target {target}; leave it out")


def _unset(one: Field[Any]) -> Any:
    return one.default if one.default_factory is MISSING else one.default_factory()


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
    above: str = ""  # a clause that names the test above `break_on_s` that ended it
    files: Mapping[str, bytes] = field(default_factory=dict)  # to be kept beside it, by name

    @property
    def console(self) -> bytes:
        """The consoles of all runs, one after another."""
        return b"".join(f"== {name}\n".encode() + text for name, text in self.consoles.items())


class Target(Protocol):
    """What `cyclometer run --target NAME` measures by."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str:
        """A phrase for `cyclometer list`."""

    @property
    def options(self) -> frozenset[str]:
        """The fields of Request that it heeds; `measure` refuses the others."""

    @property
    def concurrent(self) -> bool:
        """Whether several measurements at once share the machine out among themselves."""

    @property
    def exact(self) -> bool:
        """Whether one request gives one result, to the byte, on every machine."""

    @property
    def programs(self) -> frozenset[str]:
        """The programs of the machine whose versions decide a result."""

    def missing(self) -> str:
        """One sentence about what this machine lacks for the target; empty if nothing."""

    def build(self, *, progress: Progress = SILENT) -> list[Path]:
        """Makes what can be made ahead of the first measurement; the files. Raises NotComparable
        if a tool is missing.
        """

    def circles(self, config: dict[str, str] | None = None) -> tuple[Clock, list[Contract]]:
        """The clock and all contracts of a configuration."""

    def measure(
        self, request: Request, environment: dict[str, Any], progress: Progress
    ) -> MeasurementResult:
        """Measures what `request` asks for; `environment` is what is known of this machine.

        Raises UsageError for an option that it does not heed, NothingMeasured, MeasurementFailed.
        """


@runtime_checkable
class Tracer(Protocol):
    """A target that can also write down each instruction of a turn, for `cyclometer explain`."""

    name: str
    trace_flow: Flow | None  # sizes of the traced tests; None: by what a turn costs

    def trace(self, request: Request, keys: Sequence[str]) -> TraceResult:
        """Runs `request` and traces the explained test of each circle in `keys`.

        Raises MeasurementFailed if the machine ends early.
        """


@runtime_checkable
class Profiler(Protocol):
    """A target that can also sample a circle while it is timed."""

    def profile(self, request: Request, key: str, seconds: float) -> Profile:
        """Samples one circle alone over about `seconds` of timed tests."""
