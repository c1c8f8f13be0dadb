# SPDX-License-Identifier: BSD-2-Clause
"""Zephyr's latency_measure, as text and as CSV, and the `REC:` lines of its scheduler benchmarks.

A log may hold several builds (a caption before each names it) and several boots of one; FAILED rows
stay, as failed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from cyclometer.bundle.model import Contract, Summary
from cyclometer.ingest.formats.rtos.zephyr_keys import UNKNOWN, ClockScale, latency_contract, scale
from cyclometer.ingest.parsed import Collector, Parsed, Settings, slug
from cyclometer.ingest.reading import Foreign

NAME = "zephyr-latency"
DESCRIPTION = "Zephyr latency_measure output (text or CSV) and REC: lines"

_NUMBERS = re.compile(r"\s*(-?\d{1,20}) cycles ,\s*(-?\d{1,20}) ns")
_NAMED = re.compile(r"(?:REC: )?([A-Za-z]\w*(?:\.[\w+]+)+)\s+- (\S.*)")
_FIGURES = (  # after the name: description, cycles, nanoseconds; as text and as CSV
    re.compile(r"([^:]{0,200}):\s*(-?\d{1,20}) cycles ,\s*(-?\d{1,20}) ns.*"),
    re.compile(r"([^:]{0,200}?),\s*(-?\d{1,20})\s*,\s*(-?\d{1,20})\s*(?:,.*)?"),
)
_UNNAMED = re.compile(r"([A-Za-z][^:]{0,120}):(.*)")
_MHZ = re.compile(r"Clock frequency:\s*(\d{1,6}) MHz")
_END = "PROJECT EXECUTION"
_STATISTIC = re.compile(r"(.+)\.(min|max|avg|stddev)")
_FIELDS = {"min": "minimum", "max": "maximum", "avg": "mean", "stddev": "sd"}
_OPTIONS = ("canaries", "objcore", "userspace")
_CAPTIONS = {"canaries": "canar", "objcore": "object core", "userspace": "userspace"}


def detect(head: bytes, _filename: str) -> int:
    if b" cycles ," in head and b" ns" in head:
        return 92
    if re.search(rb"^[ \t]*[a-z]+(?:\.[\w+]+)+ +- [^,\n]{1,200},\d+,\d+,", head, re.M):
        return 90
    if b"START - Time Measurement" in head:
        return 80
    return 0


@dataclass
class _Block:
    """The state of a log that is read: which build's figures come, and the statistics gathered for
    REC: rows.
    """

    scale: ClockScale
    caption: str = ""
    configuration: dict[str, str] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)  # configuration -> blocks ended so far
    gathered: dict[str, tuple[int, str, dict[str, float]]] = field(default_factory=dict)

    @property
    def run(self) -> int:
        return self.seen[str(self.configuration)]


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    mhz = _MHZ.search(foreign.text)
    block = _Block(scale(settings, hz=int(mhz[1]) * 1e6 if mhz else 0.0))
    for at, line in foreign.lines():
        if _END in line:
            _end(into, block)
        elif not _row(into, block, line.strip(), at):
            _caption(block, line)
    _end(into, block)
    return into.finish(NAME)


def _row(into: Collector, block: _Block, line: str, at: int) -> bool:
    """Take the line as a row; False if it is none."""
    match = _NAMED.fullmatch(line)
    if match:
        _begin(block)
        return _named(into, block, match[1], match[2], at)
    match = _UNNAMED.fullmatch(line)
    figures = _NUMBERS.match(match[2]) if match else None
    if match and figures:
        _begin(block)
        contract = Contract(f"zephyr.{slug(match[1])}", match[1].strip(), correction=UNKNOWN)
        _add(into, block, contract, float(figures[1]), float(figures[2]), at)
        return True
    if re.search(r"\d cycles|\bcycles ,", line):
        into.unread(line, at)
    return False


def _named(into: Collector, block: _Block, key: str, rest: str, at: int) -> bool:
    figures = next((match for pattern in _FIGURES if (match := pattern.fullmatch(rest))), None)
    title = (figures[1] if figures else re.split("[:,]", rest)[0]).strip()[:200]
    statistic = _STATISTIC.fullmatch(key)
    if figures and statistic:
        gathered = block.gathered.setdefault(statistic[1], (at, title, {}))[2]
        gathered[_FIELDS[statistic[2]]] = block.scale.value(float(figures[2]), float(figures[3]))
    elif figures:
        _add(into, block, latency_contract(key, title), float(figures[2]), float(figures[3]), at)
    elif "FAIL" in rest.upper():
        note = " ".join(re.sub(r"[:,]", " ", rest).split())[:120]
        _figure(
            into, block, latency_contract(key, title), Summary(0, status="failed", note=note), at
        )
    else:
        into.unread(f"{key} - {rest}", at)
    return True


def _add(
    into: Collector, block: _Block, contract: Contract, cycles: float, ns: float, at: int
) -> None:
    extra = {"ns": ns} if block.scale.per_ns == 0 else {"ns": ns, "cycles": cycles}
    _figure(into, block, contract, Summary(0, mean=block.scale.value(cycles, ns), extra=extra), at)


def _figure(into: Collector, block: _Block, contract: Contract, summary: Summary, at: int) -> None:
    into.figure(
        contract,
        block.scale.clock,
        line=at,
        name=contract.key,
        configuration=block.configuration,
        run=block.run,
        summary=summary,
    )


def _caption(block: _Block, line: str) -> None:
    """Remember a line that ends in a colon: the build that the next figures are of may be named
    there.
    """
    text = line.strip()
    if text.endswith(":") and " " in text:
        block.caption = text.rstrip(":").lower()


def _begin(block: _Block) -> None:
    """At a row: if a caption stands before it, it names the build from here on."""
    if not block.caption:
        return
    named = [
        option
        for option in _OPTIONS
        if option in block.caption or _CAPTIONS[option] in block.caption
    ]
    if named or "default" in block.caption:
        block.configuration = {option: "on" if option in named else "off" for option in _OPTIONS}
    block.caption = ""


def _end(into: Collector, block: _Block) -> None:
    """At the end of a boot: add what its REC: lines gave, and count the boot as a run of its
    build.
    """
    for key, (at, title, fields) in block.gathered.items():
        given: dict[str, Any] = dict(fields)
        summary = Summary(0, **given)
        _figure(into, block, Contract(key, title, correction=UNKNOWN), summary, at)
    block.gathered.clear()
    block.seen[str(block.configuration)] += 1
    block.caption = ""
