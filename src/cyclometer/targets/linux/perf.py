# SPDX-License-Identifier: BSD-2-Clause
"""Samples by perf_event_open(2): where a CPU is, every so many cycles or nanoseconds."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from cyclometer.errors import NotComparable

_CALL = {"x86_64": 298, "aarch64": 241, "riscv64": 241}
_ATTR_BYTES = 128
_CLOEXEC = 8
_HARDWARE, _SOFTWARE = 0, 1
_CPU_CYCLES, _CPU_CLOCK = 0, 0
_IP, _TID, _TIME, _CALLCHAIN = 1, 2, 4, 0x20
_INHERIT, _EXCLUDE_KERNEL, _TASK, _USE_CLOCKID = 1 << 1, 1 << 5, 1 << 13, 1 << 25
_PRECISE_SHIFT, _PRECISE_MOST = 15, 3
_CLOCK_MONOTONIC_RAW = 4
_CLOCKID_AT = 92
_PAGES = 128
_HEAD, _TAIL, _DATA = 1024, 1032, 1040  # in the first page
_LOST, _FORK, _SAMPLE = 2, 7, 9
_MODE, _IN_KERNEL = 7, 1
_MARKERS = (1 << 64) - 4095  # addresses from here on say what kind of addresses follow
_USER_FOLLOWS = (1 << 64) - 512
_PERIODS = {"cycles": 499_979, "cpu-clock": 199_933}  # no round numbers: nothing else keeps them


class Sample(NamedTuple):
    """One sample: addresses from the innermost one outwards."""

    time_ns: int  # CLOCK_MONOTONIC_RAW
    pid: int
    in_kernel: bool
    kernel: tuple[int, ...]
    user: tuple[int, ...]


@dataclass(frozen=True)
class Event:
    """What samples are taken by, and how far it sees."""

    name: str  # "cycles" or "cpu-clock"
    precise: int
    every: int
    kernel_seen: bool
    whole_cpu: bool  # else only one process and what it starts


def _open(kind: int, config: int, every: int, flags: int, pid: int, cpu: int) -> int:
    """A descriptor, or a negative errno."""
    call = _CALL.get(platform.machine())
    if call is None:
        return -errno.ENOSYS
    kinds = _IP | _TID | _TIME | _CALLCHAIN
    head = struct.pack("=IIQQQQQ", kind, _ATTR_BYTES, config, every, kinds, 0, flags)
    attr = bytearray(head.ljust(_ATTR_BYTES, b"\0"))
    struct.pack_into("=i", attr, _CLOCKID_AT, _CLOCK_MONOTONIC_RAW)
    libc = ctypes.CDLL(None, use_errno=True)
    fd: int = libc.syscall(ctypes.c_long(call), bytes(attr), pid, cpu, -1, ctypes.c_ulong(_CLOEXEC))
    return fd if fd >= 0 else -ctypes.get_errno()


def _attempts() -> Iterator[tuple[Event, int, int]]:
    """Events from the best on, each with its type and flags."""
    for whole_cpu, kernel_seen in ((True, True), (False, True), (False, False)):
        for precise in range(_PRECISE_MOST, -1, -1):
            event = Event("cycles", precise, _PERIODS["cycles"], kernel_seen, whole_cpu)
            yield event, _HARDWARE, precise << _PRECISE_SHIFT
        yield Event("cpu-clock", 0, _PERIODS["cpu-clock"], kernel_seen, whole_cpu), _SOFTWARE, 0


class Sampler:
    """Samples of a CPU, or of a process and its children on that CPU; open until `close`."""

    def __init__(self, cpu: int, pid: int):
        """Opens the best event there is. Raises NotComparable if the kernel grants none."""
        refusal = 0
        for event, kind, precise in _attempts():
            flags = precise | _TASK | _USE_CLOCKID
            flags |= 0 if event.kernel_seen else _EXCLUDE_KERNEL
            flags |= 0 if event.whole_cpu else _INHERIT
            config = _CPU_CYCLES if kind == _HARDWARE else _CPU_CLOCK
            whom = -1 if event.whole_cpu else pid
            found = _open(kind, config, event.every, flags, whom, cpu)
            if found >= 0:
                self.event, self._fd = event, found
                self._map = mmap.mmap(found, mmap.PAGESIZE * (1 + _PAGES))
                break
            refusal = -found
        else:
            why = os.strerror(refusal).lower()
            raise NotComparable(
                f"the kernel grants no samples ({why}); allow them with "
                "`sysctl kernel.perf_event_paranoid=1`, or trace a kernel image with --kernel"
            )
        self.lost = 0
        self.born: set[tuple[int, int]] = set()  # (parent, child) processes

    def close(self) -> None:
        self._map.close()
        os.close(self._fd)

    def read(self) -> list[Sample]:
        """Takes what has come since the last call."""
        head, tail, offset, size = struct.unpack_from("=QQQQ", self._map, _HEAD)
        samples = []
        while tail < head:
            kind, misc, length = struct.unpack("=IHH", self._bytes(offset, size, tail, 8))
            body = self._bytes(offset, size, tail + 8, length - 8)
            if kind == _SAMPLE:
                samples.append(_sample(misc, body))
            elif kind == _LOST:
                self.lost += struct.unpack_from("=QQ", body)[1]
            elif kind == _FORK:
                child, parent = struct.unpack_from("=II", body)
                self.born.add((parent, child))
            tail += length
        struct.pack_into("=Q", self._map, _TAIL, tail)
        return samples

    def _bytes(self, offset: int, size: int, at: int, length: int) -> bytes:
        """Bytes of the ring, which may go on at its beginning."""
        begin = at % size
        first = min(length, size - begin)
        part = self._map[offset + begin : offset + begin + first]
        return part + self._map[offset : offset + length - first]


def _sample(misc: int, body: bytes) -> Sample:
    _, pid, _, time_ns, count = struct.unpack_from("=QIIQQ", body)
    chain = struct.unpack_from(f"={count}Q", body, 32)
    sides: tuple[list[int], list[int]] = ([], [])
    side = 0
    for address in chain:
        if address >= _MARKERS:
            side = int(address == _USER_FOLLOWS)
        else:
            sides[side].append(address)
    in_kernel = misc & _MODE == _IN_KERNEL
    return Sample(time_ns, pid, in_kernel, tuple(sides[0]), tuple(sides[1]))
