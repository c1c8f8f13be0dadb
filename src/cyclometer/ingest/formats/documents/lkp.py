# SPDX-License-Identifier: BSD-2-Clause
"""The tables of the kernel test robot's mails (LKP, 0-day): a base commit beside one or more
others, with the relative standard deviation of several runs.

A quoted mail, with > before its lines, is read as well. The words for better and worse are not in
the table: a metric that names a rate or a throughput is better when higher, a count of something is
a count.
"""

from __future__ import annotations

import re

from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.quantities import PER_S, Quantity, events, quantity
from cyclometer.ingest.reading import Foreign

NAME = "lkp"
DESCRIPTION = "tables of the kernel test robot's mails"

_QUOTED = re.compile(r"^(?:> ?)*")
_COMMITS = re.compile(r"([0-9a-f]{10,40}|v\d\S{1,20})((?:\s+(?:[0-9a-f]{10,40}|v\d\S{1,20}))+)")
_RULE = re.compile(r"-{8,}(?: +-{8,})+")
_HEAD = re.compile(r"%stddev(?:\s+%change\s+%stddev)+")
_CELL = r"([\d.]+(?:e[+-]\d+)?)(?: ±\s*(\d+)%)?"
_CHANGE = r"\s+[+-][\d.]+%?\s+"
_FIRST = re.compile(_CELL)
_NEXT = re.compile(_CHANGE + _CELL)
_NAME = re.compile(r"\s+([\w-]+\.\S{1,160})")
_PARAMETERS = re.compile(r"[\w-]+(?:/[\w-]+){3,}:")
_HIGHER = re.compile(r"throughput|per_sec|/s$|ops$|bogo|score|rps|iops|_per_second", re.I)


def detect(head: bytes, _filename: str) -> int:
    return 95 if re.search(rb"%stddev +%change +%stddev", head) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """A commit is a configuration, so that two of them can be compared with
    `--across commit=A,B`.
    """
    into = Collector(foreign, settings)
    commits: list[str] = []
    suite: dict[str, str] = {}
    names: list[str] = []
    within = False
    for at, line in foreign.lines():
        text = _QUOTED.sub("", line).strip()
        if names:
            values = text.split("/")
            suite = dict(zip(names, values, strict=False)) if len(values) >= len(names) else {}
            names = []
        elif _PARAMETERS.fullmatch(text):
            names = text.rstrip(":").split("/")
        elif _COMMITS.fullmatch(text):
            commits, within = text.split(), False
        elif _HEAD.fullmatch(text):
            within = True
        elif within and text and not set(text) <= set("\\| "):
            within = _row(into, text, commits, suite, at)
    return into.finish(NAME, target=suite.get("tbox_group", ""))


def _row(into: Collector, text: str, commits: list[str], suite: dict[str, str], at: int) -> bool:
    """Add a line of the table, one figure per commit; False if the table has ended."""
    cells, position = [], 0
    match = _FIRST.match(text)
    while match:
        cells.append((match[1], match[2]))
        position = match.end()
        match = _NEXT.match(text, position)
    name = _NAME.fullmatch(text, position)
    if name is None or len(cells) < 2:
        if re.match(r"[\d.]+ .*[+-][\d.]+%", text):
            into.unread(text, at)
        return bool(cells) or not re.match(r"[A-Za-z*=]", text)
    for (printed, spread), commit in zip(cells, [*commits, *("",) * len(cells)], strict=False):
        value = number(printed) or 0.0
        error = number(spread)
        into.add(
            ".".join(["lkp", *(slug(part) for part in name[1].split(".") if part)]),
            _unit(name[1]),
            title=name[1],
            configuration={"commit": commit[:40]} | _options(suite),
            line=at,
            name=name[1],
            mean=value,
            sd=None if error is None else value * error / 100,
        )
    return True


def _options(suite: dict[str, str]) -> dict[str, str]:
    """Parameters of the job that say what ran, not on what."""
    wanted = ("testcase", "test", "nr_threads", "nr_task", "mode", "cpufreq_governor", "compiler")
    return {name: value[:80] for name, value in suite.items() if name in wanted}


def _unit(name: str) -> Quantity:
    last = name.rpartition(".")[2]
    if re.search(r"(?:^|[._])(?:ms|usec|nsec)(?:$|[./_])", name):
        return quantity("usec" if "usec" in name else "nsec" if "nsec" in name else "ms")
    return PER_S if _HIGHER.search(name) else events(last)
