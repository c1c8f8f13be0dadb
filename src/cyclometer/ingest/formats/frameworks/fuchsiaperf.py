# SPDX-License-Identifier: BSD-2-Clause
"""fuchsiaperf JSON: a list of results with label, test_suite, unit and values
(docs/development/performance/fuchsiaperf_format.md).

The older `split_first` says that the first value is of another kind; it becomes a row for itself.
"""

from __future__ import annotations

from typing import Any

from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.quantities import Quantity, quantity
from cyclometer.ingest.reading import Foreign, json_value

NAME = "fuchsiaperf"
DESCRIPTION = "Fuchsia's performance results (*.fuchsiaperf.json)"


def detect(head: bytes, _filename: str) -> int:
    return 95 if b'"test_suite"' in head and b'"label"' in head and b'"values"' in head else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """A file is what one process, or one boot, measured: a run."""
    into = Collector(foreign, settings)
    content = json_value(foreign.text, foreign.name)
    for item in content if isinstance(content, list) else []:
        values = [number(value) for value in _listed(item)]
        if not values or None in values:
            into.unread(str(item)[:200], 0)
            continue
        good = [value for value in values if value is not None]
        label, unit = str(item.get("label", "unnamed"))[:200], _unit(str(item.get("unit", "")))
        parts = [str(item.get("test_suite", "fuchsia")), *label.split("/")]
        key = ".".join(slug(part) for part in parts if part)
        if item.get("split_first"):
            into.add(f"{key}.first", unit, title=f"{label}, first", name=label, values=good[:1])
            good = good[1:]
        if good:
            into.add(key, unit, title=label, name=label, values=good)
    return into.finish(NAME, by_lines=False)


def _listed(item: Any) -> list[Any]:
    values = item.get("values") if isinstance(item, dict) else None
    return values if isinstance(values, list) else []


def _unit(printed: str) -> Quantity:
    """Units may end in _smallerIsBetter or _biggerIsBetter."""
    name, _, better = printed.partition("_")
    known = quantity({"bytes/second": "B/s"}.get(name, name))
    if not better:
        return known
    return Quantity(known.clock, known.factor, "higher" if "bigger" in better else "lower")
