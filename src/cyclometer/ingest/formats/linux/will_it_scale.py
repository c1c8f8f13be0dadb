# SPDX-License-Identifier: BSD-2-Clause
"""will-it-scale: what a test prints every second, or the table of runtest.py.

Every second after the warm-up is a value; the program prints no more of its average than their sum.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.quantities import PER_S
from cyclometer.ingest.reading import Foreign

NAME = "will-it-scale"
DESCRIPTION = "will-it-scale output, or the CSV of its runtest.py"

_TEST = re.compile(r"testcase:(.{1,200})")
_SECOND = re.compile(r"min:(\d{1,20}) max:(\d{1,20}) total:(\d{1,20})")
_AVERAGE = re.compile(r"average:(\d{1,20})")
_HEAD = re.compile(r"tasks,processes,processes_idle,threads,threads_idle,linear")
_ROW = re.compile(r"(\d{1,9}),(\d{1,20}),([\d.]+),(\d{1,20}),([\d.]+),(\d{1,20})")


@dataclass
class _Test:
    name: str
    line: int
    measuring: bool = False
    totals: list[float] = field(default_factory=list)
    average: float | None = None


def detect(head: bytes, _filename: str) -> int:
    if re.search(rb"^testcase:.+\nwarmup\n", head, re.M):
        return 95
    return 95 if head.startswith(b"tasks,processes,processes_idle,threads") else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    stem = slug(foreign.name.rpartition(".")[0] or foreign.name)
    test: _Test | None = None
    for at, line in foreign.lines():
        text = line.strip()
        if match := _TEST.fullmatch(text):
            _finish(into, test)
            test = _Test(match[1].strip(), at)
        elif test and text == "measurement":
            test.measuring = True
        elif test and (match := _SECOND.fullmatch(text)):
            if test.measuring:
                test.totals.append(number(match[3]) or 0.0)
        elif test and (match := _AVERAGE.fullmatch(text)):
            test.average = number(match[1])
        elif match := _ROW.fullmatch(text):
            _row(into, stem, match, at)
        elif re.search(r"\d", text) and not _HEAD.fullmatch(text):
            into.unread(text, at)
    _finish(into, test)
    return into.finish(NAME)


def _finish(into: Collector, test: _Test | None) -> None:
    if test is not None and (test.totals or test.average is not None):
        into.add(
            f"will_it_scale.{slug(test.name)}",
            PER_S,
            title=test.name,
            line=test.line,
            mean=test.average,
            values=test.totals,
        )


def _row(into: Collector, stem: str, match: re.Match[str], at: int) -> None:
    """A line of runtest.py: iterations per second by processes and by threads."""
    for kind, printed, idle in (("processes", 2, 3), ("threads", 4, 5)):
        if int(match[printed]):
            into.add(
                f"will_it_scale.{stem}.{kind}",
                PER_S,
                params={"tasks": match[1]},
                line=at,
                mean=match[printed],
                extra={"idle_pct": number(match[idle])},
            )
