# SPDX-License-Identifier: BSD-2-Clause
"""The report in a real browser: it renders, filters by keyboard, fits a phone, turns dark, and asks
for nothing.
"""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.report import sample_bundles as bundles
from tests.report.browser import CHROMIUM, Browser
from tests.report.test_html import evil_bundle, report

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]

SHOWN = (
    "[...document.querySelectorAll('.overview tbody tr:not([hidden]) a')].map(a => a.textContent)"
)
VISIBLE = (
    "[...document.querySelectorAll('main > section')].filter(s => "
    "s.checkVisibility()).map(s => s.id)"
)


@pytest.fixture(scope="module")
def browser():
    with Browser() as one:
        yield one


@pytest.fixture
def page(browser, tmp_path: Path):
    """Two bundles side by side, freshly loaded; whatever the page complains about fails the
    test.
    """
    path = tmp_path / "report.html"
    path.write_text(report(bundles.typical(), bundles.typical(1.25)))
    browser.resize(1280, 900)
    browser.requests.clear()
    browser.complaints.clear()
    browser.open(path.as_uri())
    yield browser
    assert browser.complaints == []
    assert browser.requests == [path.as_uri()]


def test_it_renders_the_overview_alone(page):
    assert page.js(VISIBLE) == ["overview"]
    assert len(page.js(SHOWN)) == 3
    assert page.js("document.querySelector('.overview .bar').getBoundingClientRect().width") > 100


def test_the_keyboard_filters(page):
    page.press("/")
    page.soon("document.activeElement.id", "filter")
    page.type("pipe cross")
    page.soon(SHOWN, [bundles.PIPE.key])
    page.soon("document.querySelector('#count').textContent", "1 of 3 circles")
    page.press("Escape")
    page.soon(f"{SHOWN}.length", 3)


def test_the_keyboard_opens_turns_and_leaves_pages(page):
    first, second = page.js(SHOWN)[:2]
    page.press("/")
    page.soon("document.activeElement.id", "filter")
    page.press("ArrowDown")
    page.soon("document.activeElement.textContent", first)
    page.press("Enter")
    page.soon("document.activeElement.textContent", first)
    assert len(page.js(VISIBLE)) == 1
    page.press("ArrowRight")
    page.soon("document.activeElement.textContent", second)
    page.press("Escape")
    page.soon(VISIBLE, ["overview"])


def test_the_keyboard_skips_to_the_content(page):
    page.press("Tab")
    page.soon("document.activeElement.className", "skip")
    page.soon("document.activeElement.getBoundingClientRect().left >= 0", True)
    page.press("Enter")
    page.soon("document.activeElement.id", "main")


def test_verdicts_filter_and_headings_sort(page):
    page.js("document.querySelector('.chip[data-verdict=invalid]').click()")
    page.soon(SHOWN, [bundles.SIGNAL.key])
    page.js("document.querySelector('.chip[data-verdict=invalid]').click()")
    page.js("document.querySelector('thead button').click()")
    page.soon(SHOWN, sorted([bundles.PIPE.key, bundles.SIGNAL.key, bundles.TIMER.key]))
    page.soon("document.querySelector('thead th').getAttribute('aria-sort')", "ascending")
    page.js("document.querySelector('thead button').click()")
    page.soon(SHOWN, sorted(page.js(SHOWN), reverse=True))


def test_the_pointer_reads_values_off_a_chart(page):
    page.go(page.js("document.querySelector('.overview a[href*=pipe]').hash"))
    page.soon(f"{VISIBLE}.length", 1)
    page.hover(".page:target .hit")
    page.soon("/^x .*, y ./.test(document.querySelector('.page:target .at').textContent)", True)


@pytest.mark.parametrize("width", [320, 390, 768])
def test_it_fits_a_small_screen(page, width):
    page.resize(width, 800)
    for link in (
        "overview",
        "environment",
        "words",
        page.js("document.querySelector('.overview a').hash.slice(1)"),
    ):
        page.go(link)
        page.soon("location.hash.slice(1)", link)
        page.soon(VISIBLE, [link])
        assert page.js("document.documentElement.scrollWidth") <= width


def test_it_turns_dark(tmp_path: Path):
    path = tmp_path / "report.html"
    path.write_text(report(bundles.typical()))
    shades = {}
    for dark in (False, True):
        with Browser(dark=dark) as one:
            one.open(path.as_uri())
            shades[dark] = one.js(
                "['backgroundColor', 'color'].map(p => "
                "getComputedStyle(document.body)[p].match(/\\d+/g).map(Number))"
                ".map(([r, g, b]) => (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255)"
            )
    (paper, ink), (dark_paper, dark_ink) = shades[False], shades[True]
    assert paper - ink > 0.7
    assert dark_ink - dark_paper > 0.7


def test_injected_scripts_do_not_run(browser, tmp_path: Path):
    path = tmp_path / "evil.html"
    path.write_text(report(evil_bundle(), evil_bundle()))
    browser.requests.clear()
    browser.complaints.clear()
    browser.open(path.as_uri())
    assert browser.js("document.scripts.length") == 1
    assert browser.js("document.querySelectorAll('img, iframe, object, embed').length") == 0
    assert browser.js("typeof pwned") == "undefined"
    assert browser.requests == [path.as_uri()]
    assert browser.complaints == []


def test_the_policy_stops_a_script_and_a_request_that_were_let_in(browser, tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        hole = f"<script>window.pwned = 1</script><img src='{address}' onerror='window.pwned = 2'>"
        path = tmp_path / "broken.html"
        path.write_text(report(bundles.typical()).replace("</main>", hole + "</main>"))
        browser.open(path.as_uri())
        assert browser.js("document.querySelector('img').complete")
        assert browser.js("typeof pwned") == "undefined"
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.accept()


def test_it_is_whole_without_scripts(browser, tmp_path: Path):
    path = tmp_path / "plain.html"
    text = report(bundles.typical())
    path.write_text(text[: text.rindex("<script>")] + "</body></html>")
    browser.open(path.as_uri())
    assert browser.js(VISIBLE) == ["overview"]
    browser.go("words")
    browser.soon(VISIBLE, ["words"])
