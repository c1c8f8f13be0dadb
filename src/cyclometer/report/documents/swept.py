# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of work on many workers: `sweep` and `bisect`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class PlannedTask(Struct):
    n: int
    task: Annotated[str, Meta(description="digest of all that decides its result")]
    title: str
    done: bool


class SweepPlan(Struct):
    """`sweep --dry-run`: the tasks of a plan."""

    tasks: list[PlannedTask]
    expected_s: Annotated[float | None, Meta(description="of those to run; null if unknown")]


class SweepTask(Struct):
    """`sweep --task`: one task that is done."""

    task: str
    result: Annotated[str, Meta(description="SHA-256 of what was measured")]
    was_there: bool


class Sweep(Struct):
    """`sweep`: what became of a plan's tasks."""

    tasks: int
    done: int
    there: Annotated[int, Meta(description="done before")]
    checked: Annotated[int, Meta(description="measured a second time")]
    failed: Annotated[dict[str, str], Meta(description="task to reason")]
    missing: list[str]
    unlike: Annotated[dict[str, str], Meta(description="exact tasks with two results")]
    duplicates: int
    interrupted: Annotated[str, Meta(description="why it ended early; empty if it did not")]


class BisectedCommit(Struct):
    """A commit that was measured."""

    commit: str
    value: Annotated[float | None, Meta(description="the latency; null without")]
    error: Annotated[str, Meta(description="why there is none")]


class Bisected(Struct):
    """`bisect`: the commit at which a latency changed."""

    key: str
    first: Annotated[str, Meta(description="commit that is like the bad end")]
    last: Annotated[str, Meta(description="commit before it that is like the good end")]
    undecided: Annotated[list[str], Meta(description="commits between them, without a verdict")]
    before: float
    after: float
    unit: str
    commits: int
    rounds: int
    measured: list[BisectedCommit]
