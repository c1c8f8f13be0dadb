# SPDX-License-Identifier: BSD-2-Clause
"""sel4bench: its JSON, bare or in a console log, in every shape it has had.

Means may be rounded or not, `Iteration` may be there or not, raw results may be there, missing or
filled with zeros; a console log may hold boot noise, several blocks, garbled characters and a last
block that was cut off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import Clock, Summary
from cyclometer.errors import BadFile
from cyclometer.ingest.formats.sel4 import sel4_keys
from cyclometer.ingest.parsed import NO_VALUES, Collector, Parsed, Settings, number, whole
from cyclometer.ingest.reading import Foreign, json_value

NAME = "sel4bench"
DESCRIPTION = "sel4bench results: JSON, or a console log that holds them"

_BEGIN = "JSON OUTPUT"
_BENCHMARK = re.compile(r'\{\s*"Benchmark"\s*:')
# what firmware, boot loader and ELF-loader call the machine, the most exact first
_TARGETS = tuple(
    re.compile(rf"^{words} *(\S[^\n]{{0,80}}?)\s*$", re.M)
    for words in (r"Platform Name\s*:", "Board:", "Model:", "CPU:", r"ELF-loader started on CPU:")
)
_MCS = re.compile(r"\bKernelIsMCS\b[^\n=]*=\s*(?:ON|1|TRUE)\b|-DMCS=(?:ON|1|TRUE)\b", re.I)
_FILE_NAME = re.compile(
    # a part with a digit, as of ODROID_C2, belongs to the platform
    r"(?P<platform>[A-Za-z0-9]+?(?:_[A-Za-z]*\d[A-Za-z0-9]*)*?)(?P<options>(?:_[A-Z]+)*)"
    r"_(?P<bits>32|64)(?P<variant>(?:_\w+)?)\.jsonl?"
)
_STATISTICS = frozenset(("Min", "Max", "Mean", "Stddev", "Variance", "Mode", "Median"))
_STATISTICS |= {"1st quantile", "3rd quantile", "Samples", "Raw results"}
_ROW = re.compile(r'\{\s*"(?!Benchmark)')
_MAX_ROW_CHARS = 200_000
_MAX_FAILURES = 1_000  # bounds the time that a damaged block can cost
_PARAMETERS = ("Prio", "Event", "Waiter")


def detect(head: bytes, _filename: str) -> int:
    if b"JSON OUTPUT" in head or (b'"Benchmark"' in head and b'"Results"' in head):
        return 95
    if b"seL4" in head and b"Benchmark" in head and b"==============" in head:
        return 60
    return 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """Every block is a run; an iteration of the suite inside a block is a visit."""
    into = Collector(foreign, settings)
    configuration = file_configuration(foreign.name)
    boot_noise = foreign.text[: max(foreign.text.find(_BEGIN), 0)]
    target = _machine(boot_noise) or configuration.get("platform", "")
    if _MCS.search(boot_noise):
        configuration["mcs"] = "on"
    clock = board_clock(settings, target)
    blocks = list(_blocks(foreign, into))
    if not blocks:
        raise BadFile(
            f"{foreign.name} holds no sel4bench results; the run may have died before it printed "
            "any"
        )
    for run, (line, benchmarks) in enumerate(blocks):
        _read_block(into, benchmarks, run, line, clock, configuration)
    return into.finish(
        NAME,
        target=target,
        by_lines=False,
    )


def _machine(boot_noise: str) -> str:
    """What the lines before the results call the machine; empty if nothing does."""
    found = (words.search(boot_noise) for words in _TARGETS)
    return next((match[1] for match in found if match), "")


def file_configuration(filename: str) -> dict[str, str]:
    """Build options that the project's own file names carry: TX1_MCS_64.json is {platform: TX1,
    mcs: on, bits: 64}.
    """
    match = _FILE_NAME.fullmatch(filename)
    if not match:
        return {}
    options = {option.lower(): "on" for option in match["options"].split("_") if option}
    variant = {"variant": match["variant"][1:]} if match["variant"] else {}
    return {"platform": match["platform"], "bits": match["bits"]} | options | variant


def board_clock(settings: Settings, platform: str) -> Clock:
    """sel4bench reads core cycles on Arm and RISC-V and the time-stamp counter, which is not a core
    clock, on x86.
    """
    board = settings.text("board", platform).lower()
    if any(name in board for name in ("pc99", "x86", "ia32", "haswell", "skylake")):
        return settings.clock("TSC", "ticks")
    return settings.clock("cycle counter", "cycles")


def _blocks(foreign: Foreign, into: Collector) -> Iterator[tuple[int, list[Any]]]:
    """(first line, benchmarks) of every block that holds any."""
    text = foreign.text
    if text.lstrip()[:1] in ("[", "{") and _BEGIN not in text:
        yield 1, _decode_block(text, 1, into)
        return
    for line, start, end in _spans(text, into):
        # One line when sent: a line feed inside comes from a terminal that wrapped it.
        benchmarks = _decode_block(text[start:end].replace("\n", ""), line, into)
        if benchmarks:
            yield line, benchmarks


def _spans(text: str, into: Collector) -> Iterator[tuple[int, int, int]]:
    """(line, start, end) of what stands between the markers, an unended block reaching to the next
    or to the end.
    """
    line, counted, start, at = 1, 0, -1, 0
    while at >= 0:
        at = text.find(_BEGIN, at)
        here = len(text) if at < 0 else at
        is_end = text.startswith("END ", max(here - 4, 0), here)
        if start >= 0 and text[start:here].strip():
            if not is_end:
                into.problem(
                    "damaged", "the block has no END JSON OUTPUT; what came before it is used", line
                )
            yield line, start, here - 4 * is_end
        if at >= 0:
            at += len(_BEGIN)
            start = -1 if is_end else at
            line, counted = line + text.count("\n", counted, at), at


def _decode_block(text: str, line: int, into: Collector) -> list[Any]:
    try:
        value = json_value(text, f"{into.foreign.name} line {line}")
    except BadFile as error:
        whole_ones = list(_salvage(text))
        if not whole_ones:
            raise
        into.problem(
            "damaged", f"{error}; {len(whole_ones)} benchmarks that came intact are used", line
        )
        return whole_ones
    if isinstance(value, dict):
        return [value]
    return value if isinstance(value, list) else []


def _salvage(text: str) -> Iterator[Any]:
    """Benchmarks of a damaged block: those that are whole, and of the others the rows that are."""
    decoder = json.JSONDecoder()
    starts = [match.start() for match in _BENCHMARK.finditer(text)]
    failures = 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
        part = text[start:end]
        try:
            yield decoder.raw_decode(part)[0]
        except (ValueError, RecursionError):
            name = re.match(r'\{\s*"Benchmark"\s*:\s*"([^"\n]{1,200})"', part)
            rows, failed = _salvage_rows(part, decoder, _MAX_FAILURES - failures)
            failures += failed
            if name and rows:
                yield {"Benchmark": name[1], "Results": rows}


def _salvage_rows(part: str, decoder: json.JSONDecoder, attempts: int) -> tuple[list[Any], int]:
    """The rows that are whole, and how many were not; gives up after so many `attempts` that
    failed.
    """
    rows: list[Any] = []
    failed = at = 0
    while failed < attempts and (row := _ROW.search(part, at)):
        piece = part[row.start() : row.start() + _MAX_ROW_CHARS]
        try:
            value, length = decoder.raw_decode(piece)
        except (ValueError, RecursionError):
            failed, at = failed + 1, row.end()
        else:
            rows.append(value)
            at = row.start() + length
    return rows, failed


def _read_block(
    into: Collector,
    benchmarks: list[Any],
    run: int,
    line: int,
    clock: Clock,
    configuration: dict[str, str],
) -> None:
    names = [_name(item) for item in benchmarks]
    for index, item in enumerate(benchmarks):
        rows = item.get("Results") if isinstance(item, dict) else None
        if not names[index] or not isinstance(rows, list):
            into.problem(
                "unread", f"element {index} of the results has no Benchmark and Results", line
            )
            continue
        # Two apps print a row of this name; the one that measures the scheduler goes on with these.
        scheduler = names[index : index + 2] == [
            "Signal overhead",
            "Signal to thread of higher prio",
        ]
        name = "Scheduler signal overhead" if scheduler else names[index]
        visit = whole(item.get("Iteration"))
        for row in rows:
            _read_row(
                into, name, row, run, -1 if visit is None else visit, line, clock, configuration
            )


def _name(item: Any) -> str:
    name = item.get("Benchmark") if isinstance(item, dict) else None
    return name if isinstance(name, str) else ""


def _read_row(
    into: Collector,
    name: str,
    row: Any,
    run: int,
    visit: int,
    line: int,
    clock: Clock,
    configuration: dict[str, str],
) -> None:
    mean = number(row.get("Mean")) if isinstance(row, dict) else None
    if mean is None:
        into.problem("unread", f"a row of {name[:80]!r} has no Mean", line)
        return
    known = _known(name, row)
    values = _raw(row, mean, name, into, line)
    into.figure(
        known.contract,
        _unit_clock(clock, known.unit),
        "direct" if len(values) else "reported",
        line=line,
        name=name,
        configuration=configuration,
        better=known.better,
        run=run,
        visit=visit,
        summary=_summary(row, mean),
        values=values,
    )


def _known(name: str, row: dict[str, Any]) -> sel4_keys.KnownRow:
    if name.startswith("One way IPC"):
        function, words = row.get("Function"), whole(row.get("IPC length"))
        if isinstance(function, str) and words is not None:
            priorities = (str(row.get("Client Prio", ""))[:9], str(row.get("Server Prio", ""))[:9])
            return sel4_keys.ipc(function, bool(row.get("Same vspace?")), words, priorities)
    if name == "Mapping Benchmark":
        pages = whole(row.get("Num of Page Mapped"))
        if pages is not None:
            return sel4_keys.page_mapping(str(row.get("Phase"))[:80], pages)
    if name == "SMP Benchmark":
        return sel4_keys.named(
            name, f"delay_{str(row.get('Cycles'))[:20]}/cores_{str(row.get('Cores'))[:20]}"
        )
    if name.startswith("IRQ path") and isinstance(row.get("Type"), str):
        return sel4_keys.named(row["Type"])
    for parameter in _PARAMETERS:
        if parameter in row:
            return sel4_keys.named(name, str(row[parameter])[:80])
    return sel4_keys.named(
        name, "/".join(f"{k}_{v}"[:80] for k, v in row.items() if k not in _STATISTICS)
    )


def _summary(row: dict[str, Any], mean: float) -> Summary:
    n = whole(row.get("Samples"))
    first, third, mode = (
        number(row.get("1st quantile")),
        number(row.get("3rd quantile")),
        number(row.get("Mode")),
    )
    return Summary(
        row=0,
        n=n,
        mean=mean,
        sd=number(row.get("Stddev")),
        minimum=number(row.get("Min")),
        maximum=number(row.get("Max")),
        median=number(row.get("Median")),
        quantiles={} if first is None or third is None else {"0.25": first, "0.75": third},
        status="failed" if n == 0 else "ok",
        note="zeros without a sample: the tool gave this row up" if n == 0 else "",
        extra={} if mode is None else {"mode": mode},
    )


def _raw(
    row: dict[str, Any], mean: float, name: str, into: Collector, line: int
) -> NDArray[np.float64]:
    """The raw results; none where the tool filled their places with zeros because it had kept sums
    only.
    """
    listed = row.get("Raw results")
    if not listed:
        return NO_VALUES
    try:
        values = np.array(listed, np.float64)
    except (ValueError, TypeError, OverflowError):
        values = NO_VALUES
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        into.problem(
            "unread", f"the raw results of a row of {name[:80]!r} are not all numbers", line
        )
        return NO_VALUES
    return NO_VALUES if mean != 0 and values[0] == 0 and not values.any() else values


@lru_cache(maxsize=256)
def _unit_clock(clock: Clock, unit: str) -> Clock:
    return Clock(f"{clock.name}: {unit}", unit) if unit else clock
