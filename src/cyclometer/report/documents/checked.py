# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of `lint`: what is wrong with data, and the rules that say so."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class LintRow(Struct):
    index: int
    key: str


class Issue(Struct):
    rule: str
    level: Annotated[str, Meta(description="error, warning or note")]
    what: str
    rows: list[LintRow]


class LintedBundle(Struct):
    bundle: str
    findings: list[Issue]


class Lint(Struct):
    """`lint`: what is wrong with data."""

    bundles: list[LintedBundle]


class Rule(Struct):
    id: str
    level: str
    title: str
    explanation: str
    fix: str


class Rules(Struct):
    """`lint --rules`: what lint looks for."""

    rules: list[Rule]
