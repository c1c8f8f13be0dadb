# SPDX-License-Identifier: BSD-2-Clause
"""Text of unknown origin, made fit to be stored and printed: nothing in it can steer a terminal.

What comes from a file or a target passes through here once, where it enters (`bundle.store`,
`bundle.assemble`, `ingest`), and again where it leaves for a terminal (`report.terminal`).
"""

from __future__ import annotations

from typing import TypeVar, cast

import msgspec

_T = TypeVar("_T")
_SAFE = bytes(range(0x20, 0x7F)).replace(b"\\", b"")  # JSON of these has no escapes


def plain(text: str) -> str:
    """`text` with U+FFFD for every character that is not printable: control characters (line feeds
    too), format characters such as U+202E, and lone surrogates.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def counted(number: int, name: str) -> str:
    """A number and what it counts, in the plural but for one."""
    return f"{number} {name}{'s' * (number != 1)}"


def one_line(text: str, longest: int) -> str:
    """`text` as one printable line of at most `longest` characters, for messages that quote it."""
    return plain(" ".join(text[: 4 * longest].split()))[:longest]


def printable(value: _T, longest: int | None = None) -> _T:
    """`value` with `plain` applied to every text in it, cut to `longest` characters.

    `value` is made of msgspec structs, dictionaries, lists, tuples, texts and numbers. Two keys of
    a dictionary that become alike leave the second value.
    """
    if isinstance(value, str):
        return cast(_T, plain(value[:longest]))
    if isinstance(value, msgspec.Struct):
        if _is_harmless(value, longest):
            return value
        fields = {
            name: printable(getattr(value, name), longest) for name in value.__struct_fields__
        }
        return cast(_T, type(value)(**fields))
    if isinstance(value, dict):
        pairs = ((printable(k, longest), printable(v, longest)) for k, v in value.items())
        return cast(_T, dict(pairs))
    if isinstance(value, list | tuple):
        return cast(_T, type(value)(printable(item, longest) for item in value))
    return value


def _is_harmless(value: msgspec.Struct, longest: int | None) -> bool:
    """Whether all its texts are short and plain, found in a tenth of the time that looking at each
    of them takes.
    """
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        return False
    if encoded.translate(None, _SAFE):
        return False
    return (
        longest is None or len(encoded) <= longest or max(map(len, encoded.split(b'"'))) <= longest
    )
