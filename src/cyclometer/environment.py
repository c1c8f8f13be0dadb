# SPDX-License-Identifier: BSD-2-Clause
"""Facts about a Linux machine that decide what a latency measured on it means.

Everything is read from files under a root, so that a captured or made-up machine can be asked like
the real one. A fact that the machine does not state is absent from the answer; nothing is guessed.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import subprocess
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

CPU = "sys/devices/system/cpu"
ROOT = Path("/")


def text(root: Path, path: str) -> str | None:
    """The stripped content of a file under `root`; None if it cannot be read."""
    try:
        return (root / path).read_bytes().decode("utf-8", "replace").strip("\0\n\t ")
    except OSError:
        return None


def number(root: Path, path: str) -> int | None:
    """The integer that a file under `root` holds; None if it holds none."""
    try:
        return int(text(root, path) or "")
    except ValueError:
        return None


def parse_cpus(cpu_list: str) -> list[int]:
    """The CPUs of a list such as `0-3,6`; the kernel's `(null)` and an empty text mean none."""
    spans = [span.split("-") for span in cpu_list.split(",") if span and span != "(null)"]
    return [cpu for span in spans for cpu in range(int(span[0]), int(span[-1]) + 1)]


def format_cpus(cpus: Iterable[int]) -> str:
    """CPUs as the kernel writes them: `0-3,6`."""
    spans: list[list[int]] = []
    for cpu in sorted(cpus):
        if spans and spans[-1][1] == cpu - 1:
            spans[-1][1] = cpu
        else:
            spans.append([cpu, cpu])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in spans)


def collect(root: Path = ROOT, tree: Path | None = None) -> dict[str, Any]:
    """The facts of the machine whose files stand under `root`, and the git state of `tree` where it
    has one.

    Names carry their unit. Facts that differ between CPUs are given as {value: CPU list}.
    """
    facts: dict[str, Any] = {name: text(root, path) for name, path in _TEXTS.items()}
    facts |= {name: number(root, path) for name, path in _NUMBERS.items()}
    facts |= {name: fact(root) for name, fact in _FACTS.items()}
    if tree is not None:
        facts["git"] = git_state(tree)
    return {
        name: value for name, value in sorted(facts.items()) if value is not None and value != {}
    }


def kernel_config(root: Path = ROOT) -> str | None:
    """The kernel's own .config, from /proc/config.gz or /boot; None if neither is there."""
    try:
        return gzip.decompress((root / "proc/config.gz").read_bytes()).decode("utf-8", "replace")
    except (OSError, EOFError, zlib.error):
        pass
    try:
        release = text(root, "proc/sys/kernel/osrelease")
        return (root / f"boot/config-{release}").read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def git_state(tree: Path) -> dict[str, Any] | None:
    """{"commit", "dirty"} of the work tree at `tree`; None if it is not one or git is missing."""
    commit = _git(tree, "rev-parse", "HEAD")
    status = _git(tree, "status", "--porcelain", "--untracked-files=no")
    return None if commit is None or status is None else {"commit": commit, "dirty": bool(status)}


def _git(tree: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(tree), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _config_sha256(root: Path) -> str | None:
    config = kernel_config(root)
    return None if config is None else hashlib.sha256(config.encode()).hexdigest()


def _timer_hz(root: Path) -> int | None:
    found = re.search(r"^CONFIG_HZ=(\d+)$", kernel_config(root) or "", re.M)
    return int(found[1]) if found else None


def _cpuinfo(root: Path, *names: str) -> str | None:
    """The first CPU's value of the first of `names` that /proc/cpuinfo has."""
    info = text(root, "proc/cpuinfo") or ""
    found = (re.search(rf"^{re.escape(name)}\s*:[ \t]*(.*)$", info, re.M) for name in names)
    return next((match[1] for match in found if match), None)


def _cpu_model(root: Path) -> str | None:
    # Arm prints numbers where x86 prints a name; the board's own name says more than those.
    return (
        _cpuinfo(root, "model name", "uarch")
        or text(root, "proc/device-tree/model")
        or _cpuinfo(root, "CPU part")
    )


def _per_cpu(file: str) -> Callable[[Path], dict[str, str]]:
    """A fact that each CPU states in a file of its own, as {value: CPU list}."""

    def fact(root: Path) -> dict[str, str]:
        by_value: dict[str, list[int]] = {}
        for path in (root / CPU).glob(f"cpu[0-9]*/{file}"):
            cpu = path.relative_to(root / CPU).parts[0].removeprefix("cpu")
            value = text(path.parent, path.name)
            if value and cpu.isdigit():
                by_value.setdefault(value, []).append(int(cpu))
        return {value: format_cpus(cpus) for value, cpus in sorted(by_value.items())}

    return fact


def _turbo(root: Path) -> str | None:
    no_turbo = number(root, f"{CPU}/intel_pstate/no_turbo")
    if no_turbo is not None:
        return "off" if no_turbo else "on"
    files = [f"{CPU}/cpufreq/boost", *_under(root, f"{CPU}/cpufreq", "policy*/boost")]
    boosts = [boost for boost in (number(root, file) for file in files) if boost is not None]
    return None if not boosts else "on" if any(boosts) else "off"


def _under(root: Path, folder: str, pattern: str) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in (root / folder).glob(pattern))


def _mitigations(root: Path) -> dict[str, str]:
    files = _under(root, f"{CPU}/vulnerabilities", "*")
    return {Path(file).name: state for file in files if (state := text(root, file)) is not None}


# What makers of virtual machines write into DMI; a machine without a hypervisor flag (Arm) shows
# only this.
_VIRTUAL = re.compile(
    r"qemu|kvm|vmware|virtualbox|xen|virtual machine|google compute|openstack|bochs|parallels", re.I
)


def _virtualisation(root: Path) -> dict[str, Any]:
    dmi = [text(root, f"sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name")]
    product = " ".join(part for part in dmi if part)
    kind = text(root, "sys/hypervisor/type") or ""
    flags = _cpuinfo(root, "flags")
    if flags is None and not product and not kind:
        return {}
    flagged = "hypervisor" in (flags or "").split()
    facts = {
        "virtual": flagged or bool(kind) or bool(_VIRTUAL.search(product)),
        "kind": kind,
        "product": product,
    }
    return {name: value for name, value in facts.items() if value != ""}


def _preemption(root: Path) -> str | None:
    """The model in force: real-time, or none, voluntary, full or lazy; with "dynamic" alone where
    it is unknown.
    """
    if text(root, "sys/kernel/realtime") == "1":
        return "realtime"
    chosen = re.search(r"\((\w+)\)", text(root, "sys/kernel/debug/sched/preempt") or "")
    if chosen:
        return chosen[1]
    built = re.search(r"PREEMPT(?:_(\w+))?\b", text(root, "proc/sys/kernel/version") or "")
    if built is None:
        return None
    return {"RT": "realtime", "DYNAMIC": "dynamic", "LAZY": "lazy"}.get(built[1] or "", "full")


def _memory(name: str) -> Callable[[Path], int | None]:
    def fact(root: Path) -> int | None:
        found = re.search(rf"^{name}:\s+(\d+) kB$", text(root, "proc/meminfo") or "", re.M)
        return int(found[1]) * 1024 if found else None

    return fact


def _cpu_count(root: Path) -> int | None:
    online = text(root, f"{CPU}/online")
    return len(parse_cpus(online)) if online else None


def _load(root: Path) -> list[float] | None:
    """Runnable threads on average over 1, 5 and 15 minutes."""
    try:
        return [float(field) for field in (text(root, "proc/loadavg") or "").split()[:3]] or None
    except ValueError:
        return None


def _chosen(file: str) -> Callable[[Path], str | None]:
    """The choice in brackets of a file such as `always [madvise] never`."""

    def fact(root: Path) -> str | None:
        found = re.search(r"\[(\w+)\]", text(root, file) or "")
        return found[1] if found else None

    return fact


_TEXTS = {
    "kernel_release": "proc/sys/kernel/osrelease",
    "kernel_version": "proc/sys/kernel/version",
    "boot_id": "proc/sys/kernel/random/boot_id",
    "command_line": "proc/cmdline",
    "clocksource": "sys/devices/system/clocksource/clocksource0/current_clocksource",
    "clocksources_available": "sys/devices/system/clocksource/clocksource0/available_clocksource",
    "cpus_online": f"{CPU}/online",
    "isolated_cpus": f"{CPU}/isolated",
    "nohz_full_cpus": f"{CPU}/nohz_full",
    "smt": f"{CPU}/smt/control",
}

_NUMBERS = {
    "rt_runtime_us": "proc/sys/kernel/sched_rt_runtime_us",
    "rt_period_us": "proc/sys/kernel/sched_rt_period_us",
    "perf_event_paranoid": "proc/sys/kernel/perf_event_paranoid",
    "numa_balancing": "proc/sys/kernel/numa_balancing",
    "nmi_watchdog": "proc/sys/kernel/nmi_watchdog",
}

_FACTS: dict[str, Callable[[Path], Any]] = {
    "config_sha256": _config_sha256,
    "timer_hz": _timer_hz,
    "cpu_model": _cpu_model,
    "microcode": lambda root: _cpuinfo(root, "microcode"),
    "mitigations": _mitigations,
    "governor": _per_cpu("cpufreq/scaling_governor"),
    "frequency_driver": _per_cpu("cpufreq/scaling_driver"),
    "frequency_min_khz": _per_cpu("cpufreq/scaling_min_freq"),
    "frequency_max_khz": _per_cpu("cpufreq/scaling_max_freq"),
    "frequency_base_khz": _per_cpu("cpufreq/base_frequency"),
    "turbo": _turbo,
    "virtualisation": _virtualisation,
    "preemption": _preemption,
    "memory_bytes": _memory("MemTotal"),
    "swap_bytes": _memory("SwapTotal"),
    "swap_free_bytes": _memory("SwapFree"),
    "cpu_count": _cpu_count,
    "load": _load,
    "transparent_hugepages": _chosen("sys/kernel/mm/transparent_hugepage/enabled"),
}
