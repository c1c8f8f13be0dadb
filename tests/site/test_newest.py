# SPDX-License-Identifier: BSD-2-Clause
"""Samples and explanations of a circle's two newest bundles, beside its history."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from cyclometer.bundle import store as folders
from cyclometer.explain import sources
from cyclometer.site import build, newest
from cyclometer.store import layout, transfer
from cyclometer.store.location import Location
from tests.explain import machine
from tests.report.sample_bundles import ICOUNT, PIPE, typical

KEY = PIPE.key


def push(location: Location, scratch: Path, day: int, traced: bool = True) -> str:
    """Every day the pipe's turn is 10 units longer; its trace is kept with it."""
    made = typical(1 + day / 10, ICOUNT)
    created = f"2026-01-{day:02}T02:00:00+00:00"
    identity = msgspec.structs.replace(made.identity, created=created)
    files = sources.files({KEY: {"steady": machine.evidence([10 * day] * 4)}})
    folder = scratch / str(day)
    folders.write(replace(made, identity=identity), folder, files if traced else {})
    return transfer.push(location, folder)[0]


def stored(folder: Path, *days: int) -> Location:
    layout.init(Location(str(folder / "store")))
    location = layout.opened(str(folder / "store"))
    for day in days:
        push(location, folder / "bundles", day)
    return location


def site(location: Location, out: Path) -> tuple[str, str, str]:
    """Builds the site, and finds the pipe's pages: its history, samples and explanation."""
    build.build(location, out)
    (page,) = (p for p in (out / "circle").iterdir() if f">{KEY[:4]}" in p.read_text())
    pages = [out / where / page.name for where in ("samples", "explained")]
    return page.read_text(), *(p.read_text() if p.exists() else "" for p in pages)


def test_the_two_newest_bundles_are_one_click_away(tmp_path: Path) -> None:
    location = stored(tmp_path, 1, 2, 3)
    page, samples, explained = site(location, tmp_path / "public")
    assert 'href="../samples/' in page
    assert 'href="../explained/' in page
    assert "2026-01-02 02:00" in samples
    assert "2026-01-03 02:00" in samples
    assert "2026-01-01" not in samples
    assert samples.count("<svg") == 3
    assert "+10" in explained
    push(location, tmp_path / "bundles", 4)
    assert "2026-01-04 02:00" in site(location, tmp_path / "public")[1]


def test_nothing_is_linked_that_is_not_there(tmp_path: Path) -> None:
    """One bundle has no neighbour, and of bundles without traces only samples are shown."""
    location = stored(tmp_path, 1)
    page, *others = site(location, tmp_path / "public")
    assert others == ["", ""]
    assert "../samples/" not in page
    push(location, tmp_path / "bundles", 2, traced=False)
    page, samples, explained = site(location, tmp_path / "public")
    assert (bool(samples), explained) == (True, "")
    assert "../explained/" not in page


def test_a_damaged_bundle_costs_its_samples_and_not_the_site(tmp_path: Path) -> None:
    location = stored(tmp_path, 1)
    digest = push(location, tmp_path / "bundles", 2)
    location.remove(f"{layout.folder(digest)}/{folders.IDENTITY}")
    location.write(f"{layout.folder(digest)}/{folders.IDENTITY}", b"{}")
    page, samples, _ = site(location, tmp_path / "public")
    assert "2026-01-02" in page
    assert samples == ""


def test_old_bundles_are_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A circle that is not measured any more costs nothing, however many of its kind there are."""
    monkeypatch.setattr(newest, "BUNDLES", 1)
    page, *others = site(stored(tmp_path, 1, 2), tmp_path / "public")
    assert others == ["", ""]
    assert "../samples/" not in page
