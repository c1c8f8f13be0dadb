# SPDX-License-Identifier: BSD-2-Clause
"""The table of a comparison on pages of several widths."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from cyclometer.compare.pairing import side
from cyclometer.compare.verdicts import Comparison, compare
from cyclometer.report import changes, comparison
from tests.compare.bundles import Spec, one_side
from tests.compare.recorded import recorded
from tests.compare.test_verdicts import QUIET, with_overall


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(side([recorded("aa1")]), side([recorded("aa2")]))


def rows(found: Comparison, page: int) -> list[str]:
    """The table alone, without the reasons."""
    printed = [line.plain for line in changes.lines(found.findings, (), page)]
    return printed[: 1 + len(found.findings)]


@pytest.mark.parametrize("page", [80, 100, 140])
def test_a_row_fits_its_page_and_ends_with_something(found: Comparison, page: int) -> None:
    printed = rows(found, page)
    assert max(map(len, printed)) <= page
    assert all(line == line.rstrip() and line.isascii() for line in printed)
    assert ("before" in printed[0]) == (page >= 90)
    assert "[ticks]" in printed[0]


def test_a_reason_that_rows_share_is_a_letter_and_a_footnote(found: Comparison) -> None:
    printed = [line.plain for line in changes.lines(found.findings, (), 100)]
    (result,) = (line for line in printed if line.startswith("a: "))
    reasons = [changes.why(f) for f in found.findings]
    often = result.removeprefix("a: ").removesuffix(".")
    assert reasons.count(often) == max(map(reasons.count, set(reasons) - {""}))
    marked = [line for line in printed[1:] if line.split()[-1] == "a"]
    assert len(marked) == reasons.count(often)


def test_every_column_is_there_for_who_asks(
    found: Comparison, capsys: pytest.CaptureFixture[str]
) -> None:
    comparison.show(found, wide=True)
    wide = capsys.readouterr().out
    comparison.show(found)
    narrow = capsys.readouterr().out
    assert "overall" in wide
    assert "reason" in wide
    assert "overall" not in narrow.splitlines()[len(found.notes)]
    assert narrow.splitlines()[-1] == wide.splitlines()[-1]  # the sentence


def test_a_refused_row_has_its_reason_below(capsys: pytest.CaptureFixture[str]) -> None:
    both = compare(side([recorded("aa1")]), side([]))
    comparison.show(both)
    shown = capsys.readouterr().out
    assert "a: after has no such circle." in shown.splitlines()
    assert " removed  a\n" in shown


@pytest.fixture(scope="module")
def apart() -> Comparison:
    """The latency stood still while the overall one moved by 38 %."""
    before = one_side(Spec("a", QUIET))
    return compare(before, with_overall(before, 1.38))


@pytest.mark.parametrize("page", [80, 100])
def test_what_moved_otherwise_than_the_change_stands_below_it(apart: Comparison, page: int) -> None:
    _, row, below = (line.plain for line in changes.lines(apart.findings, (), page)[:3])
    assert re.search(r" 0\.0+ %", row)
    assert below == "   but overall moved by +38.00 %"
    others = changes.lines(compare(apart.sides[0], apart.sides[0]).findings, (), page)
    assert not any("but overall" in line.plain for line in others)


def test_markdown_says_what_moved_otherwise_whatever_the_reason(apart: Comparison) -> None:
    said = "undecided: the latency stays, but overall moved by +38.00 %"
    assert said in comparison.markdown(apart)
    (only,) = apart.findings
    vetoed = replace(apart, findings=(replace(only, reason="the machine moved"),))
    said = "undecided: the machine moved; overall moved by +38.00 %"
    assert said in comparison.markdown(vetoed)
