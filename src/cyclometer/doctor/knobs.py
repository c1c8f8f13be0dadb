# SPDX-License-Identifier: BSD-2-Clause
"""Which settings of a running Linux disturb measurements, and what each should be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cyclometer.doctor.checks import IDLE_EXIT_WARN_US
from cyclometer.environment import CPU, format_cpus, number, parse_cpus, text

# Every knob stands under one of these; a journal that names another file is not ours.
FOLDERS = ("proc/sys/", "proc/irq/", "sys/")


@dataclass(frozen=True)
class Knob:
    """A file under the machine's root and the value that measurements want in it."""

    path: str
    wanted: str


def value_of(root: Path, path: str) -> str | None:
    """What a knob is set to, in the words that set it; None if it cannot be read."""
    content = text(root, path)
    choice = re.search(r"\[(\S+)\]", content or "")  # e.g. `always [madvise] never`
    return choice[1] if choice else content


def knobs(root: Path, cpu: int) -> list[Knob]:
    """The knobs that this machine has, set as `cpu` is best measured with."""
    return [*_fixed(root), *_huge_pages(root), *_idle_states(root, cpu), *_interrupts(root, cpu)]


# FIFO circles have a watchdog of their own, so the RT throttle may go; -1 lets every user count
# kernel events.
_FIXED = (
    (f"{CPU}/cpufreq/policy*/scaling_governor", "performance"),
    (f"{CPU}/cpufreq/policy*/boost", "0"),
    (f"{CPU}/cpufreq/boost", "0"),
    (f"{CPU}/intel_pstate/no_turbo", "1"),
    ("proc/sys/kernel/sched_rt_runtime_us", "-1"),
    ("proc/sys/kernel/perf_event_paranoid", "-1"),
    ("proc/sys/kernel/numa_balancing", "0"),
    ("proc/sys/kernel/nmi_watchdog", "0"),
)


def _fixed(root: Path) -> Iterator[Knob]:
    for pattern, wanted in _FIXED:
        for path in sorted(root.glob(pattern)):
            yield Knob(str(path.relative_to(root)), wanted)


def _huge_pages(root: Path) -> Iterator[Knob]:
    path = "sys/kernel/mm/transparent_hugepage/enabled"
    if value_of(root, path) == "always":
        yield Knob(path, "madvise")


def _idle_states(root: Path, cpu: int) -> Iterator[Knob]:
    for state in sorted((root / CPU / f"cpu{cpu}/cpuidle").glob("state*")):
        if (number(state, "latency") or 0) > IDLE_EXIT_WARN_US:
            yield Knob(f"{state.relative_to(root)}/disable", "1")


def _interrupts(root: Path, cpu: int) -> Iterator[Knob]:
    """Away from `cpu`, where an interrupt has another CPU to go to."""
    for path in sorted(root.glob("proc/irq/[0-9]*/smp_affinity_list")):
        cpus = parse_cpus(text(root, str(path.relative_to(root))) or "")
        others = [other for other in cpus if other != cpu]
        if others and others != cpus:
            yield Knob(str(path.relative_to(root)), format_cpus(others))
