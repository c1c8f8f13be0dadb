# SPDX-License-Identifier: BSD-2-Clause
"""NuttX osperf: a line per primitive with maximum, minimum and average in nanoseconds, and with -d
every value.

It times each primitive once per count in a critical section (apps/benchmarks/osperf/osperf.c).
"""

from __future__ import annotations

import re

from cyclometer.bundle.model import Clock, Span
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.quantities import Quantity
from cyclometer.ingest.reading import Foreign

NAME = "osperf"
DESCRIPTION = "NuttX osperf output"

_NS = Quantity(Clock("perf_gettime", "ns"))
_COUNT = re.compile(r"OS performance args: count:(\d{1,12}), detail:\w+")
_HEAD = re.compile(r"Describe\s+Max\s+Min\s+Avg")
_LINE = re.compile(r"([a-z][\w-]{1,40})\s+(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})")
_VALUE = re.compile(r"(\d{1,9}): (\d{1,18})")
# name -> key and what is timed, as the source has it
_KNOWN = {
    "pthread-create": (
        "thread.create",
        Span("one_way", "creator: before pthread_create", "thread: runs"),
    ),
    "pthread-switch": (
        "semaphore.give.wake",
        Span("one_way", "poster: before sem_post", "waiter: after sem_wait"),
    ),
    "context-switch": (
        "thread.yield",
        Span("one_way", "thread: before sched_yield", "other: after sched_yield"),
    ),
    "hpwork": ("workqueue.high", Span("one_way", "caller: work_queue", "worker: handler runs")),
    "poll-write": ("poll.wake", Span("one_way", "writer: before write", "poller: after poll")),
    "semwait": ("semaphore.take.immediate", Span("round_trip", "before", "after sem_wait")),
    "sempost": ("semaphore.give.immediate", Span("round_trip", "before", "after sem_post")),
}


def detect(head: bytes, _filename: str) -> int:
    return 95 if b"OS performance args:" in head or _HEAD.search(head.decode("latin-1")) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    count, values = "", list[float]()
    for at, line in foreign.lines():
        text = line.strip()
        if match := _COUNT.search(text):
            count = match[1]
        elif match := _VALUE.fullmatch(text):
            values.append(number(match[2]) or 0.0)
        elif match := _LINE.fullmatch(text):
            key, interval = _KNOWN.get(match[1], (slug(match[1]), None))
            into.add(
                f"osperf.{key}",
                _NS,
                title=match[1],
                interval=interval,
                line=at,
                name=match[1],
                n=count or None,
                maximum=match[2],
                minimum=match[3],
                mean=match[4],
                values=values,
            )
            values = []
    return into.finish(NAME)
