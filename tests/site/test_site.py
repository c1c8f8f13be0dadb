# SPDX-License-Identifier: BSD-2-Clause
"""The site of a store: what it says, what it writes anew, and that a browser can use it."""

from __future__ import annotations

import html
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from cyclometer.cli import cli
from cyclometer.compare import pettitt
from cyclometer.errors import NothingMeasured, UsageError
from cyclometer.site import build, triage
from cyclometer.store import layout
from cyclometer.store.location import Location
from tests.report.browser import CHROMIUM, Browser
from tests.site.conftest import push


def alerts(out: Path) -> dict[str, dict[str, object]]:
    """Alert by the key of its circle."""
    states = json.loads((out / "site.json").read_text())["states"].values()
    return {one["key"]: alert for one in states for alert in one["alerts"]}


def test_changes_are_alerts_with_their_cause_until_they_are_acknowledged(
    location: Location, tmp_path: Path
) -> None:
    out = tmp_path / "public"
    built = build.build(location, out)
    assert built.verdict == (
        "3 circles; to review: 1 regression, 0 improvements, 1 changed count; acknowledged: 0."
    )
    found = alerts(out)
    assert found.keys() == {"exact.a", "noisy.b"}
    assert found["exact.a"]["change"] == pytest.approx(0.01)
    assert found["exact.a"]["cause"] == ["build.compiler: gcc 12 -> gcc 13"]
    assert found["noisy.b"]["since"] == "2026-01-13T02:00:00+00:00"
    assert found["exact.a"]["direction"] == "changed"
    assert "1 regression" in (out / "badge.svg").read_text()
    words = ["site", location.url, "-o", str(out), "--json"]
    seen = ["--acknowledge", str(found["exact.a"]["id"]), 'new "compiler"']
    result = json.loads(CliRunner().invoke(cli, [*words, *seen], catch_exceptions=False).stdout)
    assert result["verdict"].startswith("3 circles; to review: 1 regression, 0 imp")
    again = build.build(location, out)
    assert (again.circles, again.bundles) == (0, 0)
    pages = [page.read_text() for page in (out / "circle").iterdir()]
    assert sum('acknowledged: new "compiler"' in html.unescape(page) for page in pages) == 1
    with pytest.raises(UsageError, match="not an alert"):
        triage.acknowledge(location, "../x", "")


def test_a_new_bundle_rewrites_only_what_it_touches(location: Location, tmp_path: Path) -> None:
    out = tmp_path / "public"
    first = build.build(location, out)
    assert (first.circles, first.bundles) == (3, 20)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    nothing = build.build(location, out)
    assert (nothing.circles, nothing.bundles) == (0, 0)
    assert before == {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()}
    digest = push(location, tmp_path / "bundles", 21)
    then = build.build(location, out)
    assert (then.circles, then.bundles) == (3, 1)
    after = {path for path in out.rglob("*") if path.is_file()}
    assert after - before.keys() == {out / f"data/{digest[:12]}.js"}
    other = tmp_path / "anew"
    build.build(location, other)
    for path in sorted(after):  # bringing it up to date gives what building it anew gives
        assert path.read_bytes() == (other / path.relative_to(out)).read_bytes(), path


def test_nothing_hostile_becomes_markup(location: Location, tmp_path: Path) -> None:
    out = tmp_path / "public"
    build.build(location, out)
    for path in (*out.rglob("*.html"), *out.rglob("*.js"), out / "badge.svg"):
        assert "<script>alert" not in path.read_text(), path


def test_folders_of_others_and_empty_stores_are_refused(location: Location, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter").write_text("x")
    with pytest.raises(UsageError, match="not a site"):
        build.build(location, tmp_path / "mine")
    layout.init(Location(str(tmp_path / "empty")))
    with pytest.raises(NothingMeasured):
        build.build(layout.opened(str(tmp_path / "empty")), tmp_path / "out")


@pytest.mark.e2e
@pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed; run `make setup-all`")
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, True)])
def test_a_browser_shows_all_pages_and_compares_two_bundles(
    location: Location, tmp_path: Path, width: int, dark: bool
) -> None:
    out = tmp_path / "public"
    build.build(location, out)
    with Browser(width, 900, dark) as browser:
        pages = ["index.html", *(f"circle/{path.name}" for path in (out / "circle").iterdir())]
        for page in pages:
            browser.open(f"file://{out}/{page}")
            assert browser.js("document.documentElement.scrollWidth") <= width
        browser.open(f"file://{out}/compare.html")
        browser.soon("document.querySelectorAll('#rows tr').length", 3)
        browser.js("(f => { f.value = labels[19]; f.onchange(); })(document.all.before)")
        text = "document.querySelector('#rows tr').innerText"
        browser.soon(f"{text}.includes('noisy.b') && {text}.includes('+')", True)
        hash_ = browser.js("location.hash")
        browser.open("about:blank")
        browser.open(f"file://{out}/compare.html{hash_}")
        browser.soon(f"{text}.includes('noisy.b') && {text}.includes('+')", True)
        browser.js("(f => { f.value = 'no such'; f.onchange(); })(document.all.before)")
        browser.soon("told.textContent.startsWith('Choose a bundle from the list')", True)
        assert browser.complaints == []
        assert {r.partition(":")[0] for r in browser.requests} <= {"file", "data", "about"}


def test_long_histories_are_divided_where_they_change_and_nowhere_else() -> None:
    rng = np.random.default_rng(2)
    still = rng.standard_normal(5000)
    moved = still.copy()
    moved[1500:] += 1
    moved[4000:] -= 2
    assert [d.at for d in pettitt.divisions(moved)] == pytest.approx([1500, 4000], abs=10)
    false = sum(bool(pettitt.divisions(rng.standard_normal(300))) for _ in range(300))
    assert false <= 9  # 1 % of 300 expected; more than 9 has a probability below 0.1 %


def test_a_newest_value_stands_out_against_its_own_past() -> None:
    rng = np.random.default_rng(3)
    past = 100 + rng.standard_normal(40)
    assert not triage.stands_out(past)
    assert triage.stands_out(np.append(past, 110))
    assert triage.stands_out(np.append(past, 90))
    assert not triage.stands_out(np.append(past[:5], 110))  # too little is known
