# SPDX-License-Identifier: BSD-2-Clause
"""Units as tools print them, and what a figure in one becomes in a bundle."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from cyclometer.bundle.model import Clock

_NS = {
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanosecond", "nanoseconds"), 1.0),
    **dict.fromkeys(("us", "µs", "μs", "usec", "usecs", "microsecond", "microseconds"), 1e3),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), 1e6),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1e9),
    **dict.fromkeys(("min", "minute", "minutes"), 60e9),
}
_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BYTES = re.compile(r"([kKMGT]?)(i?)(?:B|bytes?)")
_RATE = re.compile(r"(.{0,30}?)\s*(?:/|p(?=s$))\s*(\w{1,12})")


@dataclass(frozen=True)
class Quantity:
    """A printed figure times `factor` is in the unit of `clock`; `better` is lower or higher."""

    clock: Clock
    factor: float = 1.0
    better: str = "lower"

    def times(self, factor: float) -> Quantity:
        """The same quantity printed in a unit `factor` times as large."""
        return Quantity(self.clock, self.factor * factor, self.better)


CYCLES = Quantity(Clock("cycle counter", "cycles"))
NS = Quantity(Clock("wall clock", "ns"))
US = NS.times(1e3)
SECONDS = NS.times(1e9)
PER_S = Quantity(Clock("rate", "per_s"), better="higher")


def events(name: str, better: str = "lower") -> Quantity:
    """A count of something that is not time, or a figure in a unit that nobody knows."""
    return Quantity(Clock(name[:40], "events"), better=better)


@cache
def quantity(unit: str) -> Quantity:
    """The quantity of a printed unit: a time (`usec`, `ms`), a rate (`ops/s`, `MiB/s`, `Gbps`), or
    else a count of what the unit calls by name.

    KB, MB and GB are powers of 1000, KiB, MiB and GiB of 1024; a tool that means otherwise scales
    its figures before.
    """
    unit = unit.strip()
    if unit.lower() in _NS:
        return NS.times(_NS[unit.lower()])
    if unit in ("cycles", "ticks", "instructions"):
        return Quantity(Clock(unit, unit))
    match = _RATE.fullmatch(unit)
    if match and match[2].lower() in _NS:
        return PER_S.times(_multiple(match[1]) * 1e9 / _NS[match[2].lower()])
    return events(unit or "unknown unit")


def _multiple(thing: str) -> float:
    """How many bytes `KiB` or `MB` are; 1 for anything that is counted one by one."""
    match = _BYTES.fullmatch(thing)
    if not match:
        return 1.0
    prefix = "k" if match[1] == "K" else match[1]
    power = list(_PREFIXES).index(prefix)
    return 1024.0**power if match[2] else _PREFIXES[prefix]
