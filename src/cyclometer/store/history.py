# SPDX-License-Identifier: BSD-2-Clause
"""Histories of circles out of a store's tables, without opening a bundle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from cyclometer.compare.finding import Options
from cyclometer.compare.history import Point, Series, series
from cyclometer.errors import NothingMeasured
from cyclometer.store import index, layout

_POINTS = """
    SELECT likeness, key, latency, unit, configuration, exact, layout_floor, created, bundle
    FROM points JOIN bundles USING (bundle)
    WHERE {chosen}
    ORDER BY key, likeness, created, bundle
"""


def history(url: str, options: Options, only: Sequence[str] = ("*",)) -> list[Series]:
    """As `compare.history.history`, of the circles of a store whose keys match a pattern of `only`.

    Raises NothingMeasured if none does.
    """
    with index.tables(layout.opened(url), "points") as database:
        found = of_keys(database, options, only, identities(database))
    if not found:
        raise NothingMeasured(f"{url} has no valid row of {', '.join(only)}; `store ls` lists it")
    return list(found.values())


def identities(database: Any) -> dict[str, dict[str, str]]:
    """Bundle -> what it states about its machine and build."""
    listed = database.execute("SELECT bundle, environment FROM bundles").fetchall()
    return {bundle: _facts(text) for bundle, text in listed}


def of_keys(
    database: Any, options: Options, only: Sequence[str], known: Mapping[str, dict[str, str]]
) -> dict[str, Series]:
    """Likeness -> history, of circles whose keys match; `database` is of `index.tables`, `known`
    are the identities of its bundles.
    """
    chosen = " OR ".join(["key GLOB ?"] * len(only))
    found = database.execute(_POINTS.format(chosen=chosen), list(only)).fetchall()
    points: dict[str, list[Point]] = defaultdict(list)
    missing: dict[str, int] = defaultdict(int)
    for likeness, key, latency, unit, configuration, exact, layout_floor, created, bundle in found:
        if latency is None or latency <= 0:
            missing[likeness] += 1
            continue
        floor = layout_floor if options.layout_floor is None else options.layout_floor
        points[likeness].append(
            Point(
                key,
                latency,
                unit,
                _facts(configuration),
                floor if exact else None,
                _when(created),
                bundle[:12],
                known[bundle],
            )
        )
    return {name: series(found, options, missing[name]) for name, found in points.items()}


@lru_cache(1 << 16)  # all rows of a bundle have the same
def _when(created: datetime) -> str:
    return f"{created.isoformat(timespec='seconds')}+00:00"


@lru_cache(4096)  # most bundles of a store say the same of their machine
def _facts(text: str) -> dict[str, str]:
    return msgspec.json.decode(text, type=dict[str, str])
