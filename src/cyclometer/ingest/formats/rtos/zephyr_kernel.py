# SPDX-License-Identifier: BSD-2-Clause
"""Zephyr's older kernel benchmarks: the tables of app_kernel (nanoseconds per service, mailbox and
pipe sizes), the test cases of sys_kernel, and the latencies of the scheduler benchmark.
"""

from __future__ import annotations

import re

from cyclometer.ingest.formats.rtos.zephyr_keys import scale
from cyclometer.ingest.parsed import Collector, Parsed, Settings, slug
from cyclometer.ingest.quantities import NS, PER_S, Quantity
from cyclometer.ingest.reading import Foreign

NAME = "zephyr-kernel"
DESCRIPTION = "Zephyr app_kernel tables, sys_kernel test cases, sched benchmark"

_SERVICE = re.compile(r"\|\s*([A-Za-z][^|]{3,70}?)\s*\|\s*(\d{1,18})\|")
_TITLE = re.compile(
    r"\|\s*((?:[A-Z] )+ (?: ?[A-Z] ?)*|[\w(), -]{4,70}?(?:sizes|priority)[^|]*?)\s*\|"
)
_SIZE = re.compile(r"\|\s*(\d{1,9})\|\s*(\d{1,18})\|\s*(\d{1,18})\|")
_PIPE = re.compile(r"\|" + r"\s*(\d{1,9})\|" * 2 + r"\s*(\d{1,18})\|" * 3 + r"(?:\s*\d{1,18}\|){3}")
_MAILBOX = re.compile(
    r"\|\s*(message overhead|raw transfer rate):\s+(\d{1,18})\s+(nsec/packet|KB/sec).*\|"
)
_BUFFERS = ("none", "small", "big")
_CASE = re.compile(r"TEST CASE: (.{1,80})")
_DETAILS = re.compile(r"DETAILS: Average time for 1 iteration: (\d{1,18}) nSec")
_RESULT = re.compile(r"TEST RESULT: (\w+)")
_SCHED = re.compile(
    r"unpend\s+(\d{1,12})\s+ready\s+(\d{1,12})\s+switch\s+(\d{1,12})\s+pend\s+(\d{1,12})\s+"
    r"tot\s+(\d{1,12})\s*\(avg\s+(\d{1,12})\)"
)
_STEPS = ("unpend", "ready", "switch", "pend", "total")


def detect(head: bytes, _filename: str) -> int:
    if b"S I M P L E   S E R V I C E" in head or b"MODULE: kernel API test" in head:
        return 95
    return 95 if re.search(rb"unpend\s+\d+\s+ready\s+\d+\s+switch", head) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    section, case, failed = "services", "", False
    passes: list[tuple[int, re.Match[str]]] = []
    for at, line in foreign.lines():
        text = line.strip()
        if match := _PIPE.fullmatch(text):
            _pipe(into, match, section, at)
        elif match := _SIZE.fullmatch(text):
            _mailbox(into, match, at)
        elif match := _SERVICE.fullmatch(text):
            name = match[1]
            into.add(f"app_kernel.{slug(name)}", NS, title=name, line=at, name=name, mean=match[2])
        elif match := _TITLE.fullmatch(text):
            section = _section(match[1])
        elif match := _CASE.fullmatch(text):
            case, failed = match[1].strip(), False
        elif match := _RESULT.fullmatch(text):
            failed = match[1] != "SUCCESSFUL"
        elif (match := _DETAILS.fullmatch(text)) and case:
            _case(into, case, match[1], failed, at)
        elif match := _SCHED.fullmatch(text):
            passes.append((at, match))
        elif match := _MAILBOX.fullmatch(text):
            unit = NS if match[3] == "nsec/packet" else PER_S.times(1024.0)
            into.add(f"app_kernel.mailbox.{slug(match[1])}", unit, line=at, mean=match[2])
        elif re.match(r"\|.*\d\s*\|$", text):
            into.unread(text, at)
    if passes:
        _scheduler(into, passes)
    return into.finish(NAME)


def _section(title: str) -> str:
    """A title such as `P I P E   M E A S U R E M E N T S` or `non-matching sizes ...` as a word."""
    spaced = re.sub(r"(?<=\b\w) (?=\w\b)", "", title)
    return slug(spaced)


def _mailbox(into: Collector, match: re.Match[str], at: int) -> None:
    params = {"bytes": match[1]}
    into.add("app_kernel.mailbox.packet", NS, params=params, line=at, mean=match[2])
    kib = PER_S.times(1024.0)
    into.add("app_kernel.mailbox.rate", kib, params=params, line=at, mean=match[3])


def _pipe(into: Collector, match: re.Match[str], section: str, at: int) -> None:
    """A line of a pipe's table: the time of a packet without, with a small, with a big buffer."""
    for buffer, printed in zip(_BUFFERS, match.groups()[2:5], strict=True):
        into.add(
            "app_kernel.pipe.packet",
            NS,
            params={"put": match[1], "get": match[2], "buffer": buffer, "case": section},
            line=at,
            mean=printed,
        )


def _case(into: Collector, case: str, printed: str, failed: bool, at: int) -> None:
    into.add(
        f"sys_kernel.{slug(case)}",
        NS,
        title=case,
        line=at,
        name=case,
        mean=printed,
        status="failed" if failed else "ok",
        note="the test case failed" if failed else "",
    )


def _scheduler(into: Collector, passes: list[tuple[int, re.Match[str]]]) -> None:
    """Every line is a pass of one run: cycles of each step between two time stamps."""
    known = scale(into.settings)
    unit = Quantity(known.clock, known.per_cycle)
    for place, step in enumerate(_STEPS, 1):
        values = [float(match[place]) for _, match in passes]
        into.add(f"sched.{step}", unit, line=passes[0][0], values=values)
