# SPDX-License-Identifier: BSD-2-Clause
"""Pages of a circle's two newest bundles: their samples, and what differs in a turn where both keep
its trace. A reader of the circle's page opens them on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cyclometer.bundle import store as folders
from cyclometer.bundle.model import Bundle
from cyclometer.compare import pairing
from cyclometer.compare.history import Series
from cyclometer.errors import CyclometerError
from cyclometer.estimate.rows import Estimate
from cyclometer.explain import sources
from cyclometer.explain.difference import difference
from cyclometer.explain.explanation import explain
from cyclometer.report import circle as reported
from cyclometer.report.chart import ecdf, samples
from cyclometer.report.chart.plot import Chart
from cyclometer.report.html import explanation, render
from cyclometer.report.html.render import Link
from cyclometer.store import rows, transfer
from cyclometer.store.location import Location

BUNDLES = 32
"""So many bundles, the newest of the store, are fetched at most, however many circles there are."""
_CACHED = 4  # bundles whose samples stay read


class _Held(NamedTuple):
    """A bundle that was fetched, and its estimates by the name of their row."""

    path: Path
    bundle: Bundle
    estimates: dict[str, Estimate]


class NewestPages:
    """Writes the pages below `out`; `listed` are the digests of the store, the newest first."""

    def __init__(
        self,
        location: Location,
        out: Path,
        listed: Sequence[str],
        write: Callable[[Path, str], None],
    ):
        self._location, self._out, self._write = location, out, write
        self._digests = {digest[:12]: digest for digest in listed[:BUNDLES]}
        self._scratch = TemporaryDirectory()
        self._fetch = lru_cache(_CACHED)(self._fetched)

    def __enter__(self) -> NewestPages:
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    def links(self, name: str, series: Series) -> list[Link]:
        """Writes what there is of a circle's two newest bundles, and links to it from its page."""
        newest = [point.bundle for point in series.points[-2:]]
        if len(newest) < 2 or not set(newest) <= self._digests.keys():
            return []
        try:
            sides = [self._fetch(self._digests[bundle]) for bundle in newest]
        except CyclometerError:
            return []  # a damaged bundle: its figures are in the tables all the same
        pages = {
            f"samples/{name}.html": ("Samples of the two newest", _samples(name, series, sides)),
            f"explained/{name}.html": ("What changed in a turn", _explained(series.key, sides)),
        }
        found = []
        for address, (words, page) in pages.items():
            if page is not None:
                (self._out / address).parent.mkdir(exist_ok=True)
                self._write(self._out / address, page)
                found.append(Link(f"../{address}", words))
        return found

    def _fetched(self, digest: str) -> _Held:
        path = Path(self._scratch.name, digest)
        there = path.exists()
        bundle = folders.read(path) if there else transfer.pull(self._location, digest, path)
        estimates = {rows.name(c): c.estimate for c in pairing.side([bundle]).circles}
        return _Held(path, bundle, estimates)


def _samples(name: str, series: Series, sides: Sequence[_Held]) -> str | None:
    """The distributions of both, one over the other, and each over time; None without samples."""
    if not all(len(side.bundle.samples) for side in sides):
        return None
    labels = [point.when[:16].replace("T", " ") for point in series.points[-2:]]
    circles = [
        reported.circles(side.bundle, [side.estimates[name]], label)[0]
        for side, label in zip(sides, labels, strict=True)
    ]
    drawn: list[Chart | None] = [ecdf.draw(circles), *(samples.draw(circles, i) for i in (0, 1))]
    charts = [chart for chart in drawn if chart is not None]
    if not charts:
        return None
    return render.page(
        "site_samples.html",
        of_site=True,
        title=series.key,
        lead=["Tests of the two newest bundles."],
        links=[Link(f"../circle/{name}.html", "History"), Link("../index.html", "All circles")],
        charts=charts,
    )


def _explained(key: str, sides: Sequence[_Held]) -> str | None:
    """What a turn of the newest does otherwise than one before; None unless both keep a trace."""
    try:
        before, after = (explain(sources.kept(side.path, key)["steady"]) for side in sides)
        return explanation.difference_document(difference(before, after))
    except CyclometerError:
        return None
