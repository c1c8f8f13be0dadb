# SPDX-License-Identifier: BSD-2-Clause
"""Call stacks from calls, returns and traps alone, where calls leave the stack pointer as it is.

A return goes to just behind a call that is still open. Where it does not fit the stack at hand and
leaves a function that switches threads, another thread runs on: the stack is put aside, and the one
that it fits is taken up again. Else it goes to a caller that the trace did not see call.
"""

from __future__ import annotations

from collections.abc import Container
from itertools import islice

from cyclometer.explain.frames import Move, StackFrame

_REACH_BYTES = 15  # the longest instruction of any set we know
_ASIDE = 32  # stacks kept
_DEEP = 64  # frames searched


class ReturnWalker:
    """The stack at hand, and those of threads that wait, each by its innermost frame."""

    def __init__(self, first: Move) -> None:
        self.top = StackFrame(first.function)
        self._before = first
        self._aside: list[StackFrame] = []

    def step(self, move: Move, switches: Container[str]) -> None:
        """Follows one move; `switches` are the functions that switch threads."""
        if move.entered or move.called:
            self.top = self.top.call(move.function, self._before.pc)
        elif move.returned:
            self._return(move, switches)
        # a last call, or code that runs on into the next symbol
        self.top.function = move.function
        self._before = move

    def _return(self, move: Move, switches: Container[str]) -> None:
        if caller := _open_call(self.top, move):
            self.top = caller
        elif self._before.function in switches:
            self._switch(move)
        else:
            self.top = _outermost(self.top).returns_to(move.function)

    def _switch(self, move: Move) -> None:
        """Another thread runs on: the one that waits for this return, else one not seen before."""
        left = self.top
        self.top = StackFrame(move.function)
        for stack in reversed(self._aside):
            if caller := _open_call(stack, move):
                self._aside.remove(stack)
                self.top = caller
                break
        self._aside = [*self._aside[1 - _ASIDE :], left]


def _open_call(stack: StackFrame, move: Move) -> StackFrame | None:
    """The frame that made the call just before the place of a move; None if none has it open."""
    for frame in islice(stack.downwards(), _DEEP):
        near = 0 <= move.pc - frame.called_at <= _REACH_BYTES
        if near and frame.below is not None and frame.below.function == move.function:
            return frame.below
    return None


def _outermost(frame: StackFrame) -> StackFrame:
    return list(frame.downwards())[-1]
