# SPDX-License-Identifier: BSD-2-Clause
"""What a turn spends with all that is called: by system call of Linux, and by function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from cyclometer.explain.frames import Path
from cyclometer.explain.linux_events import FAULT, FAULTS, SYSTEM_CALLS
from cyclometer.explain.parts import Part, largest_first, together

USER, AROUND = "user code", "entry, exit and what is outside of calls"


def system_calls(open_at: Sequence[Path], user: Sequence[bool]) -> list[str]:
    """Of each step the system call or page fault in which it ran; empty without any of Linux."""
    calls = {path: _call(path) for path in dict.fromkeys(open_at)}
    if not any(calls.values()):
        return []
    return [
        USER if outside else calls[path] or AROUND
        for path, outside in zip(open_at, user, strict=True)
    ]


def _call(path: Path) -> str:
    """The innermost one that is open: a fault may come while a call runs."""
    for function in reversed(path):
        if function in FAULTS:
            return FAULT
        if function.startswith(SYSTEM_CALLS):
            return function.partition("_sys_")[2]
    return ""


def inclusive(stacks: Sequence[Part[Path]]) -> list[Part[str]]:
    """Each function with all that it calls, the largest first; they overlap, so they do not sum."""
    found: dict[str, list[Part[Path]]] = defaultdict(list)
    for part in stacks:
        for function in dict.fromkeys(part.name):
            found[function].append(part)
    return largest_first([_one(function, parts) for function, parts in found.items()])


def _one(function: str, parts: Sequence[Part[Path]]) -> Part[str]:
    whole = together(parts[0].name, parts)
    return Part(function, whole.causes, whole.instructions)
