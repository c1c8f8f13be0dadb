# SPDX-License-Identifier: BSD-2-Clause
"""NAME=VALUE, wherever a command takes it: one grammar, one message."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import rich_click as click


def assignment(text: str) -> tuple[str, str]:
    """The name and the value of `NAME=VALUE`; a value may be empty and may hold `=`.

    Raises click.BadParameter, to which click adds the name of the option.
    """
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"{text!r} is not an assignment; write it as NAME=VALUE")
    return name, value


def assignments(text: str) -> dict[str, str]:
    """`NAME=VALUE,NAME=VALUE` as a mapping; empty for an empty text. Raises as `assignment`."""
    return dict(map(assignment, text.split(","))) if text else {}


def choices(text: str) -> tuple[str, list[str]]:
    """The name and the values of `NAME=VALUE,VALUE`. Raises as `assignment`, and for no value."""
    name, listed = assignment(text)
    if not listed:
        raise click.BadParameter(f"{text!r} lists no value; write it as NAME=VALUE,VALUE")
    return name, listed.split(",")


def option(name: str, *names: str, **settings: Any) -> Callable[[Any], Any]:
    """A click option that takes NAME=VALUE, may be repeated, and gives a mapping."""
    settings = {"metavar": "NAME=VALUE"} | settings
    return click.option(name, *names, multiple=True, callback=_mapping, **settings)


def listed_option(name: str, *names: str, **settings: Any) -> Callable[[Any], Any]:
    """As `option`, but commas separate several: for names and values that hold none."""
    settings = {"metavar": "NAME=VALUE,..."} | settings
    return click.option(name, *names, multiple=True, callback=_listed, **settings)


def _mapping(_: click.Context, parameter: click.Parameter, words: Iterable[str]) -> dict[str, str]:
    del parameter
    return dict(map(assignment, words))


def _listed(_: click.Context, parameter: click.Parameter, words: Iterable[str]) -> dict[str, str]:
    del parameter
    return {name: value for word in words for name, value in assignments(word).items()}
