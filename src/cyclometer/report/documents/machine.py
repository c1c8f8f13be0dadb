# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of `doctor`: a machine, its settings, and what its exact targets count."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct


class CheckResult(Struct):
    name: str
    state: Annotated[str, Meta(description="ok, warn, bad or unknown")]
    found: str
    cost: str
    change: str


class Machine(Struct):
    """`doctor`: what this machine does to measurements."""

    cpu: int
    findings: list[CheckResult]
    tuned: Annotated[dict[str, Any], Meta(description="path -> value before --tune")]
    environment: dict[str, Any]


class Setting(Struct):
    path: str
    was: str
    now: str
    refusal: str


class Settings(Struct):
    """`doctor --tune` and `--restore`: what was changed."""

    changes: list[Setting]


class Variance(Struct):
    variance: Annotated[float, Meta(description="of a session's mean, on logarithms")]
    df: float


class Known(Struct):
    """What sessions that lay so far apart showed."""

    pairs: int
    rows: dict[str, Variance]
    restless: Variance | None
    others: Variance | None


class Calibration(Struct):
    """`doctor --calibrate`: how far sessions of this machine differ."""

    machine: dict[str, str]
    created: str
    gaps: Annotated[dict[str, Known], Meta(description="hour: of one boot; machine: further")]
    kept: str


class TargetCounts(Struct):
    versions: Annotated[dict[str, str], Meta(description="what decides counts: programs, sources")]
    rows: Annotated[dict[str, list[int]], Meta(description="circle and method -> every value")]
    missing: Annotated[str, Meta(description="why nothing was counted; empty where it was")]


class HostCounts(Struct):
    """`doctor --exact`: what the exact targets of a machine count."""

    targets: dict[str, TargetCounts]


class TargetAgreement(Struct):
    target: str
    rows: Annotated[int, Meta(description="that either host has")]
    differing: list[str]
    unlike: Annotated[dict[str, list[str]], Meta(description="name -> version here, and there")]
    missing: Annotated[str, Meta(description="why it was not compared; empty where it was")]


class Agreement(Struct):
    """`doctor --against`: how the exact targets of two hosts compare."""

    host: str
    targets: list[TargetAgreement]
