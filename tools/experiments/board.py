# SPDX-License-Identifier: BSD-2-Clause
"""What the experiments share: the Rocket board, and tables that they write into pages of
docs/experiments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cyclometer.estimate.rows import estimates
from cyclometer.explain.explanation import Explanation, explain
from cyclometer.explain.sources import trace
from cyclometer.targets.api import SILENT, Request
from cyclometer.targets.rocket.target import rocket

PAGES = Path(__file__).resolve().parents[2] / "docs" / "experiments"

Config = Mapping[str, str]


def latencies(config: Config, keys: Iterable[str]) -> dict[str, float]:
    """Cycles a turn of each circle, as `cyclometer run --target rocket --quick` and `cyclometer
    show` tell them.
    """
    measured = rocket().measure(Request(only=tuple(keys), config=config, quick=True), {}, SILENT)
    found = estimates(measured.bundle, course=False)
    return {e.contract.key: e.latency.value for e in found if e.latency is not None and e.valid}


def explained(config: Config, key: str) -> Explanation:
    """A steady turn of one circle, as `cyclometer explain --target rocket` explains it."""
    return explain(trace(rocket(), Request(only=(key,), config=config), [key])[key]["steady"])


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown: names on the left, figures on the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def write(page: str, **tables: str) -> None:
    """Puts each table between its markers, <!-- name --> and <!-- end -->. KeyError where the page
    has none.
    """
    path = PAGES / page
    text = path.read_text()
    for name, content in tables.items():
        place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.S)
        if not place.search(text):
            raise KeyError(
                f"{path} has no place for the table {name!r}; add <!-- {name} --> and <!-- end -->"
            )
        text = place.sub(lambda m, content=content: f"{m[1]}\n{content}\n\n{m[2]}", text)
    path.write_text(text)
