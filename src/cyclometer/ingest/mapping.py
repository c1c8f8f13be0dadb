# SPDX-License-Identifier: BSD-2-Clause
"""Any CSV, TSV, JSON or JSONL file, read as a file of TOML says: where a row's key, value, unit
and run stand.

A column is named by its heading, or in JSON by a path: member names and list indices with dots
between them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from cyclometer.errors import BadFile
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number
from cyclometer.ingest.quantities import Quantity, quantity
from cyclometer.ingest.reading import MAX_JSON_BYTES, Foreign, json_value

_MAX_MAP_BYTES = 64 << 10
_EVERY = "*"  # in a path: every element of a list, every member of an object


class ColumnMap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Columns, or paths, of what makes a row. Exactly one of `unit`, a unit, and `unit_column`.

    rows: path to the rows of a JSON file, `*` for each element; the file itself without it.
    run: rows of one key and run are raw values of that run; without it each row is a run.
    params, config: name -> column; config tells rows of one key apart as builds do.
    """

    key: str
    value: str
    unit: str = ""
    unit_column: str = ""
    run: str = ""
    rows: str = ""
    title: str = ""
    better: Literal["lower", "higher"] = "lower"
    params: dict[str, str] = {}
    config: dict[str, str] = {}


@dataclass(frozen=True)
class MappedFormat:
    """A format, as those of `ingest.formats`, that a mapping describes."""

    mapping: ColumnMap
    NAME = "mapping"
    DESCRIPTION = "what --map describes"

    def detect(self, _head: bytes, _filename: str) -> int:
        """Never: it is asked for by name."""
        return 0

    def parse(self, foreign: Foreign, settings: Settings) -> Parsed:
        """Every row of the file that has a key and a value."""
        into = Collector(foreign, settings)
        gathered: dict[tuple[str, ...], tuple[int, list[float], Any]] = {}
        for line, row in _rows(into, self.mapping.rows):
            values, key = _values(_at(row, self.mapping.value)), _text(_at(row, self.mapping.key))
            if not key or not values:
                into.unread(str(row), line)
            elif self.mapping.run:
                about = (key, *_parameters(self.mapping, row), _text(_at(row, self.mapping.run)))
                gathered.setdefault(about, (line, [], row))[1].extend(values)
            else:
                _add(into, self.mapping, row, key, values, line, None)
        runs: dict[str, int] = {}
        for about, (line, values, row) in gathered.items():
            run = runs.setdefault(about[-1], len(runs))
            _add(into, self.mapping, row, about[0], values, line, run)
        return into.finish(self.NAME, by_lines=False)


def read(path: Path) -> MappedFormat:
    """The format that a file of TOML describes. Raises BadFile if it describes none."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_MAP_BYTES + 1)
        if len(data) > _MAX_MAP_BYTES:
            raise BadFile(f"{path} has more than {_MAX_MAP_BYTES} bytes; --map takes a mapping")
        found = msgspec.toml.decode(data, type=ColumnMap)
    except OSError as error:
        raise BadFile(f"{path} cannot be read ({error.strerror}); check the name") from error
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise BadFile(
            f'{path} is not a mapping ({error}); write key = "name", value = "time", unit = "us"'
        ) from error
    if bool(found.unit) == bool(found.unit_column):
        raise BadFile(f'{path} needs one of unit = "us" and unit_column = "unit"')
    return MappedFormat(found)


def _rows(into: Collector, path: str) -> Iterator[tuple[int, Any]]:
    """(line, row) in order; the line is 0 where the file is one JSON value."""
    foreign = into.foreign
    if foreign.text.lstrip()[:1] not in ("{", "["):
        yield from _of_columns(foreign)
        return
    lines = [(at, text) for at, text in foreign.lines(MAX_JSON_BYTES) if text.strip()]
    if len(lines) > 1 and all(text.lstrip()[:1] == "{" for _, text in lines):
        values = [(at, json_value(text, f"{foreign.name} line {at}")) for at, text in lines]
    else:
        values = [(0, json_value(foreign.text, foreign.name))]
    for at, value in values:
        rows = _each(value, path.split(".") if path else [])
        yield from ((at, row) for one in rows for row in (one if isinstance(one, list) else [one]))


def _of_columns(foreign: Foreign) -> Iterator[tuple[int, Any]]:
    head = foreign.text.partition("\n")[0]
    table = csv.DictReader(
        foreign.text.split("\n"), delimiter="\t" if "\t" in head else ";" if ";" in head else ","
    )
    try:
        for row in table:
            yield table.line_num, row
    except csv.Error as error:
        raise BadFile(
            f"{foreign.name} line {table.line_num} is not a row ({error}); check its quotes"
        ) from None


def _each(value: Any, path: Sequence[str]) -> Iterator[Any]:
    """What a path leads to, all of it where it says `*`."""
    if not path:
        yield value
    elif path[0] == _EVERY:
        inside = value.values() if isinstance(value, dict) else value
        for one in inside if isinstance(value, dict | list) else ():
            yield from _each(one, path[1:])
    elif (one := _member(value, path[0])) is not None:
        yield from _each(one, path[1:])


def _at(row: Any, path: str) -> Any:
    """What stands in a column, or at a path; None if there is nothing."""
    if isinstance(row, dict) and path in row:
        return row[path]
    for name in path.split("."):
        row = _member(row, name)
    return row


def _member(value: Any, name: str) -> Any:
    if isinstance(value, list) and name.isdecimal() and len(name) < 10:
        return value[int(name)] if int(name) < len(value) else None
    return value.get(name) if isinstance(value, dict) else None


def _values(cell: Any) -> list[float]:
    """The numbers of a cell; none if one of them is not a number."""
    cells = cell if isinstance(cell, list) else [cell]
    found = [one for cell in cells if (one := number(cell)) is not None]
    return found if len(found) == len(cells) else []


def _text(cell: Any) -> str:
    return "" if cell is None or isinstance(cell, dict | list) else str(cell).strip()


def _parameters(mapping: ColumnMap, row: Any) -> tuple[str, ...]:
    named = {**mapping.params, **mapping.config}
    return tuple(_text(_at(row, column)) for column in named.values())


def _quantity(mapping: ColumnMap, row: Any) -> Quantity:
    unit = mapping.unit or _text(_at(row, mapping.unit_column))
    return replace(quantity(unit), better=mapping.better)


def _add(
    into: Collector,
    mapping: ColumnMap,
    row: Any,
    key: str,
    values: Sequence[float],
    line: int,
    run: int | None,
) -> None:
    """Adds one figure: numbers of a named run are raw values, and so are several of a row; one
    number alone is what was printed.
    """
    params, config = (
        {name: _text(_at(row, column)) for name, column in named.items()}
        for named in (mapping.params, mapping.config)
    )
    raw = run is not None or len(values) > 1
    into.add(
        key,
        _quantity(mapping, row),
        title=_text(_at(row, mapping.title)) if mapping.title else "",
        params=params,
        configuration=config,
        line=line,
        run=run,
        values=values if raw else (),
        mean=None if raw else values[0],
    )
