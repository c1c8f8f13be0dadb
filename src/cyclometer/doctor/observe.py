# SPDX-License-Identifier: BSD-2-Clause
"""What a machine shows of itself: standing facts, what this process may do, and what happens within
a second.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import re
import resource
import shutil
import struct
import subprocess
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from cyclometer import environment
from cyclometer.environment import CPU, ROOT, number, parse_cpus, text
from cyclometer.errors import NotComparable, UsageError
from cyclometer.units import NS_PER_S


@dataclass(frozen=True)
class Activity:
    """What happened on the CPU over `seconds`, in which this process slept. Shares are of that
    time.
    """

    seconds: float
    busy_share: float
    steal_share: float
    sibling_busy_share: float
    interrupts_per_s: float
    major_faults_per_s: float  # on the whole machine


@dataclass(frozen=True)
class Abilities:
    """What this process may do, and what two things cost it. A refusal is the kernel's own word for
    it, else ''.
    """

    fifo: bool
    memlock_bytes: int | None  # None: unlimited
    cpu_events_refusal: str
    cycles_refusal: str
    may_mount: bool
    compiler: str  # its own first line; '' if there is none
    clock_read_ns: int
    page_fault_ns: int
    hardware: tuple[str, ...] = ()  # what proofs can count per turn, by the names of FORMAT.md
    counter_offered: bool = False  # the kernel offers core cycles to programs without a system call


@dataclass(frozen=True)
class IdleState:
    """A state in which an idle CPU rests; it takes up to `exit_us` to run again."""

    name: str
    exit_us: int


@dataclass(frozen=True)
class Observation:
    """Everything the checks judge, so that they need no machine."""

    cpu: int
    facts: dict[str, Any]
    siblings: list[int]
    idle_states: list[IdleState]  # those not disabled
    tracefs: bool
    # part of each second kept for ordinary threads; None if unknown
    fair_server_share: float | None
    activity: Activity
    abilities: Abilities


def observe(cpu: int | None = None, root: Path = ROOT) -> Observation:
    """Observe `cpu` (default: the last this process may use) for one second; errors as
    `chosen_cpu`.
    """
    cpu = chosen_cpu(cpu, root)
    siblings = _siblings(root, cpu)
    return Observation(
        cpu=cpu,
        facts=environment.collect(root),
        siblings=siblings,
        idle_states=_idle_states(root, cpu),
        tracefs=any(text(root, f"{folder}/events/sched/sched_wakeup/id") for folder in _TRACEFS),
        fair_server_share=_fair_server_share(root, cpu),
        activity=_watch(root, cpu, siblings),
        abilities=probe(cpu),
    )


def chosen_cpu(cpu: int | None, root: Path = ROOT) -> int:
    """`cpu`, or the last CPU that this process may use.

    Raises NotComparable if this is not Linux, UsageError if there is no such CPU.
    """
    ticks = _ticks(root)
    if not ticks:
        raise NotComparable(
            "there is no /proc/stat here, so this is not Linux; run doctor on the machine to be "
            "measured"
        )
    if cpu is None:
        cpu = max(os.sched_getaffinity(0))
    if f"cpu{cpu}" not in ticks:
        raise UsageError(
            f"CPU {cpu} is not online; choose one of {text(root, f'{CPU}/online')} with --cpu"
        )
    return cpu


_TRACEFS = ("sys/kernel/tracing", "sys/kernel/debug/tracing")


def _siblings(root: Path, cpu: int) -> list[int]:
    together = text(root, f"{CPU}/cpu{cpu}/topology/thread_siblings_list") or ""
    return [other for other in parse_cpus(together) if other != cpu]


def _idle_states(root: Path, cpu: int) -> list[IdleState]:
    folder = f"{CPU}/cpu{cpu}/cpuidle"
    states = []
    for path in sorted((root / folder).glob("state*")):
        name, exit_us = text(path, "name"), number(path, "latency")
        if name and exit_us is not None and not number(path, "disable"):
            states.append(IdleState(name, exit_us))
    return states


def _fair_server_share(root: Path, cpu: int) -> float | None:
    folder = f"sys/kernel/debug/sched/fair_server/cpu{cpu}"
    runtime_ns, period_ns = number(root, f"{folder}/runtime"), number(root, f"{folder}/period")
    return None if runtime_ns is None or not period_ns else runtime_ns / period_ns


def _ticks(root: Path) -> dict[str, list[int]]:
    """Per CPU: ticks spent as user, nice, system, idle, iowait, irq, softirq, steal
    (proc_stat(5)).
    """
    lines = (line.split() for line in (text(root, "proc/stat") or "").splitlines())
    return {
        words[0]: [int(word) for word in words[1:9]]
        for words in lines
        if words[0].startswith("cpu")
    }


def _interrupts(root: Path, cpu: int) -> int:
    """Interrupts of every kind that `cpu` took since boot."""
    lines = (text(root, "proc/interrupts") or "").splitlines()
    columns = lines[0].split() if lines else []
    if f"CPU{cpu}" not in columns:
        return 0
    at = columns.index(f"CPU{cpu}")
    counts = (line.split()[1:][at : at + 1] for line in lines[1:])
    return sum(int(count[0]) for count in counts if count and count[0].isdigit())


def _major_faults(root: Path) -> int:
    found = re.search(r"^pgmajfault (\d+)$", text(root, "proc/vmstat") or "", re.M)
    return int(found[1]) if found else 0


def _busy_and_steal(before: list[int], after: list[int]) -> tuple[float, float]:
    passed = [later - earlier for earlier, later in zip(before, after, strict=True)]
    user, nice, system, _idle, _iowait, irq, softirq, steal = passed
    total = max(sum(passed), 1)
    return (user + nice + system + irq + softirq) / total, steal / total


def _watch(root: Path, cpu: int, siblings: list[int]) -> Activity:
    seconds = 1.0
    ticks, interrupts, faults = _ticks(root), _interrupts(root, cpu), _major_faults(root)
    time.sleep(seconds)
    later = _ticks(root)
    busy, steal = _busy_and_steal(ticks[f"cpu{cpu}"], later[f"cpu{cpu}"])
    pairs = [(ticks.get(f"cpu{other}"), later.get(f"cpu{other}")) for other in siblings]
    sibling_busy = [
        _busy_and_steal(first, second)[0] for first, second in pairs if first and second
    ]
    return Activity(
        seconds=seconds,
        busy_share=busy,
        steal_share=steal,
        sibling_busy_share=max(sibling_busy, default=0.0),
        interrupts_per_s=(_interrupts(root, cpu) - interrupts) / seconds,
        major_faults_per_s=(_major_faults(root) - faults) / seconds,
    )


def probe(cpu: int) -> Abilities:
    """What this very process may do; it is left as it was."""
    limit_bytes = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    unlimited = limit_bytes == resource.RLIM_INFINITY or _capable(_CAP_IPC_LOCK)
    return Abilities(
        fifo=_may_use_fifo(),
        memlock_bytes=None if unlimited else limit_bytes,
        cpu_events_refusal=_perf_refusal(_PERF_SOFTWARE, _PERF_CONTEXT_SWITCHES, cpu),
        cycles_refusal=_perf_refusal(_PERF_HARDWARE, _PERF_CPU_CYCLES, cpu),
        may_mount=_capable(_CAP_SYS_ADMIN),
        compiler=_compiler(),
        clock_read_ns=_clock_read_ns(),
        page_fault_ns=_page_fault_ns(),
        hardware=tuple(
            name
            for name, (kind, config) in _HARDWARE_EVENTS.items()
            if not _perf_refusal(kind, config, cpu)
        ),
        counter_offered=_counter_offered(cpu),
    )


_CAP_IPC_LOCK, _CAP_SYS_ADMIN = 14, 21


def _capable(capability: int) -> bool:
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)$", text(ROOT, "proc/self/status") or "", re.M)
    return bool(effective and int(effective[1], 16) >> capability & 1)


def _may_use_fifo() -> bool:
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return False
    os.sched_setscheduler(0, policy, parameters)
    return True


# perf_event_open(2); the first 16 bytes of its attributes are type, size and config.
_PERF_HARDWARE, _PERF_CPU_CYCLES = 0, 0
_PERF_SOFTWARE, _PERF_CONTEXT_SWITCHES = 1, 3
_PERF_HW_CACHE, _PERF_MISSES = 3, 1 << 16
# As linux/counters.c counts them in proofs.
_HARDWARE_EVENTS = {
    "instructions": (_PERF_HARDWARE, 1),
    "cycles": (_PERF_HARDWARE, _PERF_CPU_CYCLES),
    "branch_misses": (_PERF_HARDWARE, 5),
    "l1d_misses": (_PERF_HW_CACHE, 0 | _PERF_MISSES),
    "itlb_misses": (_PERF_HW_CACHE, 4 | _PERF_MISSES),
    "dtlb_misses": (_PERF_HW_CACHE, 3 | _PERF_MISSES),
    "llc_misses": (_PERF_HARDWARE, 3),
}
_PERF_ATTR_BYTES = 128
_PERF_CLOEXEC = 8
_CAPABILITIES_AT, _CAP_USER_RDPMC = 40, 1 << 2  # struct perf_event_mmap_page
_PERF_CALL = {"x86_64": 298, "aarch64": 241, "riscv64": 241}


def _perf_refusal(kind: int, config: int, cpu: int) -> str:
    """'' where an event that counts everything on `cpu` can be opened, else why not."""
    event = _perf_event(kind, config, cpu)
    if isinstance(event, str):
        return event
    os.close(event)
    return ""


def _perf_event(kind: int, config: int, cpu: int) -> int | str:
    """The descriptor of such an event, or why there is none."""
    call = _PERF_CALL.get(platform.machine())
    if call is None:
        return "not known for this architecture"
    attributes = struct.pack("=IIQ", kind, _PERF_ATTR_BYTES, config).ljust(_PERF_ATTR_BYTES, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(ctypes.c_long(call), attributes, -1, cpu, -1, ctypes.c_ulong(_PERF_CLOEXEC))
    if fd < 0:
        refusal = ctypes.get_errno()
        return "the CPU shows none" if refusal == errno.ENOENT else os.strerror(refusal).lower()
    return int(fd)


def _counter_offered(cpu: int) -> bool:
    """Whether the page of a core-cycle event has cap_user_rdpmc (perf_event_open(2))."""
    event = _perf_event(_PERF_HARDWARE, _PERF_CPU_CYCLES, cpu)
    if isinstance(event, str):
        return False
    try:
        with mmap.mmap(event, mmap.PAGESIZE, prot=mmap.PROT_READ) as page:
            (capabilities,) = struct.unpack_from("=Q", page, _CAPABILITIES_AT)
            return bool(capabilities & _CAP_USER_RDPMC)
    except OSError:
        return False
    finally:
        os.close(event)


def _compiler() -> str:
    """The first line of the C compiler's --version, as the harness's build chooses it."""
    for name in filter(None, (os.environ.get("CC"), "cc", "gcc", "clang")):
        path = shutil.which(name)
        if path is not None:
            done = subprocess.run(
                [path, "--version"], capture_output=True, text=True, timeout=10, check=False
            )
            return (done.stdout.splitlines() or [path])[0]
    return ""


def _clock_read_ns() -> int:
    """The least time between two readings of CLOCK_MONOTONIC: an upper bound, because Python stands
    between them.
    """
    readings = [time.monotonic_ns() for _ in range(1000)]
    return min(later - earlier for earlier, later in pairwise(readings))


def _page_fault_ns() -> int:
    """Mean time of a first touch of an private page, less that of a second touch."""
    pages = 512
    with mmap.mmap(
        -1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    ) as memory:
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        first_s, second_s = (_touch_s(memory, pages) for _ in range(2))
    return round(max(first_s - second_s, 0.0) / pages * NS_PER_S)


def _touch_s(memory: mmap.mmap, pages: int) -> float:
    start = time.perf_counter()
    for page in range(pages):
        memory[page * mmap.PAGESIZE] = 1
    return time.perf_counter() - start
