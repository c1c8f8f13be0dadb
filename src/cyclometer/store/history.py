# SPDX-License-Identifier: BSD-2-Clause
"""Histories of circles out of a store's tables, without opening a bundle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from cyclometer.compare.finding import Options
from cyclometer.compare.history import Point, Series, series
from cyclometer.errors import NothingMeasured
from cyclometer.store import index, layout

_POINTS = """
    SELECT likeness, key, latency, unit, configuration, exact, layout_floor, created, bundle
    FROM rows JOIN bundles USING (bundle)
    WHERE {chosen}
    ORDER BY key, likeness, created, bundle
"""


def history(url: str, options: Options, only: Sequence[str] = ("*",)) -> list[Series]:
    """As `compare.history.history`, of the circles of a store whose keys match a pattern of `only`.

    Raises NothingMeasured where none does.
    """
    with index.tables(layout.opened(url)) as database:
        chosen = " OR ".join(["key GLOB ?"] * len(only))
        told = database.execute(_POINTS.format(chosen=chosen), list(only)).fetchall()
        known = {row[8] for row in told}
        listed = database.execute("SELECT bundle, environment FROM bundles").fetchall()
    identities = {bundle: _facts(text) for bundle, text in listed if bundle in known}
    points: dict[str, list[Point]] = defaultdict(list)
    missing: dict[str, int] = defaultdict(int)
    for likeness, key, latency, unit, configuration, exact, layout_floor, created, bundle in told:
        if latency is None or latency <= 0:
            missing[likeness] += 1
            continue
        floor = layout_floor if options.layout_floor is None else options.layout_floor
        when = f"{created.isoformat(timespec='seconds')}+00:00"
        points[likeness].append(
            Point(
                key,
                latency,
                unit,
                _facts(configuration),
                floor if exact else None,
                when,
                bundle[:12],
                identities[bundle],
            )
        )
    if not points:
        raise NothingMeasured(f"{url} has no valid row of {', '.join(only)}; `store ls` lists it")
    return [series(found, options, missing[likeness]) for likeness, found in points.items()]


def _facts(text: str) -> dict[str, str]:
    return msgspec.json.decode(text, type=dict[str, str])
