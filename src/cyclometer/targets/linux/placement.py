# SPDX-License-Identifier: BSD-2-Clause
"""Which second CPU the circles between two CPUs use, and how far the two are apart."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from cyclometer.environment import CPU, ROOT, number, parse_cpus, text
from cyclometer.errors import UsageError

APART = ("llc", "other", "smt")
"""Two CPUs share the last-level cache, or no cache, or all of a core; `auto` takes the first of
these kinds that the machine has."""
AUTO = "auto"
PARAMETER = "placement"
"""The parameter of a circle that has its peers on another CPU."""


@dataclass(frozen=True)
class UsableCpus:
    """The CPUs that a harness may use, and where the files lie that say how they are arranged."""

    allowed: frozenset[int]
    root: Path = ROOT


@dataclass(frozen=True)
class CpuPair:
    """The peers' CPU, None if the machine has none of the kind; `apart` is a word of APART."""

    other: int | None
    apart: str

    def options(self) -> list[str]:
        """Of the harness."""
        return ["--other-cpu", "none" if self.other is None else str(self.other)] + (
            ["--apart", self.apart] if self.apart else []
        )


def parse(cpus: str) -> tuple[int, int] | str:
    """`A,B` as two numbers, or the word that asks for a kind. Raises UsageError."""
    if cpus == AUTO or cpus in APART:
        return cpus
    first, _, second = cpus.partition(",")
    if first.isdecimal() and second.isdecimal() and int(first) != int(second):
        return int(first), int(second)
    raise UsageError(f"--cpus takes two CPUs, as 2,3, or one of {AUTO}, {', '.join(APART)}")


def pair(cpu: int, kind: str, allowed: Collection[int], root: Path = ROOT) -> CpuPair:
    """The highest CPU of the kind beside `cpu` among those this process may use."""
    others = sorted(set(allowed) - {cpu}, reverse=True)
    for wanted in APART if kind == AUTO else (kind,):
        for other in others:
            if apart(cpu, other, root) == wanted:
                return CpuPair(other, wanted)
    return CpuPair(None, "" if kind == AUTO else kind)


def apart(cpu: int, other: int, root: Path = ROOT) -> str:
    """How far two CPUs are apart, as sysfs says; `other` if it does not say that they share
    something.
    """
    core = text(root, f"{CPU}/cpu{cpu}/topology/thread_siblings_list") or ""
    if other in parse_cpus(core):
        return "smt"
    return "llc" if other in _last_level(cpu, root) else "other"


def _last_level(cpu: int, root: Path) -> list[int]:
    """The CPUs that share the last cache of `cpu`."""
    folder = root / CPU / f"cpu{cpu}" / "cache"
    levels = {
        number(root, f"{CPU}/cpu{cpu}/cache/{one.name}/level") or 0: one.name
        for one in sorted(folder.glob("index*"))
    }
    if not levels:
        return []
    shared = text(root, f"{CPU}/cpu{cpu}/cache/{levels[max(levels)]}/shared_cpu_list")
    return parse_cpus(shared or "")
