# SPDX-License-Identifier: BSD-2-Clause
"""The table of a comparison that people see first: what fits 100 columns, and 80 when it must.

A reason that several rows share is a letter behind them and a footnote. `--format wide` prints
every column, with the reason in its row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_lowercase
from typing import NamedTuple

from rich.text import Text

from cyclometer.compare.finding import Finding
from cyclometer.report.brief import short
from cyclometer.report.cells import change, interval, label, latencies, why
from cyclometer.text import plain

STYLES = {
    "regressed": "bold red",
    "over margin": "bold red",
    "improved": "green",
    "failed": "red",
    "invalid": "red",
    "undecided": "yellow",
}
REFUSED = ("failed", "invalid", "not comparable")
"""Verdicts that mean nothing without their reason."""
_LEAST_NAME = 20
_SHARED = 3
"""Rows that have one reason from which on it is a footnote."""


class _Column(NamedTuple):
    """A heading, the side on which its cells are flush, and from how wide a page on it stands."""

    heading: str
    side: str
    page: int


_COLUMNS = (
    _Column("before", ">", 90),
    _Column("after", ">", 90),
    _Column("change", ">", 0),
    _Column("interval", ">", 0),
    _Column("verdict", "<", 0),
    _Column("", "<", 0),
)


def lines(found: Sequence[Finding], distinguishing: Iterable[str], page: int) -> list[Text]:
    """A heading and a line per finding, none wider than the page if its columns allow, without
    trailing blanks; then the reasons. What moved otherwise than the change has a line below it, for
    the verdict rests on that, too.

    Args:
        distinguishing: options that distinguish rows of one key.
        page: columns of the terminal or pipe.
    """
    distinguishing, letters, units = (
        frozenset(distinguishing),
        _letters(found),
        {f.unit for f in found},
    )
    chosen = [i for i, column in enumerate(_COLUMNS) if page >= column.page]
    rows = [[_cells(f, letters, units)[i] for i in chosen] for f in found]
    head = [_COLUMNS[i].heading for i in chosen]
    title = f"circle [{next(iter(units))}]" if len(units) == 1 else "circle"
    widths = [max(map(len, (h, *(row[i] for row in rows)))) for i, h in enumerate(head)]
    labels = [plain(label(f, distinguishing)) for f in found]
    room = max(_LEAST_NAME, page - sum(widths) - 2 * len(widths) - 1)
    name_width = min(room, max(map(len, (title, *labels))))

    def line(name: str, cells: Sequence[str]) -> str:
        flush = [
            f"  {cell:{_COLUMNS[i].side}{width}}"
            for i, cell, width in zip(chosen, cells, widths, strict=True)
        ]
        return f" {short(name, name_width):<{name_width}}{''.join(flush)}".rstrip()

    printed = [Text(line(title, head), style="bold")]
    for f, name, row in zip(found, labels, rows, strict=True):
        style = STYLES.get(f.verdict, "")
        printed.append(Text(line(name, row), style=style))
        if f.disagreement:
            printed.append(Text(f"   but {f.disagreement}", style=style))
    return printed + [
        Text(plain(said), style="dim") for said in _reasons(found, letters, distinguishing)
    ]


def _cells(f: Finding, letters: dict[str, str], units: set[str]) -> tuple[str, ...]:
    before, after = latencies(f)
    unit = f" {f.unit}" if len(units) > 1 and after else ""
    return before, after + unit, change(f), interval(f), f.word, letters.get(why(f), "")


def _letters(found: Sequence[Finding]) -> dict[str, str]:
    """Reason -> its letter, the most frequent first, of those that several rows share."""
    shared = Counter(why(f) for f in found if why(f)).most_common(len(ascii_lowercase))
    often = [reason for reason, count in shared if count >= _SHARED]
    return dict(zip(often, ascii_lowercase, strict=False))


def _reasons(
    found: Sequence[Finding], letters: dict[str, str], distinguishing: frozenset[str]
) -> Iterator[str]:
    """The footnotes, the reasons of refused rows that have none, and how many reasons are left."""
    yield from (f"{letter}: {reason}." for reason, letter in letters.items())
    alone = [f for f in found if why(f) and why(f) not in letters]
    for f in alone:
        if f.verdict in REFUSED:
            yield f"{label(f, distinguishing)}: {why(f)}"
    left = sum(f.verdict not in REFUSED for f in alone)
    if left:
        yield f"{left} more row{'s have' if left > 1 else ' has'} a reason: --format wide"
