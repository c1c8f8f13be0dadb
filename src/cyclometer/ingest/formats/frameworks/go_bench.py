# SPDX-License-Identifier: BSD-2-Clause
"""Go's benchmark format (golang.org/design/14313-benchmark-format): `go test -bench`, and what
other tools print for benchstat, ours among them.

A line is a run of its benchmark; each unit on it is a row. Lines of configuration count for the
benchmarks that follow.
"""

from __future__ import annotations

import re

from cyclometer.ingest.parsed import Collector, Parsed, Settings, slug, whole
from cyclometer.ingest.quantities import PER_S, Quantity, events, quantity
from cyclometer.ingest.reading import Foreign

NAME = "go-bench"
DESCRIPTION = "Go benchmark format, as benchstat reads it"

_CONFIGURATION = re.compile(r"([a-z][\w-]{0,40}): (\S.{0,200})")
_UNIT = re.compile(r"Unit (\S{1,40}) (.{1,200})")
_RESULT = re.compile(r"Benchmark(\S{1,200})\s+(\d{1,18})((?:\s+\S+\s+\S+)+)\s*")
_PROCESSORS = re.compile(r"(.+?)-(\d{1,4})")
_OPTIONS = ("goos", "goarch", "pkg", "commit", "branch", "clock")


def detect(head: bytes, _filename: str) -> int:
    return 93 if re.search(rb"^Benchmark\S*[ \t]+\d+[ \t]+[\d.e+-]+[ \t]+\S+/", head, re.M) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    configuration: dict[str, str] = {}
    better: dict[str, str] = {}
    targets: set[str] = set()
    for at, line in foreign.lines():
        text = line.strip()
        if match := _RESULT.fullmatch(text):
            _read(into, match, configuration, better, at)
        elif match := _UNIT.fullmatch(text):
            better[match[1]] = "higher" if "better=higher" in match[2] else "lower"
        elif match := _CONFIGURATION.fullmatch(text):
            if match[1] in ("cpu", "target"):
                targets.add(match[2].strip())
            elif match[1] in _OPTIONS:
                configuration = configuration | {match[1]: match[2].strip()}
        elif text.startswith("Benchmark") and re.search(r"\d\s+\S+/op", text):
            into.unread(text, at)
    return into.finish(NAME, target=", ".join(sorted(targets)))


def _read(
    into: Collector,
    match: re.Match[str],
    configuration: dict[str, str],
    better: dict[str, str],
    at: int,
) -> None:
    name, params = match[1].strip("/"), {}
    if split := _PROCESSORS.fullmatch(name):
        name, params = split[1], {"gomaxprocs": split[2]}
    words = match[3].split()
    key = ".".join(slug(part) for part in name.split("/") if part)
    for printed, unit in zip(words[::2], words[1::2], strict=True):
        ending = "" if unit in ("ns/op", "cycles/op", "ticks/op", "instructions/op") else slug(unit)
        into.add(
            ".".join(filter(None, ("go", key, ending))),
            _quantity(unit, better.get(unit)),
            title=name,
            params=params,
            configuration=configuration,
            line=at,
            name=name,
            mean=printed,
            extra={"iterations": whole(match[2])},
        )


def _quantity(unit: str, better: str | None) -> Quantity:
    """`ns/op` is a time of one operation, `B/op` a count of bytes, `MB/s` a rate."""
    thing, slash, per = unit.partition("/")
    if slash and per == "op":
        known = quantity(thing) if thing not in ("B", "allocs") else events(unit)
    elif unit == "per_s":
        known = PER_S
    else:
        known = quantity(unit)
    return known if better in (None, known.better) else Quantity(known.clock, known.factor, better)
