# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of `kdiff`: what circles cost on two Linux kernels."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from cyclometer.report.documents.members import Share


class CarriedChange(Struct):
    """What a subsystem, or a function and its successor by another name, adds to a change."""

    name: str
    before: float
    after: float
    change: float


class ChangedFunction(CarriedChange, kw_only=True):
    """A function that carries a change of a kernel, and the calls inline in it that do."""

    inlined: list[CarriedChange]


class KernelRow(Struct):
    """One circle on two kernels, in instructions per turn."""

    key: str
    old: Annotated[list[float], Meta(description="of each boot; empty if not measured")]
    new: Annotated[list[float], Meta(description="of each boot; empty if not measured")]
    counts: Annotated[
        tuple[float, float] | None,
        Meta(description="compared: of each side the lowest, or the lowest that is whole"),
    ]
    change: Annotated[float | None, Meta(description="between `counts`")]
    share: Share
    why: Annotated[str, Meta(description="why a side has no count; empty if both have")]
    traced: Annotated[tuple[float, float] | None, Meta(description="lengths of the traced turns")]
    explained: Annotated[float | None, Meta(description="change between the traced turns")]
    untraced: Annotated[str, Meta(description="why no function can be named; empty if they are")]
    functions: Annotated[list[ChangedFunction], Meta(description="they sum to `explained`")]
    subsystems: Annotated[list[CarriedChange], Meta(description="the same change by subsystem")]
    time: Annotated[Share, Meta(description="change of time, if bundles were given")]
    verdict: Annotated[str | None, Meta(description="on the change of time")]


class KernelsCompared(Struct):
    """`kdiff`: what a change of a Linux kernel costs."""

    old: str
    new: str
    boots: Annotated[int, Meta(description="of each kernel")]
    environment: Annotated[
        dict[str, tuple[str | None, str | None]],
        Meta(description="the kernels, their compilers and their machines; null is unknown"),
    ]
    rows: list[KernelRow]
    options: Annotated[
        dict[str, tuple[str, str]], Meta(description="of the configuration, that differ")
    ]
