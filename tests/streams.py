# SPDX-License-Identifier: BSD-2-Clause
"""Record streams made by hand, so that the decoder is held against FORMAT.md and not against the C
writer.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

CONTRACT = {
    "key": "pipe.round_trip.cross.equal",
    "title": "Round trip over two pipes",
    "sequence": ["client: write", "server: read"],
    "interval": {"kind": "round_trip", "from": "client: before write", "to": "client: after read"},
    "expect": {"switches": 2},
    "params": {"space": "cross"},
    "correction": "none",
}


def line(record: dict[str, Any]) -> bytes:
    """One record as FORMAT.md frames it."""
    body = json.dumps(record, separators=(",", ":")).encode()
    return b"@cyc " + body + b" *%08x\n" % zlib.crc32(body)


def hello(seq: int = 0, run: int = 1, **members: Any) -> dict[str, Any]:
    clock = {"name": "tsc", "unit": "ticks", "hz": 2_600_000_000, "exact": False}
    record = {
        "kind": "hello",
        "seq": seq,
        "schema": 1,
        "target": "linux",
        "kernel": "6.1",
        "clock": clock,
    }
    return record | {"configuration": {"policy": "fifo"}, "build": {}, "run": run} | members


def circle(seq: int, method: str = "accumulated", **contract: Any) -> dict[str, Any]:
    flow = {"initial": 10, "delta": 10, "groups": 1, "tests": 3}
    return {
        "kind": "circle",
        "seq": seq,
        "contract": CONTRACT | contract,
        "method": method,
        "flow": flow,
    }


def group(
    seq: int, values: list[int], turns: int = 10, switches: list[int] | None = None, **members: Any
) -> dict[str, Any]:
    counters = {"switches": [2 * turns] * len(values) if switches is None else switches}
    record = {
        "kind": "group",
        "seq": seq,
        "circle": CONTRACT["key"],
        "method": "accumulated",
        "visit": 0,
        "group": 0,
    }
    record |= {
        "turns": turns,
        "values": values,
        "at": list(range(len(values))),
        "counters": counters,
    }
    return record | members


def end(seq: int, values: int) -> dict[str, Any]:
    return {"kind": "end", "seq": seq, "records": seq, "values": values}


def stream() -> list[bytes]:
    """A whole small stream, line by line: hello, circle, two groups, end."""
    records = [
        hello(),
        circle(1),
        group(2, [100, 101, 102]),
        group(3, [200, 201, 202], turns=20, group=1),
        end(4, 6),
    ]
    return [line(record) for record in records]
