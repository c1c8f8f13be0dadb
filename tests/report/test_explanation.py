# SPDX-License-Identifier: BSD-2-Clause
"""An explanation as HTML: whole, escaped, and its drawings say what its tables say."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from cyclometer.explain.difference import difference
from cyclometer.explain.evidence import Evidence
from cyclometer.explain.explanation import explain
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.report import explained
from cyclometer.report import explanation as terminal
from cyclometer.report.chart import flame, timeline
from cyclometer.report.documents.explained import NamedPart
from cyclometer.report.html import explanation as html
from tests.explain import machine
from tests.report.browser import CHROMIUM, Browser

EVIL = "</script><img src=x onerror=alert(1)>\"'&\x1b"


def evil() -> Evidence:
    """Every text that comes from an image or a record is hostile."""
    one = machine.evidence([3, 3])
    places = AddressMap(
        *(
            {pc: replace_place(place) for pc, place in image.items()}
            for image in (one.places.kernel, one.places.user)
        )
    )
    contract = msgspec.structs.replace(one.facts.contract, key=EVIL, title=EVIL, sequence=(EVIL,))
    facts = msgspec.structs.replace(
        one.facts, target=EVIL, contract=contract, configuration={EVIL: EVIL}
    )
    return replace(one, facts=facts, places=places)


def replace_place(place: Place) -> Place:
    return msgspec.structs.replace(place, function=place.function + EVIL, file=EVIL, text=EVIL)


class Tags(HTMLParser):
    """Elements of a document, with their attributes; AssertionError where they do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((name, dict(attributes)))
        if name not in ("meta", "link", "wbr"):
            self.open.append(name)

    def handle_startendtag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((name, dict(attributes)))

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name


def documents(one: Evidence, other: Evidence) -> list[str]:
    before, after = explain(one), explain(other)
    return [
        html.document(before, after),
        html.document(before, None),
        html.difference_document(difference(before, after)),
    ]


def test_a_document_is_well_formed_and_runs_one_script_of_its_own() -> None:
    for text in documents(machine.evidence([0, 0]), machine.evidence([9, 9])):
        tags = Tags(text)
        assert not {"img", "iframe", "object"} & {name for name, _ in tags.found}
        assert [attributes for name, attributes in tags.found if name == "script"] == [{}]
        assert "script-src 'sha256-" in text
        ids = [attributes["id"] for _, attributes in tags.found if "id" in attributes]
        assert len(ids) == len(set(ids))
        links = [attributes["href"] for name, attributes in tags.found if name == "a"]
        assert {str(link).removeprefix("#") for link in links} <= set(ids)


def test_foreign_text_is_escaped_everywhere() -> None:
    for text in documents(evil(), evil()):
        tags = Tags(text)
        assert "img" not in {name for name, _ in tags.found}
        assert not any(name.startswith("on") for _, attributes in tags.found for name in attributes)
        assert "\x1b" not in text


def test_the_timeline_covers_the_turn() -> None:
    chart = timeline.draw(explain(machine.evidence([40, 40])))
    boxes = [
        (float(x), float(w))
        for x, w in re.findall(
            r'<rect class="fill" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', chart.body
        )
    ]
    assert boxes[0][0] == pytest.approx(116)
    assert sum(width + 0.5 for _, width in boxes) == pytest.approx(
        flame.WIDTH - 8 - 116, abs=0.2 * len(boxes)
    )
    assert chart.sentence.startswith(
        "A turn in order: loop in user, space 1 then entry in kernel, space 1"
    )


def test_a_frame_of_the_flame_graph_is_as_wide_as_what_it_cost() -> None:
    e = explain(machine.evidence([machine.LENGTH] * 3))  # poke takes half of the turn
    chart = flame.draw(e)
    widths = dict(
        re.findall(
            r"<title>(\w+): .*?</title><rect class=\"fill\" rx=\"2\" x=\"[\d.]+\" y=\"\d+\" "
            r"width=\"([\d.]+)\"",
            chart.body,
        )
    )
    poke = next(part.total for part in e.functions if part.name == "poke")
    assert float(widths["turn"]) == pytest.approx(flame.WIDTH, abs=1)
    assert float(widths["poke"]) == pytest.approx(flame.WIDTH * poke / e.turn.length, abs=1)


def test_a_changed_frame_is_coloured_and_as_wide_as_on_the_side_that_costs_more() -> None:
    before, after = explain(machine.evidence([90, 90])), explain(machine.evidence([3, 3]))
    chart = flame.draw_change(difference(before, after))
    boxes = {
        name: (style, float(at.split()[1]))
        for style, name, at in re.findall(
            r'<g class="box ([^"]+)" data-label="(\S+)[^"]*" data-at="([^"]+)"', chart.body
        )
    }
    length = machine.LENGTH + 90
    assert boxes["poke"] == ("less by-4", pytest.approx(flame.WIDTH * 91 / length, abs=0.01))
    assert boxes["await"][0] == "whole"
    assert "poke: 91 -&gt; 4, -87" in chart.body
    assert 'data-label="poke -87"' in chart.body


def test_tables_say_what_was_explained() -> None:
    text = html.document(
        explain(machine.evidence([3, 3], floor__empty__kernel=2, hardware__crossing__one=12)), None
    )
    plain = re.sub(r"<[^>]+>", " ", text)
    assert "Against the hardware&#39;s floor" in plain
    assert re.search(r"protection-level crossing, there and back\s+2\s+10\s+20", plain)
    assert re.search(r"kernel/ ?\s*poke\. ?\s*c:0", plain)


def test_a_clock_of_instructions_has_one_cause_which_is_not_repeated_at_each_row() -> None:
    before, after = explain(machine.evidence([0, 0])), explain(machine.evidence([9, 9]))
    counted = [replace(e, causes=e.causes[:1]) for e in (before, after)]
    assert len(before.causes) > 1
    for sides, repeated in (((before, after), True), (counted, False)):
        found = difference(*sides)
        text = html.difference_document(found)
        assert ("By cause" in text and "causes of the change" in text) == repeated
        views = dict(terminal.difference_views(explained.difference(found)))
        assert ("cause" in views) == repeated
        assert all(views.values())


def test_a_share_is_a_figure_and_not_only_a_bar() -> None:
    found = explain(machine.evidence([3, 3]))
    text = html.document(found, None)
    shares = [100 * part.total / found.turn.length for part in found.functions]
    assert all(f">{share:.1f} %<svg" in text for share in shares)


@pytest.mark.e2e
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("dark", [False, True])
def test_it_shows_in_a_browser_on_any_screen(tmp_path: Path, dark: bool) -> None:
    shades = (
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
        ".reduce((a, b) => a + b) / 765"
    )
    for place, text in enumerate(documents(machine.evidence([3, 3]), machine.evidence([90, 90]))):
        path = tmp_path / f"{place}.html"
        path.write_text(text)
        with Browser(dark=dark) as browser:
            for width in (320, 390, 1280):
                browser.resize(width, 800)
                browser.open(path.as_uri())
                assert browser.js("document.documentElement.scrollWidth") <= width
            assert (
                browser.js(
                    "document.querySelector('figure.broad svg').getBoundingClientRect().width"
                )
                > 600
            )
            assert (browser.js(shades) < 0.5) == dark
            assert browser.complaints == []
            assert set(browser.requests) == {path.as_uri()}


@pytest.mark.e2e
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_hostile_names_run_nothing_in_a_browser(tmp_path: Path) -> None:
    path = tmp_path / "evil.html"
    path.write_text(documents(evil(), evil())[2])
    with Browser() as browser:
        browser.open(path.as_uri())
        assert browser.js("document.scripts.length") == 1
        assert browser.js("document.querySelectorAll('img').length") == 0
        assert browser.requests == [path.as_uri()]
        assert browser.complaints == []


def test_what_a_terminal_does_not_show_is_one_part_and_columns_sum_to_their_turns() -> None:
    costs = [{"issue": 100.0 - i, "icache": 1.0} for i in range(20)]
    parts = [NamedPart(101 - i, 100 - i, cost, name=f"f{i}") for i, cost in enumerate(costs)]
    colder = [*parts[1:], NamedPart(7, 7, {"issue": 7.0}, name="only_cold")]
    shown, there = terminal._shown(parts, colder)
    assert [part.name for part in shown[-2:]] == ["f15", "4 more (--json lists them)"]
    assert shown[-1].causes == {"issue": 84 + 83 + 82 + 81, "icache": 4}
    for few, every in ((shown, parts), (there, colder)):
        assert sum(part.total for part in few) == sum(part.total for part in every)
        assert sum(part.instructions for part in few) == sum(part.instructions for part in every)
    assert terminal._shown(parts[:3], colder[:2]) == (parts[:3], colder[:2])


@pytest.mark.e2e
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_flame_graph_is_zoomed_searched_and_turned_by_keyboard(tmp_path: Path) -> None:
    path = tmp_path / "why.html"
    path.write_text(documents(machine.evidence([3, 3]), machine.evidence([90, 90]))[2])
    frame = "[...document.querySelectorAll('#change .box')].find(g => g.dataset.label == '{}')"
    poke, turn = frame.format("poke +87"), frame.format("turn +87")
    width = "Number(({}).querySelector('rect').getAttribute('width'))"
    top = "Number(({}).querySelector('rect').getAttribute('y'))"
    with Browser(width=400) as browser:
        browser.open(path.as_uri())
        drawn = browser.js(width.format(poke))
        assert drawn < flame.WIDTH - 50
        browser.js(f"({turn}).focus()")
        for _ in range(3):
            browser.press("ArrowUp")
        assert browser.js("document.activeElement.dataset.label") == "entry +87"
        browser.press("Enter")
        assert browser.js(width.format(frame.format("entry +87"))) > flame.WIDTH - 1
        assert browser.js(width.format(poke)) > drawn
        browser.press("Escape")
        assert browser.js(width.format(poke)) == pytest.approx(drawn, abs=0.1)
        browser.js("document.querySelector('#change input[type=search]').focus()")
        browser.type("POKE")
        assert browser.js("document.querySelectorAll('#change .box.found').length") == 2
        assert (
            browser.js("document.querySelector('#change output').textContent") == "2 frames, 78.0 %"
        )
        assert browser.js(top.format(turn)) > browser.js(top.format(poke))
        browser.js("document.querySelector('#change button[aria-pressed]').click()")
        assert browser.js(top.format(turn)) < browser.js(top.format(poke))
        assert browser.js("document.documentElement.scrollWidth") <= 400
        assert browser.complaints == []


@pytest.mark.parametrize(
    ("latency", "measured", "target", "said"),
    [
        (None, None, "rocket", "as long as the latency of this boot"),
        (
            None,
            machine.LENGTH + 3,
            "rocket",
            "as long as the latency of this boot, as `run` measured",
        ),
        (None, 99, "rocket", "boot; `run` measured 99: whole tests, whose first turns differ"),
        (
            Fraction(1001, 10),
            None,
            "rocket",
            "at the end of a test of 2 turns, which differ; between two test sizes of this boot "
            "100.10; `run` measures whole tests, whose first turns differ",
        ),
        (None, None, "qemu-linux", "boot; `run` measures whole tests, whose first turns differ"),
    ],
)
def test_another_figure_for_the_turn_stands_beside_its_reason(
    latency: Fraction | None, measured: int | None, target: str, said: str
) -> None:
    one = machine.evidence([3, 3], latency)
    one = replace(one, facts=msgspec.structs.replace(one.facts, target=target))
    found = replace(explain(one), measured=None if measured is None else Fraction(measured))
    assert terminal.certainty(explained.turn(found)).endswith(said)
