# SPDX-License-Identifier: BSD-2-Clause
"""Targets by name: our own and those that other packages offer as `cyclometer.targets` entry points."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from cyclometer.errors import UsageError


def targets() -> dict[str, Any]:
    """Every installed target, made anew; each has `name`, `description`, `circles()` and `measure()`."""
    return {entry.name: entry.load()() for entry in sorted(entry_points(group="cyclometer.targets"))}


def target(name: str) -> Any:
    """The target called `name`. Raises UsageError where there is none."""
    found = targets()
    if name not in found:
        raise UsageError(f"there is no target {name!r}; there are {', '.join(found)}")
    return found[name]
