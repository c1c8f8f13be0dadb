# SPDX-License-Identifier: BSD-2-Clause
"""HTML and SVG as values: whatever is not Markup is text, and text is always escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_EMPTY = frozenset({"path", "line", "circle", "rect", "use"})
_VOID = frozenset({"meta", "link", "input", "wbr"})
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

Attribute = str | int | float | bool | None


class Markup(str):
    """A piece of a document. Made by `tag` and `join` alone, so that nothing foreign becomes
    markup.
    """

    __slots__ = ()

    def __html__(self) -> str:
        """By this name templates know what is not to be escaped."""
        return self


def clean(words: str) -> str:
    """The words with a sign for each character that XML cannot hold."""
    return _CONTROL.sub("\ufffd", words)


def text(value: object) -> Markup:
    """Any text, escaped for elements and for quoted attributes; characters that XML cannot hold are
    replaced.
    """
    return Markup(html.escape(clean(str(value))))


def join(parts: Iterable[Markup | str | None]) -> Markup:
    """Pieces one after another; plain strings among them are escaped, None is nothing."""
    return Markup("".join(p if isinstance(p, Markup) else text(p) for p in parts if p is not None))


def tag(name: str, /, *children: Markup | str | None, **attributes: Attribute) -> Markup:
    """An element. `cls` is class, an underscore a dash; None and False leave an attribute out, True
    names it only.
    """
    opened = f"<{name}{''.join(_attributes(attributes))}"
    if name in _EMPTY:
        return Markup(opened + "/>")
    if name in _VOID:
        return Markup(opened + ">")
    return Markup(f"{opened}>{join(children)}</{name}>")


def _attributes(attributes: dict[str, Attribute]) -> Iterable[str]:
    for name, value in attributes.items():
        spelled = "class" if name == "cls" else name.strip("_").replace("_", "-")
        if value is True:
            yield f" {spelled}"
        elif value is not None and value is not False:
            yield f' {spelled}="{text(short(value) if isinstance(value, float) else value)}"'


def short(value: float) -> str:
    """A coordinate to a tenth, without what it does not need."""
    return f"{value:.1f}".removesuffix(".0")
