# SPDX-License-Identifier: BSD-2-Clause
"""Foreign text in Markdown: inert as words, one cell as code."""

import re

import pytest

from cyclometer.report.markdown import code, line, plain, words


def test_words_are_inert():
    text = words(
        "<script> [x](http://a.b) @team #12 **bold** www.evil.org a_b `c` &amp; \x1b[2J \u202e"
    )
    assert not re.search(
        r"(?<!\\)[\[*_`|]|[<>]|&(?!amp;|lt;|gt;|#124;)|@\w|#\d|http:|www\.|\x1b|\u202e", text
    )


def test_plain_words_stay_as_they_are():
    assert words("Of 3 rows: 1 regressed (most: pipe.round -3.2 %); margin 1 %.") == (
        "Of 3 rows: 1 regressed (most: pipe.round -3.2 %); margin 1 %."
    )


def test_keys_are_code():
    assert code("pipe.round_trip+ctx [mcs=on]") == "`pipe.round_trip+ctx [mcs=on]`"
    assert code("a\n\x1b") == "`a \N{REPLACEMENT CHARACTER}`"


@pytest.mark.parametrize("name", ["a|b", "a`b", r"a\|b", "a<b>", "&lt;"])
def test_what_a_code_span_cannot_hold_is_words(name):
    assert code(name) == words(name)


def test_a_line_has_as_many_cells_as_it_was_given():
    cells = ("a|b", "c\\|d", "e\nf")
    assert line(map(words, cells)).count("|") == 4
    assert "\n" not in line(map(words, cells))


def test_plain_keeps_every_printable_character():
    assert plain("µs\t✓") == "µs\N{REPLACEMENT CHARACTER}✓"
