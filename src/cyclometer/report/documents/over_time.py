# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of latencies over time: `history` and `gate --history`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from cyclometer.report.documents.members import Difference, Options


class Point(Struct):
    when: str
    bundle: str
    value: float | None


class ChangePoint(Struct):
    at: Annotated[int, Meta(description="index of the first changed point")]
    when: str
    before: float
    after: float
    change: float
    p: float | None
    changed: list[Difference]


class Series(Struct):
    key: str
    unit: str
    configuration: Options
    points: list[Point]
    changes: list[ChangePoint]
    missing: int


class History(Struct):
    """`history`: when circles changed in a store of bundles."""

    series: list[Series]
    summary: str


class NewestPoint(Struct):
    """The newest latency of a circle, and what the points before it say of it."""

    key: str
    unit: str
    configuration: dict[str, str]
    when: str
    value: float
    points: Annotated[int, Meta(description="before it, since the last change")]
    change: Annotated[float | None, Meta(description="of their mean; null: too few")]
    p: Annotated[float | None, Meta(description="adjusted; null on an exact clock")]
    verdict: Annotated[str, Meta(description="regressed, undecided, improved or expected")]


class NewestPoints(Struct):
    """`gate --history`: whether the newest points are what their past lets expect."""

    rows: list[NewestPoint]
    summary: str
