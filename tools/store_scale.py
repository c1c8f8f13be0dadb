# SPDX-License-Identifier: BSD-2-Clause
"""How the questions to a store grow: synthetic stores of bundles of 150 rows, timed.

`python tools/store_scale.py 100 1000 10000` prints a line for each size and question: seconds by
the clock and of all CPUs, the most memory until then, and an answer that shows what was asked. The
last question of a size loads the site's two large pages in headless Chromium, where there is one.
"""

from __future__ import annotations

import hashlib
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

ROWS = 150
PAGES = ("index.html", "compare.html")
STEP = 500  # bundles after which every circle gets longer by one
_ROW = """
    SELECT '{bundle}' AS bundle, range::INTEGER AS number, 'circle.k' || range AS key,
    '{{}}' AS configuration, 'icount' AS clock, 'instructions' AS unit, true AS exact,
    'accumulated' AS method, 'lower' AS better, true AS valid, '' AS reason,
    (1000 + range + {step})::DOUBLE AS latency, NULL::DOUBLE AS low, NULL::DOUBLE AS high,
    [1000.0, 1000.0] AS runs, 40::INTEGER AS tests, 0.0::DOUBLE AS layout_floor,
    substr(md5('{target}' || range), 1, 16) AS likeness FROM range({rows})
"""
_ENTRY = """
    SELECT '{bundle}' AS bundle, TIMESTAMP '{when}' AS created, '' AS title, 'synthetic' AS tool,
    '{bundle}' AS result, '' AS task, {rows}::INTEGER AS row_count, 0::INTEGER AS problem_count,
    9000::BIGINT AS sample_count, '{facts}' AS environment
"""


def make(root: Path, bundles: int) -> None:
    """A store with the tables of that many bundles, of four targets, an hour apart."""
    import duckdb

    from cyclometer.store import layout
    from cyclometer.store.location import Location

    layout.init(Location(str(root)))
    with duckdb.connect() as database:
        for number in range(bundles):
            when = datetime(2024, 1, 1) + timedelta(hours=number)
            output = {
                "bundle": hashlib.sha256(str(number).encode()).hexdigest(),
                "target": f"target{number % 4}",
                "when": when,
                "step": number // STEP,
                "rows": ROWS,
                "facts": _environment(number),
            }
            for table, sql in (("rows", _ROW), ("bundles", _ENTRY)):
                name = layout.table_file(
                    table, str(output["target"]), f"{when:%Y-%m}", str(output["bundle"])
                )
                file = root / name
                file.parent.mkdir(parents=True, exist_ok=True)
                copied = sql.format(**output)
                database.execute(f"COPY ({copied}) TO '{file}' (FORMAT parquet, COMPRESSION zstd)")


def _environment(number: int) -> str:
    facts = {f"fact.{n}": f"value {n}" for n in range(60)} | {"kernel": f"6.{number // STEP}"}
    return msgspec.json.encode(facts).decode()


def questions(root: Path) -> dict[str, Callable[[], object]]:
    """What is timed, by name, in order: nothing is kept of the tables before the first one."""
    from cyclometer.compare.finding import Options
    from cyclometer.site import build
    from cyclometer.store import history, layout, listing

    def ls() -> object:
        return len(listing.entries(layout.opened(str(root))))

    def one_history() -> object:
        found = history.history(str(root), Options(), ("circle.k7",))
        return sum(len(series.changes) for series in found)

    def site() -> object:
        build.build(layout.opened(str(root)), out)
        return "+".join(f"{(out / page).stat().st_size >> 10}KiB" for page in PAGES)

    out = root.with_name("site")
    return {
        "ls, first": ls,
        "history, first": one_history,
        "ls, again": ls,
        "history, again": one_history,
        "site, first": site,
        "site, again": site,
        "pages load": lambda: _loads(out),
    }


def _loads(site: Path) -> str:
    """Milliseconds from the navigation to the end of each page's load, the quicker of two loads."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.report.browser import CHROMIUM, Browser

    if CHROMIUM is None:
        return "Chromium is not installed"
    with Browser() as browser:
        took_ms: dict[str, float] = {}
        for page in PAGES * 2:
            browser.open((site / page).as_uri())
            once_ms = browser.js("performance.now()")
            took_ms[page] = min(once_ms, took_ms.get(page, once_ms))
    return ", ".join(f"{page} {ms:.0f} ms" for page, ms in took_ms.items())


def main(sizes: list[int]) -> None:
    for size in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            os.environ["XDG_CACHE_HOME"] = f"{scratch}/cache"
            make(Path(scratch, "store"), size)
            for name, ask in questions(Path(scratch, "store")).items():
                began, began_cpu = time.monotonic(), time.process_time()
                answer = ask()
                took_s, cpu_s = time.monotonic() - began, time.process_time() - began_cpu
                peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
                print(
                    f"{size:6} bundles  {name:15} {took_s:6.2f} s  {cpu_s:6.2f} CPU s  "
                    f"{peak_mb:4} MB  -> {answer}"
                )


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [100, 1_000, 10_000])
