# SPDX-License-Identifier: BSD-2-Clause
"""Parts that packages add to the program: targets, ingest formats and exporters.

Each part is loaded by its own name, so a broken one affects nobody who does not ask for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from cyclometer.errors import BrokenPlugin, UsageError

_Part = TypeVar("_Part")


@dataclass
class Plugins(Generic[_Part]):
    """All parts of one kind by name: our own, and what other packages declare as entry points.

    `own` maps a name to "module:attribute"; another package cannot take over a name in it.
    `accept` turns what an entry names into the part; any exception in it makes the plug-in a
    broken one.
    """

    kind: str  # as messages call it: "target", "format"
    group: str  # of entry points
    own: Mapping[str, str]
    accept: Callable[[str, Any], _Part]

    @cached_property
    def _entries(self) -> dict[str, EntryPoint]:
        own = {name: EntryPoint(name, value, self.group) for name, value in self.own.items()}
        # an old editable install of ours may still declare names that are gone from `own`
        others = {
            entry.name: entry
            for entry in entry_points(group=self.group)
            if entry.dist is None or entry.dist.name != "cyclometer"
        }
        return dict(sorted((others | own).items()))

    def names(self) -> list[str]:
        """Every name in alphabetical order, without loading any part."""
        return list(self._entries)

    def load(self, name: str) -> _Part:
        """The part called `name`.

        Raises UsageError if there is none, BrokenPlugin if its package cannot provide it.
        """
        if name not in self._entries:
            close = get_close_matches(name, self.names(), n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(self.names())}"
            raise UsageError(f"there is no {self.kind} {name!r}; {hint}")
        entry = self._entries[name]
        try:
            return self.accept(name, entry.load())
        except (Exception, SystemExit) as error:  # it is not our code: it may do anything
            if entry.dist is None:
                raise  # ours: a defect, or a message of its own
            package = entry.dist.name
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            raise BrokenPlugin(
                f"the package {package} cannot provide the {self.kind} {name!r} ({why}); "
                f"update it, or remove it with `pip uninstall {package}`"
            ) from error

    def load_all(self) -> tuple[dict[str, _Part], list[BrokenPlugin]]:
        """Every part that can be loaded, by name, and the errors of those that cannot."""
        loaded: dict[str, _Part] = {}
        broken: list[BrokenPlugin] = []
        for name in self.names():
            try:
                loaded[name] = self.load(name)
            except BrokenPlugin as error:
                broken.append(error)
        return loaded, broken
