# SPDX-License-Identifier: BSD-2-Clause
"""UnixBench (byte-unixbench 5): the rate of each test, by how many copies ran.

The index is the rate over that of a machine of 1995; it is kept beside the rate.
"""

from __future__ import annotations

import re

from cyclometer.ingest.parsed import Collector, Parsed, Settings, machine, number, slug
from cyclometer.ingest.quantities import PER_S, Quantity
from cyclometer.ingest.reading import Foreign

NAME = "unixbench"
DESCRIPTION = "UnixBench report"

_SYSTEM = re.compile(r"System: (\S{1,80}?):.*")
_COPIES = re.compile(r"\d+ CPUs? in system; running (\d{1,6}) parallel cop(?:y|ies) of tests")
_RESULT = re.compile(
    r"(\S.{2,60}?) +([\d.]{1,20}) (lps|lpm|KBps|MWIPS) +\(([\d.]+) s, (\d+) samples\)"
)
_INDEX = re.compile(r"(\S.{2,60}?) +([\d.]+) +([\d.]+) +([\d.]+)")
_UNITS = {
    "lps": PER_S,
    "lpm": PER_S.times(1 / 60),
    "KBps": PER_S.times(1024.0),
    "MWIPS": PER_S.times(1e6),
}


def detect(head: bytes, _filename: str) -> int:
    if b"BYTE UNIX Benchmarks" in head:
        return 95
    return 90 if re.search(rb"System Benchmarks Index Values +BASELINE", head) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    copies, target = "", ""
    results: dict[str, tuple[int, str, Quantity, str]] = {}
    for at, line in foreign.lines():
        text = line.strip()
        if match := _SYSTEM.fullmatch(text):
            target = machine(match[1])
        elif match := _COPIES.fullmatch(text):
            _add(into, results, {}, copies)
            results, copies = {}, match[1]
        elif match := _RESULT.fullmatch(text):
            results[match[1]] = (at, match[2], _UNITS[match[3]], match[5])
        elif (match := _INDEX.fullmatch(text)) and match[1] in results:
            index = {match[1]: number(match[4])}
            _add(into, {match[1]: results.pop(match[1])}, index, copies)
        elif re.search(r"\d (?:lps|lpm|KBps|MWIPS)\b", text):
            into.unread(text, at)
    _add(into, results, {}, copies)
    return into.finish(NAME, target=target)


def _add(
    into: Collector,
    results: dict[str, tuple[int, str, Quantity, str]],
    index: dict[str, float | None],
    copies: str,
) -> None:
    for name, (at, printed, unit, samples) in results.items():
        into.add(
            f"unixbench.{slug(name)}",
            unit,
            title=name,
            params={"copies": copies} if copies else {},
            line=at,
            name=name,
            n=samples,
            mean=printed,
            extra={"index": index.get(name)},
        )
