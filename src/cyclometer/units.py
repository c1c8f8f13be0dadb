# SPDX-License-Identifier: BSD-2-Clause
"""Clock units and the only conversions between them.

A latency is stored in the unit of the clock that read it and is converted for people only. Foreign
tools also print counts of hardware events (`events`) and rates (`per_s`); these are never times.
"""

import re

NS_PER_S = 1_000_000_000
UNITS = ("cycles", "ticks", "instructions", "ns", "events", "per_s")


def to_ns(value: float, unit: str, hz: float | None) -> float | None:
    """`value` of a clock in nanoseconds; None if the clock's rate is unknown or is not a
    time.
    """
    if unit == "ns":
        return value
    if not hz or unit not in ("cycles", "ticks"):
        return None
    return value / hz * NS_PER_S


_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s|m|min|h)?")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """A duration such as `60s`, `2m`, `500ms` or `90` in seconds, more than none; ValueError for
    anything else.
    """
    match = _DURATION.fullmatch(text.strip())
    if not match or not float(match[1]):
        raise ValueError(f"{text!r} is not a duration; write it as 60s, 2m or 500ms")
    return float(match[1]) * _SECONDS[match[2] or ""]


def percent(text: str) -> float:
    """A share such as `1%` or `0.01` as a fraction; ValueError for anything else."""
    body = text.strip()
    try:
        return float(body[:-1]) / 100 if body.endswith("%") else float(body)
    except ValueError:
        raise ValueError(f"{text!r} is not a share; write it as 1% or 0.01") from None
