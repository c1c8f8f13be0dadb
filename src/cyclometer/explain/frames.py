# SPDX-License-Identifier: BSD-2-Clause
"""The frames of call stacks, and what opens and closes them. A frame knows who called it, which may
come to light only when it returns: a thread that is first seen in the middle of a function has its
callers from then on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

_DEEP = 64  # frames of a path

Path = tuple[str, ...]


@dataclass(frozen=True)
class Move:
    """How the machine came to an instruction from the one before it."""

    pc: int
    function: str
    starts: bool  # its function begins here
    user: bool
    stack: int
    entered: bool  # by a trap or an interrupt
    called: bool
    returned: bool


@dataclass(eq=False)
class StackFrame:
    """A call that is open, or the outermost function that is known of a thread."""

    function: str  # at present: a tail call puts another one in its place
    called_at: int = -1  # address of the call or of the trapped instruction; -1 unknown
    below: StackFrame | None = None  # its caller, which ran `caller` when it called
    caller: str = ""
    # where the stack stood when it began, on each stack that it moved to; empty where unknown
    pointers: list[int] = field(default_factory=list)
    from_user: bool = False  # a trap out of user mode
    hidden: bool = False  # a call within a function, as a thunk makes to get an address
    note: str = ""

    def call(self, function: str, called_at: int, **known: object) -> StackFrame:
        """A frame that this one opens."""
        return StackFrame(function, called_at, self, self.function, **known)  # type: ignore[arg-type]

    def returns_to(self, function: str) -> StackFrame:
        """A caller of the outermost frame, which was not known until now."""
        self.below, self.caller = StackFrame(function), function
        return self.below

    def downwards(self) -> Iterator[StackFrame]:
        """From this frame to the outermost one."""
        frame: StackFrame | None = self
        while frame is not None:
            yield frame
            frame = frame.below


def path(frame: StackFrame, function: str) -> Path:
    """The functions open while a frame ran `function`, outermost first, as far as is known by
    now.
    """
    names: list[str] = []
    for one in frame.downwards():
        if not one.hidden:
            names.append(function + one.note)
        function = one.caller
        if len(names) == _DEEP:
            break
    return tuple(reversed(names))
