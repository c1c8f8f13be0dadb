# SPDX-License-Identifier: BSD-2-Clause
"""stress-ng: the latencies of --cyclic, the table and the extra lines of --metrics, and its YAML.

Its manual calls bogo-ops "not a reliable metric"; they become rates with a note that says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from cyclometer.bundle.model import Span
from cyclometer.ingest.parsed import Collector, Parsed, Settings, machine, number, slug
from cyclometer.ingest.quantities import NS, PER_S, Quantity, events
from cyclometer.ingest.reading import Foreign

NAME = "stress-ng"
DESCRIPTION = "stress-ng --cyclic and --metrics output, and its YAML"

_LINE = re.compile(r"stress-ng: (?:info|metrc|fail|warn): +\[\d+\] (.{1,2000})")
_MEAN = re.compile(r"cyclic:\s+mean: ([\d.]+) ns, mode: (\d+) ns")
_RANGE = re.compile(r"cyclic:\s+min: (\d+) ns, max: (\d+) ns, std\.dev\. ([\d.]+)")
_PERCENTILE = re.compile(r"cyclic:\s+([\d.]+)%:\s+(\d+) ns")
_SCHEDULE = re.compile(r"cyclic: sched (\w{1,20}): (\d+) ns delay, (\d+) samples")
_ROW = re.compile(r"([a-z][\w-]{1,40})\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+.*")
_MORE = re.compile(r"([a-z][\w-]{1,40})\s+([\d.]+) (\S.{2,100}?) \(geo\w+ mean of \d+ instances?\)")
_YAML_NAME = re.compile(r"\s+- stressor: ([a-z][\w-]{1,40})")
_YAML = re.compile(r"\s+([a-z][\w-]{2,100}): ([\d.]{1,40})")
_YAML_HOST = re.compile(r"\s+nodename: (\S{1,100})")
_SKIPPED: tuple[str, ...] = (
    "bogo-ops",
    "bogo-ops-per-second-usr-sys-time",
    "wall-clock-time",
    "user-time",
)
_SKIPPED += ("system-time", "cpu-usage-per-instance", "max-rss")
_BOGO = "bogo-ops count loops of different sizes; the manual says not to compare by them"
_PROGRAMMED = Span("one_way", "timer: programmed expiry", "thread: runs")


@dataclass
class _Cyclic:
    """What --cyclic printed so far."""

    line: int = 0
    about: dict[str, str] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    mode: float | None = None
    quantiles: dict[str, float | None] = field(default_factory=dict)


def detect(head: bytes, _filename: str) -> int:
    if re.search(rb"^stress-ng: (?:info|metrc): +\[", head, re.M):
        return 95
    return 95 if b"stress-ng-version:" in head else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    cyclic, stressor, target = _Cyclic(), "", ""
    for at, line in foreign.lines():
        if match := _LINE.fullmatch(line.strip()):
            cyclic = _read_line(into, cyclic, match[1], at)
        elif match := _YAML_NAME.fullmatch(line):
            stressor = match[1]
        elif match := _YAML_HOST.fullmatch(line):
            target = machine(match[1])
        elif stressor and (match := _YAML.fullmatch(line)):
            _read_yaml(into, stressor, match[1], match[2], at)
    _finish(into, cyclic)
    return into.finish(NAME, target=target)


def _read_line(into: Collector, cyclic: _Cyclic, text: str, at: int) -> _Cyclic:
    """Take one line; returns the cyclic test that goes on after it."""
    if match := _SCHEDULE.fullmatch(text):
        _finish(into, cyclic)
        return _Cyclic(at, {"policy": match[1], "delay_ns": match[2]}, {"n": match[3]})
    if match := _MEAN.fullmatch(text):
        cyclic.figures["mean"], cyclic.mode = match[1], number(match[2])
    elif match := _RANGE.fullmatch(text):
        cyclic.figures |= {"minimum": match[1], "maximum": match[2], "sd": match[3]}
    elif match := _PERCENTILE.fullmatch(text):
        cyclic.quantiles[f"{float(number(match[1]) or 0) / 100:.6g}"] = number(match[2])
    elif match := _ROW.fullmatch(text):
        _bogo(into, match[1], match[6], at)
    elif match := _MORE.fullmatch(text):
        key, unit = _named(match[1], match[3])
        into.add(key, unit, line=at, name=text, mean=match[2])
    elif re.match(r"cyclic:.*\d ns", text):
        into.unread(text, at)
    return cyclic


def _finish(into: Collector, cyclic: _Cyclic) -> None:
    if "mean" in cyclic.figures:
        into.add(
            "timer.wakeup.cyclic",
            NS,
            title="timer expiry until the thread runs",
            params=cyclic.about,
            interval=_PROGRAMMED,
            line=cyclic.line,
            quantiles=cyclic.quantiles,
            extra={"mode": cyclic.mode},
            **cyclic.figures,
        )


def _bogo(into: Collector, stressor: str, rate: str, at: int) -> None:
    into.caution(_BOGO)
    into.add(f"stress_ng.{slug(stressor)}.bogo_ops", PER_S, line=at, name=stressor, mean=rate)


def _named(stressor: str, what: str) -> tuple[str, Quantity]:
    """Key and unit of a figure such as `nanosecs per context switch (pipe method)`.

    MB are 2^20 bytes in stress-ng.
    """
    words = slug(what).split("_")
    unit = events(what)
    if words[:2] == ["nanosecs", "per"]:
        unit, words = NS, words[2:]
    elif words[:3] == ["mb", "per", "sec"]:
        unit, words = PER_S.times(2.0**20), words[3:]
    elif words[1:3] == ["per", "sec"]:
        unit, words = PER_S, [words[0], *words[3:]]
    return f"stress_ng.{slug(stressor)}.{'_'.join(words) or 'rate'}", unit


def _read_yaml(into: Collector, stressor: str, name: str, printed: str, at: int) -> None:
    if name == "bogo-ops-per-second-real-time":
        _bogo(into, stressor, printed, at)
    elif name not in _SKIPPED:
        key, unit = _named(stressor, name.replace("-", " "))
        into.add(key, unit, line=at, name=name, mean=printed)
