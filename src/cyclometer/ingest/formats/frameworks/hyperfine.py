# SPDX-License-Identifier: BSD-2-Clause
"""hyperfine's --export-json (every time of every command) and --export-csv, in seconds."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import Any

from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.quantities import SECONDS
from cyclometer.ingest.reading import Foreign, json_value

NAME = "hyperfine"
DESCRIPTION = "hyperfine --export-json and --export-csv"

_HEAD = "command,mean,stddev,median,user,system,min,max"


def detect(head: bytes, _filename: str) -> int:
    if head.startswith(_HEAD.encode()):
        return 95
    return 92 if b'"results"' in head and b'"command"' in head and b'"stddev"' in head else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """A command and its parameters are a row; its times are the passes of one run."""
    into = Collector(foreign, settings)
    is_json = not foreign.text.startswith(_HEAD)
    for at, result in enumerate(_from_json(foreign) if is_json else _from_csv(foreign), 2):
        if not isinstance(result, dict) or number(result.get("mean")) is None:
            into.unread(str(result)[:200], 0 if is_json else at)
            continue
        _add(into, result, 0 if is_json else at)
    return into.finish(NAME, by_lines=not is_json)


def _from_json(foreign: Foreign) -> list[Any]:
    content = json_value(foreign.text, foreign.name)
    results = content.get("results") if isinstance(content, dict) else None
    return results if isinstance(results, list) else []


def _from_csv(foreign: Foreign) -> list[Any]:
    return list(csv.DictReader(line for _, line in foreign.lines()))


def _add(into: Collector, result: Mapping[str, Any], at: int) -> None:
    command = str(result.get("command", ""))[:400]
    parameters = result.get("parameters")
    params = {
        str(name)[:80]: str(value)[:80]
        for name, value in (parameters.items() if isinstance(parameters, dict) else ())
    }
    params |= {
        name[10:90]: str(value)[:80]
        for name, value in result.items()
        if isinstance(name, str) and name.startswith("parameter_")
    }
    times = result.get("times")
    values = [number(time) for time in times] if isinstance(times, list) else []
    codes = result.get("exit_codes")
    failed = isinstance(codes, list) and any(code not in (0, None) for code in codes)
    into.add(
        f"command.{slug(command)}",
        SECONDS,
        title=command,
        params={"command": command} | params,
        line=at,
        name=command,
        n=len(values) or None,
        mean=number(result["mean"]),
        sd=number(result.get("stddev")),
        minimum=number(result.get("min")),
        maximum=number(result.get("max")),
        median=number(result.get("median")),
        extra={f"{name}_s": number(result.get(name)) for name in ("user", "system")},
        values=[value for value in values if value is not None],
        status="failed" if failed else "ok",
        note="the command ended with an error" if failed else "",
    )
