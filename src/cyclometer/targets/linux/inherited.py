# SPDX-License-Identifier: BSD-2-Clause
"""What a measurement of this Linux inherits and nobody sees in its results: variables that change
the C library, settings of the process that started it, and those of the scheduler and of memory.

The harness is a child of this process, so its own /proc/self tells what the circles run under. A
fact that the machine does not tell is absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cyclometer.environment import ROOT, text

VARIABLES = re.compile(r"LD_(PRELOAD|LIBRARY_PATH|BIND_NOW|AUDIT)|GLIBC_TUNABLES|MALLOC_\w+")
_VALUE_MAX = 500
_STATUS = {
    "Speculation_Store_Bypass": "speculation_store_bypass",
    "SpeculationIndirectBranch": "speculation_indirect_branch",
    "THP_enabled": "huge_pages",
    "NoNewPrivs": "no_new_privs",
    "Seccomp": "seccomp",
    "Cpus_allowed_list": "affinity",
    "Mems_allowed_list": "memory_nodes",
}
_STAT_NICE, _STAT_POLICY = 16, 38  # fields 19 and 41 of proc_pid_stat(5), behind the name
_POLICIES = ("other", "fifo", "rr", "batch", "iso", "idle", "deadline", "ext")
_SCHEDULER_DEBUG = (
    "base_slice_ns",
    "min_granularity_ns",
    "latency_ns",
    "wakeup_granularity_ns",
    "migration_cost_ns",
    "nr_migrate",
    "tunable_scaling",
    "features",
)
_HUGE_PAGES = ("defrag", "shmem_enabled", "use_zero_page", "khugepaged/defrag")
_CGROUP = (
    "cpu.weight",
    "cpu.max",
    "cpu.idle",
    "cpu.uclamp.min",
    "cpu.uclamp.max",
    "cpuset.cpus.effective",
    "memory.max",
)
_CGROUP_1 = ("cpu.shares", "cpu.cfs_quota_us", "cpu.cfs_period_us")
# A session's or a container's number says nothing about what runs in it.
_NUMBERED = re.compile(r"(?<=[-/])(r?[0-9a-f]{8,}|[ru]?\d+)(?=\.\w+|/|$)")


def collect(root: Path = ROOT) -> dict[str, Any]:
    """{"variables", "process", "cgroup", "scheduler", "huge_pages"}: each a {name: text}; empty
    ones are left out.
    """
    facts = {
        "variables": _variables(root),
        "process": _process(root),
        "cgroup": _cgroup(root),
        "scheduler": _scheduler(root),
        "huge_pages": _huge_pages(root),
    }
    return {name: found for name, found in facts.items() if found}


def _variables(root: Path) -> dict[str, str]:
    pairs = (entry.partition("=") for entry in (text(root, "proc/self/environ") or "").split("\0"))
    return {name: value[:_VALUE_MAX] for name, _, value in pairs if VARIABLES.fullmatch(name)}


def _process(root: Path) -> dict[str, str]:
    lines = (line.partition(":") for line in (text(root, "proc/self/status") or "").splitlines())
    facts = {_STATUS[name]: value.strip() for name, _, value in lines if name in _STATUS}
    for name in ("personality", "timerslack_ns"):
        if (value := text(root, f"proc/self/{name}")) is not None:
            facts[name] = value
    fields = (text(root, "proc/self/stat") or "").rpartition(")")[2].split()
    if len(fields) > _STAT_POLICY and fields[_STAT_POLICY].isdigit():
        facts["nice"] = fields[_STAT_NICE]
        number = int(fields[_STAT_POLICY])
        facts["policy"] = _POLICIES[number] if number < len(_POLICIES) else str(number)
    return facts


def _cgroup(root: Path) -> dict[str, str]:
    """Where the process is in the tree, and what limits it there or further up.

    Settings of the folders above carry their depth: `cpu.max` is the process's own, `../cpu.max`
    that of its parent.
    """
    lines = [
        line.split(":", 2) for line in (text(root, "proc/self/cgroup") or "").splitlines() if line
    ]
    facts: dict[str, str] = {}
    for _, controllers, path in (line for line in lines if len(line) == 3):
        if controllers == "":
            facts["path"] = _NUMBERED.sub("N", path)
            facts |= _limits(root, "sys/fs/cgroup", path, _CGROUP)
        elif "cpu" in controllers.split(","):
            facts["cpu.path"] = _NUMBERED.sub("N", path)
            facts |= _limits(root, f"sys/fs/cgroup/{controllers}", path, _CGROUP_1)
    return facts


def _limits(root: Path, mount: str, path: str, names: Iterable[str]) -> dict[str, str]:
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    facts = {}
    for up in range(len(parts) + 1):
        folder = "/".join([mount, *parts[: len(parts) - up]])
        for name in names:
            if (value := text(root, f"{folder}/{name}")) is not None:
                facts["../" * up + name] = value
    return facts


def _scheduler(root: Path) -> dict[str, str]:
    files = sorted((root / "proc/sys/kernel").glob("sched_*"))
    facts = {path.name: text(path.parent, path.name) for path in files}
    facts |= {name: text(root, f"sys/kernel/debug/sched/{name}") for name in _SCHEDULER_DEBUG}
    facts["ext"] = text(root, "sys/kernel/sched_ext/root/ops")  # the name of a loaded BPF scheduler
    return {name: value for name, value in facts.items() if value is not None}


def _huge_pages(root: Path) -> dict[str, str]:
    """The choice in brackets of each setting, or its number."""
    folder = root / "sys/kernel/mm/transparent_hugepage"
    sizes = sorted(str(path.relative_to(folder)) for path in folder.glob("hugepages-*/enabled"))
    facts = {}
    for name in (*_HUGE_PAGES, *sizes):
        if (value := text(folder, name)) is not None:
            chosen = re.search(r"\[([^\]]+)\]", value)
            facts[name] = chosen[1] if chosen else value
    return facts
