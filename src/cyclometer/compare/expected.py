# SPDX-License-Identifier: BSD-2-Clause
"""Counts that a file expects, for exact clocks: one reviewed number per row, wrong on either side.

The file is TOML: a table for each target, unit and configuration, a line for each circle. A table
`tolerance` maps patterns of keys to shares, as "timer.*" = "1%".
"""

from __future__ import annotations

import fnmatch
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cyclometer.bundle.model import Bundle
from cyclometer.compare.pairing import VERSIONS, ComparedCircle, side
from cyclometer.errors import BadFile, NothingMeasured
from cyclometer.units import percent

TOLERANCE = "tolerance"
_DIGITS = 6  # of a latency that is not a whole number
_HEAD = """\
# Latencies of a turn on exact clocks. A review sees what a change costs, line by line;
# `cyclometer gate --expect FILE --update BUNDLE` writes them.
"""

Tables = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Expected:
    """The tables of a file, and its tolerances: pattern -> share."""

    tables: Tables
    tolerance: dict[str, float]


@dataclass(frozen=True)
class Verdict:
    """One row against its line. `verdict`: same, changed, invalid, gone or new."""

    table: str
    key: str
    verdict: str
    expected: float | None = None
    measured: float | None = None
    reason: str = ""
    unit: str = ""

    @property
    def change(self) -> float | None:
        """(measured - expected) / expected, a fraction; None if one is missing, or 0 expected."""
        if not self.expected or self.measured is None:
            return None
        return self.measured / self.expected - 1


def read(path: Path) -> Expected:
    """Raises BadFile if the file cannot be read or holds anything but such tables."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(
            f"{path} cannot be read ({error.strerror}); make it with `cyclometer gate --expect "
            f"{path} --update BUNDLE`"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFile(f"{path} is not TOML ({error}); restore it or --update it") from error
    shares = content.pop(TOLERANCE, {})
    for name, table in content.items():
        # by exact type, for isinstance() takes `true` for an int
        if not isinstance(table, dict) or not all(type(v) in (int, float) for v in table.values()):
            raise BadFile(f"{path}: {name!r} is not a table of numbers; restore it or --update it")
    try:
        tolerance = {pattern: percent(share) for pattern, share in shares.items()}
    except (ValueError, AttributeError) as error:
        raise BadFile(f'{path}: {TOLERANCE} maps patterns to shares as "1%" ({error})') from error
    return Expected(content, tolerance)


def written(expected: Expected, measured: Tables) -> str:
    """The file's text with what was measured in the place of what it had; nothing is removed."""
    tables = {name: {**rows} for name, rows in expected.tables.items()}
    for name, rows in measured.items():
        tables.setdefault(name, {}).update(rows)
    lines = [_HEAD]
    if expected.tolerance:
        shares = {p: f"{100 * share:g}%" for p, share in expected.tolerance.items()}
        lines += [f"[{TOLERANCE}]", *(f"{_text(p)} = {_text(s)}" for p, s in shares.items()), ""]
    for name in sorted(tables):
        lines.append(f"[{_text(name)}]")
        lines += [f"{_text(key)} = {_number(v)}" for key, v in sorted(tables[name].items())]
        lines.append("")
    return "\n".join(lines)


def judge(expected: Expected, bundle: Bundle) -> list[Verdict]:
    """Every exact row of the bundle against its line, and every line of the bundle's tables that
    has no row. Raises NothingMeasured if no clock of the bundle is exact.
    """
    found = []
    for table, circles in _exact(bundle).items():
        lines = expected.tables.get(table, {})
        found += [
            _judged(table, key, circle, lines.get(key), expected.tolerance)
            for key, circle in circles.items()
        ]
        found += [
            Verdict(table, key, "gone", value) for key, value in lines.items() if key not in circles
        ]
    return found


def latencies(bundle: Bundle) -> Tables:
    """The valid latencies of the bundle's exact rows, as a file holds them."""
    return {
        table: {key: value for key, c in circles.items() if (value := _latency(c)) is not None}
        for table, circles in _exact(bundle).items()
    }


def _judged(
    table: str, key: str, circle: ComparedCircle, line: float | None, tolerance: Mapping[str, float]
) -> Verdict:
    value = _latency(circle)
    if value is None:
        return Verdict(table, key, "invalid", line, None, circle.estimate.reason)
    if line is None:
        return Verdict(table, key, "new", None, value)
    share = max((s for p, s in tolerance.items() if fnmatch.fnmatchcase(key, p)), default=0.0)
    if abs(value - line) <= max(share * abs(line), 0.5 * 10.0**-_DIGITS):
        return Verdict(table, key, "same", line, value)
    return Verdict(table, key, "changed", line, value, unit=circle.estimate.clock.unit)


def _exact(bundle: Bundle) -> dict[str, dict[str, ComparedCircle]]:
    """Table -> key -> circle. Namesakes within a table are numbered in the bundle's order."""
    tables: dict[str, dict[str, ComparedCircle]] = {}
    for circle in side([bundle]).circles:
        if not circle.estimate.clock.exact:
            continue
        rows = tables.setdefault(_table(bundle, circle), {})
        key, number = circle.key, 1
        while key in rows:
            number += 1
            key = f"{circle.key} #{number}"
        rows[key] = circle
    if not tables:
        raise NothingMeasured(
            f"{bundle.path or 'the bundle'} has no row on an exact clock, and only exact "
            "figures can be expected; compare it with a bundle"
        )
    return tables


def _table(bundle: Bundle, circle: ComparedCircle) -> str:
    options = circle.estimate.configuration.items()
    content = " ".join(f"{n}={v}" for n, v in sorted(options) if n not in VERSIONS)
    return f"{bundle.identity.target} {circle.estimate.clock.unit} {content}".strip()


def _latency(circle: ComparedCircle) -> float | None:
    e = circle.estimate
    return round(e.latency.value, _DIGITS) if e.valid and e.latency is not None else None


def _text(name: str) -> str:
    return json.dumps(name)  # of printable text, a JSON string is one of TOML


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(value)
