# SPDX-License-Identifier: BSD-2-Clause
"""What QEMU translates: the instructions of each block, and how those move the stack pointer of
x86-64.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from cyclometer.errors import MeasurementFailed

# QEMU logs each block that it translates: words as numbers, and text.
_TRANSLATED = re.compile(rb"IN: .*\n(?:Priv: .*\n)?((?:0x[0-9a-f]+:.*\n)+)")
_WORDS = re.compile(rb"^0x([0-9a-f]+):  ([0-9a-f]+(?: [0-9a-f]+)*) *(.*)$", re.MULTILINE)
_COUNT = 0x1FF  # of how a block was translated: how many instructions it may have, 0 for any number
_WORD_BYTES = 8
_ADDED = re.compile(r"(add|sub)q +\$(-?0x[0-9a-f]+|-?\d+), %rsp$")
_POINTER = "%rsp"


@dataclass(frozen=True)
class Code:
    """An instruction as QEMU met it in memory."""

    data: bytes
    text: str

    @property
    def insn(self) -> int:
        """The encoding as a trace has it."""
        return int.from_bytes(self.data[:4], "little")


class BlockKey(NamedTuple):
    """How the log names what it ran: where, in which state of the processor, how translated."""

    pc: int
    flags: int
    translation: int

    def repeats(self, other: BlockKey) -> bool:
        """Whether it is of one instruction, and not as `other` is: so QEMU does again what turned
        out to touch a device.
        """
        return self.translation & _COUNT == 1 and self.translation != other.translation


@dataclass
class Blocks:
    """What was translated since logging began; QEMU logs it once, and runs it often."""

    code: dict[int, Code] = field(default_factory=dict)
    _last: dict[int, tuple[int, ...]] = field(default_factory=dict)  # by where it begins
    _known: dict[BlockKey, tuple[int, ...]] = field(default_factory=dict)
    # how far from its first stack pointer each instruction of a block finds it; None if one
    # loads it
    _offsets: dict[tuple[int, ...], list[int] | None] = field(default_factory=dict)

    def translated(self, listing: bytes) -> None:
        """Takes a block's lines; a long instruction takes several, of which the first has text."""
        block = listed(listing)
        self.code |= block
        if block:
            self._last[next(iter(block))] = tuple(block)

    def of(self, block: BlockKey) -> tuple[int, ...]:
        """The addresses of its instructions. Raises MeasurementFailed for one that QEMU did not
        log.
        """
        if block not in self._known:
            single = (block.pc,) if block.translation & _COUNT == 1 else ()
            found = self._last.pop(block.pc, single)
            if not found:
                raise MeasurementFailed(
                    f"QEMU did not log the instructions at {block.pc:#x}; install one that "
                    "disassembles (with capstone)"
                )
            self._known[block] = found
        return self._known[block]

    def pointers(self, pcs: tuple[int, ...], first: int, following: int | None) -> list[int]:
        """The stack pointer that each instruction of a block finds: `first` and what pushes and
        pops made of it; behind an instruction that loads another, so that the next block finds
        `following`.
        """
        if pcs not in self._offsets:
            moves = self._moved(pcs[:-1])
            known = [move for move in moves if move is not None]
            self._offsets[pcs] = (
                list(accumulate(known, initial=0)) if len(known) == len(moves) else None
            )
        offsets = self._offsets[pcs]
        if offsets is not None:
            return [first + offset for offset in offsets]
        return _around(self._moved(pcs), first, following)

    def _moved(self, pcs: Sequence[int]) -> list[int | None]:
        return [_moves(self.code[pc].text) if pc in self.code else 0 for pc in pcs]


def code(log: bytes) -> dict[int, Code]:
    """The instructions that QEMU translated, by address."""
    found: dict[int, Code] = {}
    at = -1
    while (at := log.find(b"IN: ", at + 1)) >= 0:
        if block := _TRANSLATED.match(log, at):  # else QEMU could not read it
            found |= listed(block[1])
    return found


def listed(lines: bytes) -> dict[int, Code]:
    """The instructions of a block's lines, by address."""
    found: dict[int, Code] = {}
    last = 0
    for pc, words, text in _WORDS.findall(lines):
        data = b"".join(bytes.fromhex(word.decode())[::-1] for word in words.split())
        if text:
            last = int(pc, 16)
            found[last] = Code(data, " ".join(text.decode().split()))
        elif found:
            found[last] = Code(found[last].data + data, found[last].text)
    return found


def _around(moves: Sequence[int | None], first: int, following: int | None) -> list[int]:
    """Pointers of a block of which an instruction loads the pointer: from both ends to there."""
    found = [first]
    for move in moves[:-1]:
        if move is None:
            break
        found.append(found[-1] + move)
    behind = [following] if following is not None and len(found) < len(moves) else []
    for move in reversed(moves[len(found) :]):
        if move is None or not behind:
            break
        behind.insert(0, behind[0] - move)
    unknown = len(moves) - len(found) - len(behind[:-1])
    return found + [found[-1]] * unknown + behind[:-1]


@cache
def _moves(text: str) -> int | None:
    """The bytes by which an instruction moves the stack pointer up, as far as its text says."""
    name, _, operands = text.partition(" ")
    if name.startswith("push") or name.startswith("call"):
        return -_WORD_BYTES
    if name.startswith("ret") or (name.startswith("pop") and operands.strip() != _POINTER):
        return _WORD_BYTES
    if added := _ADDED.match(text):
        return int(added[2], 0) * (1 if added[1] == "add" else -1)
    writes = name == "leave" or operands.endswith(_POINTER)
    return None if writes and not name.startswith(("cmp", "test")) else 0
