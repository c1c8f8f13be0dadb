# SPDX-License-Identifier: BSD-2-Clause
"""The pages of a history that is in no store: a first page, and one for each circle."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from cyclometer.compare.history import Series
from cyclometer.errors import NothingMeasured, UsageError
from cyclometer.report import history as report
from cyclometer.site import pages, triage

_NAME_CHARS = 16


def write(out: Path, found: Sequence[Series]) -> int:
    """Writes the pages into a new or empty folder; how many circles have one.

    Raises NothingMeasured without a history, UsageError for a folder that holds something.
    """
    if not found:
        raise NothingMeasured("no bundle has a valid row in this window; widen it, or leave it out")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is not an empty folder; name a new one")
    (out / "circle").mkdir(parents=True)
    states: dict[str, triage.TriageState] = {}
    for series in found:
        name = _name(series)
        name += f"-{len(states)}" * (name in states)
        one = triage.state(name, series, series.points[-1].better == "higher")
        states[name] = one
        page = pages.circle(series, one, None)
        (out / f"circle/{name}.html").write_text(page, encoding="utf-8")
    first = pages.overview(states, None, report.sentence(found))
    (out / "index.html").write_text(first, encoding="utf-8")
    return len(states)


def _name(series: Series) -> str:
    """Of a circle's page: what tells its row from the others, as digits that any file may have."""
    last = series.points[-1]
    about = (series.key, series.unit, last.identity.get("target", ""), last.configuration)
    return hashlib.sha256(msgspec.json.encode(about, order="sorted")).hexdigest()[:_NAME_CHARS]
