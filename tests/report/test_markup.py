# SPDX-License-Identifier: BSD-2-Clause
"""Documents as values: nothing that comes from outside can become markup."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from cyclometer.report.markup import Markup, join, short, tag, text


@given(st.text())
def test_any_text_comes_back_as_text(words):
    element = ElementTree.fromstring(tag("p", words, title=words))
    assert list(element) == []
    clean = text(words)
    assert "<" not in clean
    assert '"' not in clean
    control = any(ord(c) < 32 and c not in "\t\n\r" for c in words)
    assert ("\ufffd" in clean) or not control


def test_attributes_and_children():
    link = tag(
        "a",
        "x",
        Markup("<b/>"),
        None,
        href="#a&b",
        cls="k",
        aria_label='"',
        hidden=True,
        open=False,
        rel=None,
    )
    assert link == '<a href="#a&amp;b" class="k" aria-label="&quot;" hidden>x<b/></a>'
    assert tag("label", "f", for_="x") == '<label for="x">f</label>'
    assert tag("path", d="M1 2") == '<path d="M1 2"/>'
    assert tag("input", type="search") == '<input type="search">'
    assert tag("td") == "<td></td>"
    assert join(["<", Markup("<br>"), None]) == "&lt;<br>"


def test_coordinates_are_short():
    assert [short(v) for v in (1.0, 1.25, -0.04, 100.06)] == ["1", "1.2", "-0", "100.1"]
