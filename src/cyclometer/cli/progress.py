# SPDX-License-Identifier: BSD-2-Clause
"""What commands that take long show meanwhile."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from types import TracebackType

import rich_click as click

from cyclometer.text import plain

_SAY_EVERY_S = 5.0


class Display(AbstractContextManager["Display"]):
    """A progress bar on a terminal, a line now and then elsewhere. Redrawn between visits only,
    never during one; and while an image boots, which no load of this machine can change.
    """

    def __init__(self) -> None:
        self._bar = None
        self._said = 0.0
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn("{task.description:44}", markup=False),
                BarColumn(),
                TextColumn("{task.completed}/{task.total}"),
            )
            console = Console(stderr=True)
            self._bar = Progress(
                *columns, TimeRemainingColumn(), console=console, auto_refresh=False, transient=True
            )
            self._task = self._bar.add_task("")
            self._bar.start()

    def show(self, done: int, total: int, key: str) -> None:
        """Called between visits; `key` may be of any origin."""
        key = plain(key)
        if self._bar is not None:
            self._bar.update(
                self._task, completed=done, total=total, description=key[:44], refresh=True
            )
        elif time.monotonic() - self._said > _SAY_EVERY_S:
            self._said = time.monotonic()
            click.echo(f"{done}/{total} {key}", err=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
