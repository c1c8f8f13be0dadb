# SPDX-License-Identifier: BSD-2-Clause
"""Standard streams that work in every environment: closed, full, or without Unicode."""

from __future__ import annotations

import codecs
import io
import os
import sys

# What our own output contains beyond ASCII, for terminals that can show nothing else.
_PLAIN = {
    **dict(zip("µ×−–─│├└·■█▲▼✕✓", "ux---|++.##^vxv", strict=True)),  # noqa: RUF001
    **{"±": "+-", "→": "->", "←": "<-", "…": "...", "≤": "<=", "≥": ">=", "≠": "!="},
}
_ERRORS = "cyclometer.plain"


def make_usable() -> None:
    """Opens closed standard streams on /dev/null and lets no character fail to print.

    Without the first, the next file opened would get the number of the closed stream, and what is
    printed would end up in it.
    """
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            _onto_null(number)
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8"))
    codecs.register_error(_ERRORS, _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


def discard_output() -> None:
    """Sends what is still buffered for standard output nowhere, so that the interpreter's last
    flush does not fail a second time.
    """
    _onto_null(sys.stdout.fileno())


def _onto_null(number: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    if null != number:
        os.dup2(null, number)
        os.close(null)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """Error handler of the encoders: what ASCII has for a character, else a question mark."""
    assert isinstance(error, UnicodeEncodeError)
    bad = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c, "?") for c in bad), error.end
