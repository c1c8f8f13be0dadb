# SPDX-License-Identifier: BSD-2-Clause
"""Where tables are printed: rich's console, for which every text is text and nothing is markup."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from cyclometer.text import plain


class Terminal(Console):
    """Standard output, or a page `paper` columns wide if that is not a terminal.

    Brackets, emoji codes and control characters in what is printed have no effect, be it a line or
    the cell of a table. Styles are given as `style=`, or as a `Text`.
    """

    def __init__(self, paper: int = 1000) -> None:
        super().__init__(highlight=False, markup=False, emoji=False)
        if not self.is_terminal:
            self.width = paper

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich does, but what goes to a pipe or a file has no trailing blanks."""
        if self.is_terminal:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        lines = captured.get().split("\n")
        self.file.write("\n".join(line.rstrip(" ") for line in lines))

    def render_str(self, text: str, **options: Any) -> Text:
        """`text` as it stands; rich asks this for every string that it prints."""
        return super().render_str(plain(text), **options | {"markup": False, "emoji": False})
