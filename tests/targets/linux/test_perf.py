# SPDX-License-Identifier: BSD-2-Clause
"""Samples: with the events of this machine, with none that cycles give, and out of a made-up
ring.
"""

from __future__ import annotations

import errno
import mmap
import os
import struct
import subprocess
from typing import Any

import pytest

from cyclometer.errors import NotComparable, UsageError
from cyclometer.explain.profile import shares
from cyclometer.targets.api import Request
from cyclometer.targets.linux import names, perf, profile
from cyclometer.targets.linux.perf import Sampler
from cyclometer.targets.linux.target import LinuxTarget

HARDWARE, SOFTWARE = 0, 1
_OPEN = perf._open


def refuse(*kinds: int, because: int = errno.ENOENT) -> Any:
    """The system call, which refuses events of these types."""
    real = perf._open

    def opened(kind: int, *rest: int) -> int:
        return -because if kind in kinds else real(kind, *rest)

    return opened


def sampler() -> Sampler:
    try:
        return Sampler(max(os.sched_getaffinity(0)), os.getpid())
    except NotComparable as refused:
        pytest.skip(str(refused))


def test_without_a_pmu_the_cpu_clock_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perf, "_open", refuse(HARDWARE))
    one = sampler()
    assert one.event.name == "cpu-clock"
    one.close()


def test_with_a_pmu_cycles_sample() -> None:
    one = sampler()
    one.close()
    if one.event.name != "cycles":
        pytest.skip("this machine has no PMU")
    assert one.event.precise >= 0


def test_the_best_event_that_is_granted_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PMU that takes no precise event for a whole CPU, and then nothing but one process."""
    asked = []

    def opened(kind: int, _config: int, _period: int, flags: int, pid: int, _cpu: int) -> int:
        asked.append((kind, flags >> 15 & 3, pid))
        granted = kind == HARDWARE and flags >> 15 & 3 == 1 and pid == 7
        return os.memfd_create("ring") if granted else -errno.EACCES

    monkeypatch.setattr(perf, "_open", opened)
    real = mmap.mmap
    monkeypatch.setattr(perf.mmap, "mmap", lambda _fd, size: real(-1, size))
    one = Sampler(0, 7)
    assert (one.event.name, one.event.precise, one.event.whole_cpu) == ("cycles", 1, False)
    assert asked[0] == (HARDWARE, 3, -1)
    one.close()


def test_a_kernel_that_grants_nothing_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perf, "_open", refuse(HARDWARE, SOFTWARE, because=errno.EACCES))
    with pytest.raises(NotComparable, match="perf_event_paranoid"):
        Sampler(0, os.getpid())


def record(kind: int, misc: int, body: bytes) -> bytes:
    return struct.pack("=IHH", kind, misc, 8 + len(body)) + body


def test_a_ring_is_read_across_its_end() -> None:
    user, kernel = (1 << 64) - 512, (1 << 64) - 128
    chain = [kernel, 0xFFFFFFFF81000010, user, 0x401000]
    sample = record(9, 1, struct.pack("=QIIQQ4Q", 1, 5, 6, 77, 4, *chain))
    stream = sample + record(7, 0, struct.pack("=IIIIQ", 9, 5, 9, 6, 0))
    stream += record(2, 0, struct.pack("=QQ", 1, 12))
    size, begin = 256, 256 - 40
    ring = bytearray(4096 + size)
    for i, byte in enumerate(stream):
        ring[4096 + (begin + i) % size] = byte
    struct.pack_into("=QQQQ", ring, 1024, begin + len(stream), begin, 4096, size)
    one = object.__new__(Sampler)
    one.__dict__.update(_map=ring, lost=0, born=set())
    (found,) = one.read()
    assert (found.time_ns, found.pid, found.in_kernel) == (77, 5, True)
    assert (found.kernel, found.user) == ((0xFFFFFFFF81000010,), (0x401000,))
    assert one.born == {(5, 9)}
    assert one.lost == 12
    assert one.read() == []


def test_functions_of_this_process_have_names() -> None:
    where = names.mappings(os.getpid())
    assert where
    libc = next(one for one in where if "libc" in one.file or "musl" in one.file)
    if names._of_file(libc.file) is None:
        pytest.skip("nm (binutils) is not installed")
    assert not names.user(libc.start + 0x1000, where).startswith("[unknown]")
    assert names.user(0, where) == "[unknown]"


def test_a_process_that_ended_has_no_children() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        assert child.pid in profile._children(os.getpid())
        child.kill()
    assert profile._children(child.pid) == []


def simulated_cycles(kind: int, config: int, every: int, flags: int, pid: int, cpu: int) -> int:
    """The system call of a machine with a PMU of which a cycle lasts a nanosecond, and no event is
    precise.
    """
    if kind == HARDWARE and flags >> 15 & 3:
        return -errno.EOPNOTSUPP
    return _OPEN(SOFTWARE, config, every, flags, pid, cpu)


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("opened", "event"), [(simulated_cycles, "cycles"), (refuse(HARDWARE), "cpu-clock")]
)
def test_a_circle_is_sampled_where_it_is(
    monkeypatch: pytest.MonkeyPatch, opened: Any, event: str
) -> None:
    monkeypatch.setattr(perf, "_open", opened)
    sampler().close()
    sampled = LinuxTarget().profile(Request(), "file.read.bytes_65536", 0.5)
    found = shares(sampled)
    assert (sampled.event, sampled.precise) == (event, 0)
    assert sampled.seen > 0  # the more, the less other processes take of the CPU
    assert sum(one.share for one in found.levels) == pytest.approx(1)
    if sampled.kernel_seen > 10 and names.kernel() is not None:
        reading = {one.name: one.share for one in found.inclusive}
        assert max(share for name, share in reading.items() if "read" in name) > 0.5


@pytest.mark.e2e
def test_what_samples_cannot_tell_is_refused() -> None:
    with pytest.raises(UsageError, match="times a part of a turn"):
        LinuxTarget().profile(Request(), "timer.nanosleep", 0.5)
