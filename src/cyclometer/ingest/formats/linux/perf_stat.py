# SPDX-License-Identifier: BSD-2-Clause
"""perf stat: a row per event of a command, from its text, its -x CSV or its -j JSON lines.

What stands behind +- is the standard error of the mean in percent (`stddev_stats()` in
tools/perf/util/stat.c), from which the number of runs gives the standard deviation.
"""

from __future__ import annotations

import re

from cyclometer.errors import BadFile
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.quantities import NS, Quantity, events, quantity
from cyclometer.ingest.reading import Foreign, json_value

NAME = "perf-stat"
DESCRIPTION = "perf stat output: text, -x, or -j"

_HEAD = re.compile(r"Performance counter stats for '(.{1,400})'(?: \((\d{1,9}) runs\))?:")
_WIDE = re.compile(r"Performance counter stats for '?(system wide|.{1,100}?)'?:")
_N = r"(<not (?:supported|counted)>|\d[\d.,]{0,30})"
_EVENT = re.compile(
    rf"{_N}\s+(?:(msec|nsec|Joules|MiB|KiB|C)\s+)?([A-Za-z][\w:/=.,+-]{{1,100}})\s*(?:\#.*?)?"
    r"(?:\s*\( \+-\s*([\d.]{1,12})% \))?(?:\s*\([\d.]+%\))?"
)
_ELAPSED = re.compile(
    rf"{_N}\s+(?:\+-\s+([\d.]{{1,20}})\s+)?seconds (time elapsed|user|sys)(?:\s*\( \+-.*)?"
)
_CSV = re.compile(rf"{_N}[,;|](\w{{0,10}})[,;|]([A-Za-z][\w:/=.+-]{{1,100}})[,;|]([\d.]*%?).*")


def detect(head: bytes, _filename: str) -> int:
    if re.search(rb"^ *Performance counter stats for ", head, re.M):
        return 95
    if re.search(rb'^\{(?:"[\w-]+" : "?[\w.]*"?, )?"counter-value" : ', head, re.M):
        return 95
    return 80 if re.search(rb"^(?:<not \w+>|[\d.]+),\w*,[a-z][\w:/-]+,", head, re.M) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    command, runs = "", 0
    for at, line in foreign.lines():
        text = line.strip()
        if match := _HEAD.match(text):
            command, runs = match[1], int(match[2] or 1)
        elif match := _WIDE.match(text):
            command, runs = match[1], 1
        elif text.startswith("{"):
            _read_json(into, text, at)
        elif match := _ELAPSED.fullmatch(text):
            key = {"time elapsed": "elapsed", "user": "user_time", "sys": "system_time"}[match[3]]
            error = number(match[2])
            _add(into, key, NS.times(1e9), match[1], error, runs, command, at)
        elif match := _CSV.fullmatch(text) or _EVENT.fullmatch(text):
            unit = _unit(match[2] or "", match[3])
            share = number((match[4] or "").rstrip("%"))
            value = number(match[1])
            error = None if share is None or value is None else value * share / 100
            _add(into, match[3], unit, match[1], error, runs, command, at)
        elif re.match(r"\d[\d.,]*\s+\S", text) and not text.startswith("#"):
            into.unread(text, at)
    return into.finish(NAME)


def _unit(printed: str, event: str) -> Quantity:
    return quantity(printed) if printed in ("msec", "nsec") else events(printed or event)


def _add(
    into: Collector,
    event: str,
    unit: Quantity,
    printed: str,
    error: float | None,
    runs: int,
    command: str,
    at: int,
) -> None:
    """Add an event; one that was not counted is a failed figure, not a missing row."""
    counted = number(printed) is not None
    into.add(
        f"perf_stat.{slug(event)}",
        unit,
        title=f"{event} of a command",
        params={"command": command} if command else {},
        line=at,
        name=event,
        mean=printed if counted else None,
        n=runs or None,
        sd=None if error is None or runs < 2 else error * runs**0.5,
        extra={"standard_error": None if error is None else error * unit.factor},
        status="ok" if counted else "failed",
        note="" if counted else printed.strip("<>"),
    )


def _read_json(into: Collector, text: str, at: int) -> None:
    try:
        one = json_value(text, f"{into.foreign.name} line {at}")
    except BadFile:
        into.unread(text, at)
        return
    event = one.get("event")
    if not isinstance(event, str) or "counter-value" not in one:
        into.unread(text, at)
        return
    printed = str(one["counter-value"])[:40]
    unit = _unit(str(one.get("unit", ""))[:10], event)
    _add(into, event, unit, printed, None, 0, "", at)
