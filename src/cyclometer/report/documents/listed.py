# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of what this program has: circles, targets, words, and kinds of documents."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from cyclometer.record.schema import Contract


class Target(Struct):
    name: str
    description: str
    missing: Annotated[str, Meta(description="what this machine lacks for it; empty: nothing")]


class Circle(Struct):
    key: str
    target: str
    contract: Contract


class Circles(Struct):
    """`list`: circles with their contracts, and targets."""

    circles: list[Circle]
    targets: list[Target]


class Glossary(Struct):
    """`glossary`: what the words of tables mean."""

    words: dict[str, str]


class Kinds(Struct):
    """`schema` without a kind: what each `schema` of a document stands for."""

    kinds: dict[str, str]
