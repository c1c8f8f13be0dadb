# SPDX-License-Identifier: BSD-2-Clause
"""Samples of where a circle was, taken while it was timed, as a bundle keeps them."""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO

import msgspec

from cyclometer.errors import BadFile
from cyclometer.record.schema import Clock, Contract

ROLE = "profile"  # in the name of a kept file
_UNPACKED_MAX_BYTES = 64 << 20


class Stack(msgspec.Struct, frozen=True):
    """Samples with the same functions open, outermost first. `level` is where the CPU was: user or
    kernel.
    """

    frames: tuple[str, ...]
    level: str
    count: int


class Profile(msgspec.Struct, frozen=True):
    """Samples within timed tests of one circle alone.

    A sample is taken after each `every` ns of cpu-clock or cycles (`event`). `expected` is how many
    would have come, had the CPU run the circle all of `window_ns`; None if that is not known.
    """

    target: str
    contract: Contract
    configuration: dict[str, str]
    clock: Clock
    a_turn: float  # latency, in the clock's unit, median of the tests that were sampled
    event: str
    precise: int  # perf's precise_ip that the CPU granted; 0: the address may lie behind
    every: int
    window_ns: int
    turns: int
    expected: float | None
    outside: int  # samples in which the CPU ran someone else
    lost: int
    kernel_seen: bool
    stacks: tuple[Stack, ...]

    @property
    def seen(self) -> int:
        """How many samples the circle itself has."""
        return sum(stack.count for stack in self.stacks)


def pack(profile: Profile) -> bytes:
    """As `unpack` reads it."""
    return gzip.compress(msgspec.json.encode(profile), mtime=0)


def unpack(packed: bytes, name: str) -> Profile:
    """A kept profile. Raises BadFile for what is none."""
    try:
        with gzip.open(BytesIO(packed)) as file:
            text = file.read(_UNPACKED_MAX_BYTES)
        return msgspec.json.decode(text, type=Profile)
    except (OSError, EOFError, zlib.error, msgspec.DecodeError) as error:
        raise BadFile(f"{name} is not a profile of a circle ({error}); make it anew") from error
