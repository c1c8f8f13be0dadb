# SPDX-License-Identifier: BSD-2-Clause
"""Call stacks from the stack pointer, where a call pushes its return address: a call is open as
long as the pointer is at or below where it stood when the call began, whatever instruction moves
it.

So a return that serves as a jump (a retpoline), a return address that is dropped (a return thunk,
a filled return buffer) and a call without a return are what they are. A pointer that leaps has gone
to another stack: of the same thread (an interrupt's), or, in a function that switches threads, of
another.
"""

from __future__ import annotations

from collections.abc import Container

from cyclometer.explain.frames import Move, StackFrame

_LEAP_BYTES = 1 << 15  # farther than any function moves the pointer within a stack
_SWITCH_BYTES = 1 << 12  # farther than a function that switches threads moves it otherwise
_REACH_BYTES = 15  # Intel SDM vol. 2, section 2.3.11: the longest instruction
_SAVED_BYTES = 32  # what a trap pushed and its handler may pop before the instruction that returns
_ASIDE = 256  # threads kept
UNPREDICTED = " [return not to its call]"


class PointerWalker:
    """The stack at hand, and those of threads that wait, by where their pointers stand."""

    def __init__(self, first: Move) -> None:
        self.top = StackFrame(first.function)
        self._before = first
        self._aside: dict[int, StackFrame] = {}

    def step(self, move: Move, switches: Container[str]) -> None:
        """Follows one move; `switches` are the functions that switch threads."""
        before = self._before
        leap_bytes = abs(move.stack - before.stack)
        if move.user and not before.user:
            self._to_user(move)
        elif move.entered:
            self._trap(move)
        elif move.called:
            within = move.function == before.function and not move.starts
            self.top = self.top.call(move.function, before.pc, pointers=[move.stack], hidden=within)
        elif before.function in switches and leap_bytes >= _SWITCH_BYTES:
            self._switch(move)
        elif leap_bytes >= _LEAP_BYTES:
            self._change_stack(move)
        else:
            self._unwind(move)
        # a last call, or code that runs on into the next symbol
        self.top.function = move.function
        self._before = move

    def _trap(self, move: Move) -> None:
        known = {"pointers": [move.stack + _SAVED_BYTES], "from_user": self._before.user}
        self.top = self.top.call(move.function, self._before.pc, **known)

    def _to_user(self, move: Move) -> None:
        """Ends the trap that is open; a handler of a signal is a call of what the trap
        interrupted.
        """
        trap = next((frame for frame in self.top.downwards() if frame.from_user), None)
        if trap is None:
            self.top = list(self.top.downwards())[-1].returns_to(move.function)
            return
        assert trap.below is not None
        self.top = trap.below
        if move.starts and move.function != self.top.function:
            self.top = self.top.call(move.function, -1, pointers=[move.stack])
        else:
            self._pop(move)

    def _switch(self, move: Move) -> None:
        """Another thread runs on: the one whose pointer was left here, else one not seen before."""
        self._aside[self._before.stack] = self.top
        if len(self._aside) > _ASIDE:
            del self._aside[next(iter(self._aside))]
        self.top = self._aside.pop(move.stack, StackFrame(move.function))

    def _change_stack(self, move: Move) -> None:
        """The thread goes on to another stack, or back to one on which frames of it are open."""
        for frame in self.top.downwards():
            for i, pointer in enumerate(frame.pointers):
                if 0 <= pointer - move.stack < _LEAP_BYTES:
                    del frame.pointers[i + 1 :]
                    self.top = frame
                    return
            if frame.from_user:
                break
        unknown = self.top.below is None and self.top.pointers
        self.top.pointers = [] if unknown else [*self.top.pointers, move.stack]

    def _unwind(self, move: Move) -> None:
        left = self._pop(move)
        if not move.returned:
            return
        if left is None and self.top.below is None and not self.top.pointers:
            self.top = self.top.returns_to(move.function)
        elif left is not None and not _predicted(left, move):
            self.top.note = UNPREDICTED

    def _pop(self, move: Move) -> StackFrame | None:
        """Ends the calls whose return address the pointer has passed; the last of them."""
        left = None
        while self.top.pointers and self.top.pointers[-1] < move.stack:
            if self.top.from_user:
                break
            left = self.top
            self.top = left.below or left.returns_to(move.function)
        return left


def _predicted(left: StackFrame, move: Move) -> bool:
    """Whether a return that ended a call went to behind that call, so far as it is known."""
    unknown = left.hidden or left.called_at < 0
    return unknown or 0 <= move.pc - left.called_at <= _REACH_BYTES
