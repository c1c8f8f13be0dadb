# SPDX-License-Identifier: BSD-2-Clause
"""What documents of several kinds have in them, and how it is made of what was measured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct

from cyclometer.bundle import model
from cyclometer.estimate.interval import Interval as MeasuredInterval
from cyclometer.estimate.levels import LevelsEstimate

Interval = Annotated[
    tuple[float | None, float | None] | None, Meta(description="low and high; null is open")
]
Latency = Annotated[float | None, Meta(description="per turn, in the unit of `unit`")]
Share = Annotated[float | None, Meta(description="a fraction: 0.01 is 1 %")]
Options = Annotated[dict[str, str], Meta(description="how what was measured was built and run")]


class Problem(Struct):
    """What went wrong in a measurement, and where."""

    kind: str
    where: str
    what: str


class Difference(Struct):
    """A fact of the environment that differs between two sides."""

    name: str
    before: Any
    after: Any


def value(level: LevelsEstimate | None) -> float | None:
    """A latency per turn, in the unit of its clock; None if there is none."""
    return None if level is None else level.value


def ends(interval: MeasuredInterval) -> tuple[float, float]:
    """An interval as a document states it; an end that is open becomes null when it is printed."""
    return interval.low, interval.high


def problems(found: Iterable[model.Problem]) -> list[Problem]:
    """What went wrong in a measurement, as documents state it."""
    return [Problem(kind=p.kind, where=p.where, what=p.what) for p in found]
