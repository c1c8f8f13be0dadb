# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of commands that write files: what they wrote, and what it holds."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from cyclometer.report.documents.members import Problem


class Ingested(Struct):
    """`ingest`: what was read."""

    bundle: str | None
    digest: str
    tool: str
    target: str
    files: int
    runs: int
    rows: int
    summaries: int
    samples: int
    problems: list[Problem]


class Report(Struct):
    """`report`: the file that was written."""

    output: str
    bytes: int
    circles: Annotated[dict[str, int], Meta(description="circles by verdict")]


class Built(Struct):
    """`target build`: the files that were made."""

    target: str
    built: list[str]


class SiteWritten(Struct):
    circles: int
    bundles: int


class Site(Struct):
    """`site`: the pages that were written, and the verdict on the whole."""

    output: str
    verdict: str
    written: SiteWritten
