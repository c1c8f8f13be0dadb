# SPDX-License-Identifier: BSD-2-Clause
"""Targets by name: our own and those that other packages offer as `cyclometer.targets` entry points."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any


def targets() -> dict[str, Any]:
    """Every installed target, made anew; each has `name`, `description`, `circles()` and `measure()`."""
    return {entry.name: entry.load()() for entry in sorted(entry_points(group="cyclometer.targets"))}
