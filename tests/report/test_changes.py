# SPDX-License-Identifier: BSD-2-Clause
"""The table of a comparison on pages of several widths."""

from __future__ import annotations

import pytest

from cyclometer.compare.pairing import side
from cyclometer.compare.verdicts import Comparison, compare
from cyclometer.report import changes, comparison
from tests.compare.recorded import recorded


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
