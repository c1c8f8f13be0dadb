# SPDX-License-Identifier: BSD-2-Clause
"""What Zephyr's twister recorded: recording.csv of a build folder, and twister.json with all
platforms.

A record is a dictionary whose names come from the benchmark's own regular expression; padding
blanks are part of it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from typing import Any

from cyclometer.bundle.model import Clock, Contract, Summary
from cyclometer.errors import BadFile
from cyclometer.ingest.formats.rtos.zephyr_keys import (
    SUBTRACTED,
    ClockScale,
    latency_contract,
    scale,
)
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug, whole
from cyclometer.ingest.reading import Foreign, json_value

NAME = "zephyr-twister"
DESCRIPTION = "Zephyr twister records: recording.csv or twister.json"

_MEAN = ("cycles", "mean", "avg")
_QUANTILES = {"p50": "0.5", "p90": "0.9", "p99": "0.99", "p999": "0.999", "p9999": "0.9999"}
_PLAIN = {"min": "minimum", "max": "maximum", "stddev": "sd"}


def detect(head: bytes, _filename: str) -> int:
    if b'"testsuites"' in head and b'"platform"' in head:
        return 90
    first = head.split(b"\n", 1)[0].lower()
    if b"metric" in first and b"," in first:
        return 85 if b"cycles" in first or b"samples" in first else 40
    return 80 if b"total_time_period" in first else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    is_json = foreign.text.lstrip().startswith("{")
    if is_json:
        _read_json(into)
    else:
        _read_csv(into)
    return into.finish(NAME, by_lines=not is_json)


def _read_csv(into: Collector) -> None:
    its = scale(into.settings)
    try:
        for record in csv.DictReader(line for _, line in into.foreign.lines()):
            _read_record(into, record, its, {}, 0)
    except csv.Error as error:
        raise BadFile(f"{into.foreign.name} is not valid CSV ({error}); check its quotes") from None


def _read_json(into: Collector) -> None:
    content = json_value(into.foreign.text, into.foreign.name)
    suites = content.get("testsuites") if isinstance(content, dict) else None
    runs: dict[str, int] = {}
    for suite in suites if isinstance(suites, list) else []:
        if not isinstance(suite, dict):
            into.unread(str(suite), 0)
            continue
        board, scenario = str(suite.get("platform", ""))[:80], str(suite.get("name", ""))[:200]
        configuration = {
            name: value for name, value in (("board", board), ("scenario", scenario)) if value
        }
        run = runs.get(str(configuration), 0)
        runs[str(configuration)] = run + 1
        records = list(_records(suite))
        if not records and str(suite.get("status", "")).lower() in ("failed", "error"):
            into.problem("failed", f"{scenario} on {board} is {suite['status']} and has no record")
        for record in records:
            _read_record(into, record, scale(into.settings, board), configuration, run)


def _records(suite: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The suite's records one by one; a merged one, whose members are lists, comes apart again."""
    listed = suite.get("recording")
    for record in listed if isinstance(listed, list) else [listed] if listed else []:
        if not isinstance(record, dict):
            continue
        lengths = {len(value) for value in record.values() if isinstance(value, list)}
        if not lengths:
            yield record
        for index in range(min(lengths, default=0)):
            yield {
                name: value[index] if isinstance(value, list) else value
                for name, value in record.items()
            }


def _read_record(
    into: Collector,
    record: Mapping[str, Any],
    its: ClockScale,
    configuration: dict[str, str],
    run: int,
) -> None:
    cells = {
        str(name).strip().lower(): value for name, value in record.items() if isinstance(name, str)
    }
    line = 0
    total = number(cells.get("total_time_period"))
    if total is not None:
        contract = Contract(
            "thread_metric.total_time_period", "operations in one period", correction="none"
        )
        clock = Clock("operations", "events")
        into.figure(
            contract,
            clock,
            configuration=configuration,
            better="higher",
            run=run,
            summary=Summary(0, mean=total),
        )
        return
    metric = str(cells.get("metric") or "").strip()[:120]
    summary = _summary(cells, its)
    if not metric or summary is None:
        into.unread(str(dict(record)), line)
        return
    suite = cells.get("suite")
    if isinstance(suite, str) and suite.strip():
        contract = Contract(
            f"{slug(suite)}.{metric}", f"{suite.strip()}: {metric}"[:200], correction=SUBTRACTED
        )
    else:
        contract = latency_contract(metric, str(cells.get("description") or "").strip()[:200])
    into.figure(
        contract, its.clock, name=metric, configuration=configuration, run=run, summary=summary
    )


def _summary(cells: Mapping[str, Any], its: ClockScale) -> Summary | None:
    """Statistics of a record; None if none of its cells is one."""
    ns = number(cells.get("nanoseconds"))
    mean = next((value for name in _MEAN if (value := number(cells.get(name))) is not None), None)
    plain: dict[str, Any] = {
        field: its.value(v)
        for name, field in _PLAIN.items()
        if (v := number(cells.get(name))) is not None
    }
    quantiles = {
        p: its.value(v)
        for name, p in _QUANTILES.items()
        if (v := number(cells.get(name))) is not None
    }
    if mean is None and not plain and not quantiles:
        return None
    return Summary(
        0,
        n=whole(cells.get("samples")),
        mean=None if mean is None else its.value(mean, ns),
        median=quantiles.get("0.5"),
        quantiles=quantiles,
        extra={} if ns is None else {"ns": ns},
        **plain,
    )
