# SPDX-License-Identifier: BSD-2-Clause
"""The gallery is what tools/gallery.py makes, and shows every experiment."""

from __future__ import annotations

import tarfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gallery
from findings import ROOT


def test_the_page_is_as_made_and_its_pictures_are_there() -> None:
    assert (ROOT / gallery.GALLERY).read_text() == gallery.text()
    for page in gallery.PAGES:
        assert (ROOT / gallery.PICTURES / f"{page.name}.png").read_bytes()[:4] == b"\x89PNG"


def test_every_experiment_has_a_chart() -> None:
    written = {path.stem for path in (ROOT / "docs/experiments").glob("*.md")}
    assert {one.page for one in gallery.EXPERIMENTS} == written


@pytest.mark.parametrize("one", gallery.EXPERIMENTS, ids=lambda one: one.page)
def test_a_chart_is_drawn_of_the_figures_on_its_page(one: gallery.Experiment) -> None:
    drawn = gallery.chart(ROOT, one)
    written = (ROOT / gallery.PICTURES / f"{one.page}.svg").read_text()
    assert written == drawn, "run `python tools/gallery.py --charts`: the page has other figures"
    root = ElementTree.fromstring(drawn)
    said = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")][1:]
    figures = [value for _, row in gallery.figures(ROOT, one) for value in row]
    assert said == [f"{value:g}" for value in figures if value > 0]
    assert len(said) >= 2


def test_figures_of_a_cell_with_several_are_its_first_and_thousands_are_read(
    tmp_path: Path,
) -> None:
    page = tmp_path / "docs/experiments/made-up.md"
    page.parent.mkdir(parents=True)
    page.write_text(
        "| row | new |\n|---|--:|\n| `a` | 39,297 |\n| b | **885** to 899, 992 |\n| c | never |\n"
        "\n    circle    old    new\n    a.b    376    336.5\n"
    )
    one = gallery.Experiment("made-up", "Made up", "cycles", ("new",))
    assert gallery.figures(tmp_path, one) == [("a", [39297]), ("b", [885])]
    assert gallery.figures(tmp_path, one._replace(table=1)) == [("a.b", [336.5])]


def test_what_is_kept_are_bundles_alone() -> None:
    with tarfile.open(ROOT / gallery.KEPT) as kept:
        names = {name.partition("/")[0] for name in kept.getnames()}
    assert names == {"default", "mcs"} | {f"session-{n:02}" for n in range(1, 15)}
