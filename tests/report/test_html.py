# SPDX-License-Identifier: BSD-2-Clause
"""The report as text: complete, in order, inert, and bounded in size."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from msgspec.structs import replace as changed

from cyclometer.bundle import store
from cyclometer.bundle.model import Contract, Problem, Span
from cyclometer.cli import cli
from cyclometer.errors import UsageError
from cyclometer.lint import Issue
from cyclometer.report.chart.plot import Scale
from cyclometer.report.html import bars
from cyclometer.report.html.document import document
from cyclometer.report.html.subject import subject
from tests.compare import bundles as printed
from tests.report import sample_bundles as bundles

EVIL = "</script><script>pwned()</script><img src=x onerror=pwned()>\"'>"


class Page(HTMLParser):
    """Elements as (name, attributes), and all text outside of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, _tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside not in ("script", "style"):
            self.words += data

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def report(*made, labels=("before", "after", "third")):
    return document(subject(made, labels[: len(made)]), "Test")


def evil_bundle():
    """Every text that a foreign file can set is an attack."""
    contract = Contract(
        key=EVIL,
        title=EVIL,
        sequence=(f"{EVIL}: {EVIL}", EVIL),
        interval=Span("round_trip", EVIL, EVIL),
        expect={EVIL: 1},
        params={EVIL: EVIL},
        correction=EVIL,
    )
    maker = bundles.Maker(
        configuration={EVIL: EVIL}, clock=changed(bundles.TSC, name=EVIL)
    ).accumulated(contract, 4000)
    maker.problems.append(Problem(EVIL, EVIL, EVIL))
    made = maker.bundle(EVIL, {EVIL: EVIL, "nested": {EVIL: [EVIL]}})
    return replace(made, identity=changed(made.identity, target=EVIL, tool=EVIL), digest=EVIL)


def overview(html):
    """Names in the order of the table."""
    body = re.search(r'<table class="overview".*?</table>', html, re.S)[0]
    links = re.findall(r'<th scope="row"[^>]*><a href="#[^"]*">(.*?)</a>', body)
    return [link.replace("<wbr>", "") for link in links]


def lines(html):
    """The overview's lines."""
    body = re.search(r'<table class="overview".*?</table>', html, re.S)[0]
    return re.findall(r"<tr data-verdict.*?</tr>", body, re.S)


def test_one_bundle_is_shown_by_latency_with_what_is_invalid_last():
    html = report(bundles.typical())
    assert overview(html) == [bundles.TIMER.key, bundles.PIPE.key, bundles.SIGNAL.key]
    assert "3 circles: 2 valid, 1 invalid." in html
    assert html.count("no valid latency") == 1


def test_floors_come_after_the_circles_that_enter_the_kernel():
    floor = changed(bundles.PIPE, key="floor.empty")
    maker = bundles.Maker().accumulated(floor, 1).accumulated(bundles.PIPE, 4000)
    assert overview(report(maker.bundle())) == [bundles.PIPE.key, "floor.empty"]


def test_units_are_in_the_cells_if_they_differ_and_else_in_the_heading():
    one = bundles.Maker().accumulated(bundles.PIPE, 4000).accumulated(bundles.SIGNAL, 700).bundle()
    assert "latency [ticks]" in report(one)
    assert not any("ticks" in line for line in lines(report(one)))
    first, second = one.identity.rows
    events = changed(second, clock=changed(second.clock, unit="events"))
    mixed = report(replace(one, identity=changed(one.identity, rows=[first, events])))
    assert "latency [" not in mixed
    assert sorted("ticks" in line for line in lines(mixed)) == [False, True]
    assert sorted("events" in line for line in lines(mixed)) == [False, True]


def test_labels_of_the_scale_of_latencies_do_not_run_into_each_other():
    for decades in (1, 4, 8, 12):
        scale = Scale(0.3, 10.0**decades, 4, 176, log=True)
        places = [float(x) for x in re.findall(r'x="([\d.]+)"', bars.latency_axis(scale))]
        assert all(b - a >= 34 for a, b in pairwise(places))
        assert places


def test_two_bundles_are_shown_by_what_changed():
    maker = bundles.Maker(tests=60, runs=5)
    maker.accumulated(bundles.PIPE, 4000).accumulated(Contract("b.small"), 500).accumulated(
        Contract("c.same"), 900
    )
    other = bundles.Maker(tests=60, runs=5)
    other.accumulated(bundles.PIPE, 4400).accumulated(Contract("b.small"), 300).accumulated(
        Contract("c.same"), 900
    )
    html = report(maker.bundle(), other.accumulated(Contract("d.new"), 100).bundle())
    assert overview(html) == [bundles.PIPE.key, "b.small", "d.new", "c.same"]
    assert "1 regressed" in re.sub(r"<[^>]+>", "", html)
    assert re.findall(r'<tr data-verdict="(\w+)"', html) == [
        "regressed",
        "improved",
        "added",
        "equivalent",
    ]


def test_every_circle_of_either_side_has_a_line_and_a_page():
    before, after = (
        bundles.typical(),
        bundles.renamed(bundles.typical(), ["new.key", "new.key", "b.b", "c.c"]),
    )
    html = report(before, after)
    expected = {bundles.PIPE.key, bundles.TIMER.key, bundles.SIGNAL.key, "new.key", "b.b", "c.c"}
    assert set(overview(html)) == expected
    page = Page(html)
    anchors = {a["href"] for a in page.named("a")}
    pages = [s["id"] for s in page.named("section") if "circle" in (s.get("class") or "")]
    assert len(pages) == len(set(pages)) == 6
    assert {f"#{name}" for name in pages} <= anchors
    targets = {attributes.get("id") for _, attributes in page.elements}
    assert {a.removeprefix("#") for a in anchors} <= targets


def test_more_bundles_are_held_against_the_first():
    html = report(bundles.typical(), bundles.typical(1.25), bundles.typical(0.8))
    line = next(line for line in lines(html) if ">pipe" in line)
    assert re.findall(r'class="n (regressed|improved)"', line) == ["regressed", "improved"]
    assert html.count("<figcaption>Samples over time, third") == 3
    assert 'third: <span class="badge improved">' in html


def test_what_moved_otherwise_than_the_change_stands_in_the_line():
    """Two tests of five met a slower regime: the latency, of the lowest one, stays."""
    before = bundles.Maker(tests=60, runs=5).accumulated(bundles.PIPE, 4000).bundle()
    slow = np.arange(len(before.samples)) % 5 < 2
    value = np.where(slow, 2.0, 1.0) * before.samples.value
    after = replace(before, samples=replace(before.samples, value=value))
    (line,) = lines(report(before, after))
    assert re.search(r"<small class=.why.>overall moved by \+\d+\.\d\d %</small>", line)
    (line,) = lines(report(before, after, before))
    assert re.search(r"<small class=.why.>after: overall moved by \+\d+\.\d\d %</small>", line)
    (line,) = lines(report(before, before))
    assert "why" not in line


def test_a_circle_that_several_bundles_add_has_one_line_with_what_it_takes_in_each():
    first, later = bundles.typical(), bundles.typical()
    rows = later.identity.rows
    rows = (changed(rows[0], contract=changed(rows[0].contract, key="new.key")), *rows[1:])
    later = replace(later, identity=changed(later.identity, rows=rows))
    html = report(first, later, later)
    (line,) = (line for line in lines(html) if 'data-v="new.key' in line)
    assert len(re.findall(r'class="n added">[\d.]+ ± [\d.]+ ticks<', line)) == 2


def test_a_page_says_what_was_set_aside_and_why():
    html = report(bundles.typical())
    words = re.sub(r"<[^>]+>", " ", html)
    assert re.search(
        r"Excluded \(21 tests\).*21\s+interrupt\s+an interrupt came in while the test ran",
        words,
        re.S,
    )
    assert "switches: expected 20 in 10 turns, seen 21" in words


def test_environment_shows_what_differs_first():
    before = bundles.typical()
    facts = {"cpu_model": "Test CPU", "kernel_release": "6.2"}
    after = replace(before, identity=changed(before.identity, environment=facts))
    section = re.search(r'<section id="environment".*?</section>', report(before, after), re.S)[0]
    differs, same = section.split("<details>")
    assert "Differs (1)" in differs
    assert "<td>6.1</td><td>6.2</td>" in differs
    assert "Test CPU" in same


def test_lint_findings_stand_on_their_page_and_at_their_circle():
    maker = bundles.Maker(runs=1).accumulated(bundles.PIPE, 4000)
    made = subject([maker.bundle()], ["measured"])
    found = [finding.what for finding in made.remarks[0]]
    assert found
    html = document(made, "Test")
    assert f"Lint ({len(found)})" in html
    page = re.search(r'<section id="c0.*?</section>', html, re.S)[0]
    assert made.remarks_on(made.entries[0])
    assert all(base in page for base in ('class="level', "one run"))


def test_a_lint_finding_at_a_circle_names_its_side_and_its_configuration():
    maker = bundles.Maker(runs=1).accumulated(bundles.PIPE, 4000)
    maker.configuration = {"mcs": "on"}
    made = subject(
        [maker.accumulated(bundles.PIPE, 4000).bundle(), bundles.typical()], ["one", "two"]
    )
    suspect = Issue("few", "note", "of one configuration alone", (1,))
    made = replace(made, remarks=((suspect,), ()))
    ours = [entry for entry in made.entries if entry.circles[0] is not None]
    said = {entry.estimate.configuration.get("mcs"): made.remarks_on(entry) for entry in ours}
    assert said == {None: [], "on": [(suspect, "one")]}
    assert "<small> (one)</small>" in document(made, "Test")


def test_injected_markup_stays_text():
    plain, attacked = Page(report(bundles.typical())), Page(report(evil_bundle(), evil_bundle()))
    assert len(attacked.named("script")) == 1
    assert {name for name, _ in attacked.elements} <= {name for name, _ in plain.elements} | {
        "li",
        "ul",
        "small",
    }
    names = {name for _, attributes in attacked.elements for name in attributes}
    assert not [name for name in names if name.startswith("on") or name == "style"]
    assert attacked.words.count(EVIL) > 10


def test_the_policy_names_the_digests_of_the_style_and_the_script():
    html = report(bundles.typical())
    policy = next(
        m["content"]
        for m in Page(html).named("meta")
        if m.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    for kind in ("style", "script"):
        inside = re.search(rf"<{kind}>(.*?)</{kind}>", html, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_nothing_is_loaded_from_anywhere():
    page = Page(report(bundles.typical(), bundles.typical(1.1)))
    names = ("src", "href", "srcset", "action", "xlink:href")
    loaded = [value for _, a in page.elements for name, value in a.items() if name in names]
    assert all(address.startswith("#") or address == "data:," for address in loaded)
    assert "@import" not in (
        style := "".join(re.findall(r"<style>(.*?)</style>", report(bundles.typical()), re.S))
    )
    assert "url(" not in style


def test_every_drawing_has_words_for_those_who_do_not_see_it():
    page = Page(report(bundles.typical(), bundles.typical(1.1)))
    for drawing in page.named("svg"):
        answer = drawing.get("role") == "img" and len(drawing.get("aria-label") or "") > 20
        assert answer or drawing.get("aria-hidden") == "true"


def crowded(scale: float):
    """120 circles of 10,000 tests each, as dense as charts get."""
    maker = bundles.Maker(scale=scale, runs=5, tests=667)
    for number in range(120):
        contract = changed(bundles.PIPE, key=f"family_{number % 12}.operation_{number}.cross.equal")
        maker.accumulated(contract, 100 * 1.05**number)
    made = maker.bundle()
    tail = np.random.default_rng(5).exponential(0.25, len(made.samples)) * (
        np.arange(len(made.samples)) % 6 == 0
    )
    return replace(
        made, samples=replace(made.samples, value=np.round(made.samples.value * (1 + tail)))
    )


@pytest.mark.slow
def test_a_large_suite_stays_a_small_file():
    made = crowded(1.0)
    assert len(made.samples) >= 1_200_000
    assert len(report(made).encode()) <= 3_000_000


def test_command_writes_the_file_and_says_so(tmp_path: Path):
    paths = [
        store.write(bundles.typical(s), tmp_path / n, {}).path for s, n in ((1, "a"), (1.2, "b"))
    ]
    out = tmp_path / "out.html"
    result = CliRunner().invoke(
        cli, ["report", *paths, "-o", str(out), "--title", "T & U", "--json"]
    )
    assert result.exit_code == 0, result.output
    answer = json.loads(result.output)
    assert answer["bytes"] == out.stat().st_size
    assert sum(answer["circles"].values()) == 4 - 1
    assert "<title>T &amp; U</title>" in out.read_text()


def test_command_refuses_more_sides_than_colours(tmp_path: Path):
    path = store.write(bundles.typical(), tmp_path / "a", {}).path
    result = CliRunner().invoke(cli, ["report", *[path] * 7, "-o", str(tmp_path / "x.html")])
    assert isinstance(result.exception, UsageError)
    assert "at most 6" in str(result.exception)


def test_a_figure_whose_spread_is_not_known_has_no_interval_drawn_or_told():
    answer = {"mean only": {}, "with its spread": {"sd": 3.0, "n": 50}}
    html = report(
        printed.bundle(
            *(printed.Spec(key, [100.0], summary=summary) for key, summary in answer.items())
        )
    )
    drawn = {key: "whisker" in line for key in answer for line in lines(html) if key in line}
    assert drawn == {"mean only": False, "with its spread": True}
    assert html.count("none: a figure whose spread is not known") == 1


def test_command_takes_other_tools_files(tmp_path: Path):
    lines = [
        "Initial Test size: 30",
        "Delta: 1",
        "Number of Tests / Sample size of Accumulated latency: 3",
        "Number of Groups: 2",
        "Accumulated latencies (clock cycles):",
        "138832 141131",
        "137993 140751",
        "137349 141389",
        "",
        "Done!",
    ]
    table = tmp_path / "kbench.txt"
    table.write_text("\n".join(lines) + "\n")
    out = tmp_path / "out.html"
    result = CliRunner().invoke(cli, ["report", str(table), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "notification.signal" in out.read_text().replace("<wbr>", "")
