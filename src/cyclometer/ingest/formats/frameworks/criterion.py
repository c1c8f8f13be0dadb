# SPDX-License-Identifier: BSD-2-Clause
"""Rust's criterion: its raw.csv, the messages of cargo-criterion, estimates.json, and its text.

raw.csv and the messages hold every sample: the time of `iteration_count` iterations. Of the others
the estimate with its interval is kept; criterion resamples within one process, so the interval says
nothing of the next.
"""

from __future__ import annotations

import csv
import re
from typing import Any

import numpy as np

from cyclometer.bundle.model import Contract
from cyclometer.errors import BadFile
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug, whole
from cyclometer.ingest.quantities import NS, quantity
from cyclometer.ingest.reading import Foreign, json_value

NAME = "criterion"
DESCRIPTION = "criterion (Rust): raw.csv, cargo-criterion messages, estimates.json, or text"

_HEAD = "group,function,value,throughput_num,throughput_type,sample_measured_value,unit"
_TIME = re.compile(r"(?:(\S.{0,200}?)\s+)?time:\s+\[([\d.]+) (\S+) ([\d.]+) (\S+) ([\d.]+) (\S+)\]")
_RUNNING = re.compile(r"Benchmarking (\S.{0,200}?)(?:: .*)?")


def detect(head: bytes, filename: str) -> int:
    if head.startswith(_HEAD.encode()) or b'"reason":"benchmark-complete"' in head:
        return 95
    if b'"confidence_interval"' in head and b'"point_estimate"' in head:
        return 90 if filename.endswith("estimates.json") else 85
    return 90 if re.search(rb"^.{0,200}?\s*time: +\[[\d.]+ \S+ [\d.]+ \S+ ", head, re.M) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    if foreign.text.startswith(_HEAD):
        _read_raw(into)
    elif foreign.text.lstrip().startswith('{"mean"') or '"reason"' not in foreign.text[:10_000]:
        (_read_estimates if foreign.text.lstrip().startswith("{") else _read_text)(into)
    else:
        _read_messages(into)
    return into.finish(NAME, by_lines=False)


def _samples(into: Collector, name: str, values: list[float], turns: list[int], unit: str) -> None:
    """Add the samples of one benchmark: times of whole samples in `unit`."""
    known = quantity(unit)
    into.count_values(len(values))
    into.figure(
        Contract(_key(name), name[:200], correction="none"),
        into.settings.clock(known.clock.name, known.clock.unit),
        "accumulated",
        name=name,
        values=np.array(values) * known.factor,
        turns=np.array(turns, np.int64),
    )


def _key(name: str) -> str:
    return f"criterion.{'.'.join(slug(part) for part in name.split('/') if part)}"[:200]


def _read_raw(into: Collector) -> None:
    """Lines of one benchmark are its samples in order."""
    found: dict[tuple[str, str], tuple[list[float], list[int]]] = {}
    for row in csv.DictReader(line for _, line in into.foreign.lines()):
        value, turns = number(row.get("sample_measured_value")), whole(row.get("iteration_count"))
        if value is None or turns is None or turns < 1:
            into.unread(str(row)[:200], 0)
            continue
        name = "/".join(filter(None, (row.get("group"), row.get("function"), row.get("value"))))
        values, counts = found.setdefault((name, str(row.get("unit"))), ([], []))
        values.append(value)
        counts.append(turns)
    for (name, unit), (values, counts) in found.items():
        _samples(into, name, values, counts, unit)


def _read_messages(into: Collector) -> None:
    for at, line in into.foreign.lines(1 << 20):
        if not line.startswith("{"):
            continue
        try:
            message = json_value(line, f"{into.foreign.name} line {at}")
        except BadFile:
            into.unread(line, at)
            continue
        if message.get("reason") != "benchmark-complete":
            continue
        values = [number(value) for value in _listed(message.get("measured_values"))]
        turns = [whole(count) for count in _listed(message.get("iteration_count"))]
        if not values or len(values) != len(turns) or None in values or not all(turns):
            into.unread(line, at)
            continue
        good = [value for value in values if value is not None]
        counts = [turn for turn in turns if turn is not None]
        _samples(into, str(message.get("id", "unnamed")), good, counts, str(message.get("unit")))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _read_estimates(into: Collector) -> None:
    """estimates.json does not hold the name of its benchmark; the file's name stands for it."""
    content = json_value(into.foreign.text, into.foreign.name)
    known = {
        name: number(one.get("point_estimate"))
        for name, one in (content.items() if isinstance(content, dict) else ())
        if isinstance(one, dict)
    }
    name = into.settings.text("title", into.foreign.name.rpartition(".")[0])
    if known.get("mean") is not None:
        into.add(
            _key(name),
            NS,
            title=name,
            mean=known["mean"],
            median=known.get("median"),
            extra={"slope": known.get("slope"), "sd_of_samples": known.get("std_dev")},
        )


def _read_text(into: Collector) -> None:
    """`NAME time: [low estimate high]`; a long name stands on the line before."""
    name = ""
    for at, line in into.foreign.lines():
        text = line.strip()
        if match := _TIME.fullmatch(text):
            name = match[1] or name
            low, estimate, high = (
                (number(match[i]) or 0.0) * quantity(match[i + 1]).factor for i in (2, 4, 6)
            )
            extra = {"low_ns": low, "high_ns": high}
            into.add(_key(name), NS, title=name, line=at, name=name, mean=estimate, extra=extra)
        elif match := _RUNNING.fullmatch(text):
            name = match[1]
        elif text and not text[0].isdigit() and ":" not in text:
            name = text
