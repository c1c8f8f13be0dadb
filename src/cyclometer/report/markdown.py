# SPDX-License-Identifier: BSD-2-Clause
"""Markdown that foreign text cannot steer: its words, its code spans, and the lines of its
tables.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from cyclometer.text import plain

_SPECIAL = re.compile(r"([\\`*_\[\]~])")
_LINK = re.compile(r"(?i)\b(?:https?|ftp|www)(?=[:.])|@|#(?=\d)")
_NOT_CODE = re.compile(r"[`|<>&\\]")


def words(text: str) -> str:
    """`text` as plain words: no markup, link, mention, control character or line break of its own
    takes effect.
    """
    unlinked = _LINK.sub("\\g<0>\u200b", _one_line(text))
    return html.escape(_SPECIAL.sub(r"\\\1", unlinked), quote=False).replace("|", "&#124;")


def code(text: str) -> str:
    """`text` as a code span; as words where it holds what could end the span, or the cell of a
    table it stands in.
    """
    return words(text) if _NOT_CODE.search(text) else f"`{_one_line(text)}`"


def line(cells: Iterable[str]) -> str:
    """One line of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |"


def _one_line(text: str) -> str:
    return plain(" ".join(text.split()))
