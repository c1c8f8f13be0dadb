# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of `store`: bundles in a store, and on the way to it and from it."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct


class StoredBundle(Struct):
    """A bundle and where it is outside of the store; `new`: it was not in the store before."""

    bundle: Annotated[str, Meta(description="SHA-256")]
    path: str
    new: bool


class Transferred(Struct):
    """`store push` and `store pull`: what was copied."""

    store: str
    bundles: list[StoredBundle]


class Entry(Struct):
    bundle: Annotated[str, Meta(description="SHA-256")]
    created: str
    target: str
    title: str
    task: Annotated[str, Meta(description="of a sweep; empty without")]
    rows: int
    problems: int
    samples: int


class Store(Struct):
    """`store init` and `store ls`: a store and its bundles, oldest first."""

    store: str
    version: Annotated[int, Meta(description="the store's own schema")]
    bundles: list[Entry]


class Answer(Struct):
    """`store query`: the rows of the answer, by the names in the query."""

    rows: list[dict[str, Any]]


class Leftovers(Struct):
    """`store gc`: files that belong to no bundle."""

    files: list[str]
    removed: bool
