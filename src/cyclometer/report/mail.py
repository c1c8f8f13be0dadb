# SPDX-License-Identifier: BSD-2-Clause
"""A comparison as plain ASCII of at most 72 columns, to paste into a mail or a commit message."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from cyclometer import __version__
from cyclometer.compare.finding import Finding
from cyclometer.compare.verdicts import Comparison
from cyclometer.report import comparison as report
from cyclometer.report.cells import change, label, latencies

WIDTH = 72
_QUIET = ("equivalent", "undecided")
_NUMBER, _CHANGE, _VERDICT = 10, 9, 10  # least columns, with a space between them


def mail(comparison: Comparison) -> str:
    """The rows that changed or could not be judged, the sum of the others, and what it rests on.

    A key too long for its column has a line of its own; nothing is cut.
    """
    rows = [f for f in comparison.findings if f.verdict not in _QUIET]
    words = max([_VERDICT, *(len(finding.word) for finding in rows)])
    wide = WIDTH - 2 * (_NUMBER + 1) - (_CHANGE + 1) - (words + 1)
    lines = [line for finding in rows for line in _row(finding, wide)]
    quiet = [f for f in comparison.findings if f.verdict in _QUIET]
    counts = [(sum(f.verdict == name for f in quiet), name) for name in _QUIET]
    rest = ", ".join(f"{count} {name}" for count, name in counts if count)
    parts = [
        _cells("".ljust(wide), "before", "after", "change", "") if lines else "",
        *lines,
        *([f"not listed: {rest}"] if rest else []),
        "",
        *_wrapped([report.sentence(comparison), *_basis(comparison)]),
    ]
    return "\n".join(_ascii(part).rstrip() for part in parts).lstrip("\n") + "\n"


def _row(f: Finding, wide: int) -> list[str]:
    before, after = (one.split(" ")[0] for one in latencies(f))
    name = label(f, ())
    head, key = ([name], "") if len(name) > wide else ([], name)
    return [*head, _cells(key.ljust(wide), before, after, change(f), f.word)]


def _cells(key: str, before: str, after: str, changed: str, verdict: str) -> str:
    return f"{key} {before:>{_NUMBER}} {after:>{_NUMBER}} {changed:>{_CHANGE}} {verdict}"


def _basis(comparison: Comparison) -> list[str]:
    """What the verdicts rest on: units, runs, what else differs, and the version."""
    units = sorted({f.unit for f in comparison.findings})
    before, after = (
        max((len(circle.estimate.runs) for circle in side if circle), default=0)
        for side in (
            [f.pair.before for f in comparison.findings],
            [f.pair.after for f in comparison.findings],
        )
    )
    rests = (
        f"In {', '.join(units)} per turn; {before} runs before and {after} after; "
        f"cyclometer {__version__}."
    )
    return [rests, *report.notes(comparison, comparison.findings)]


def _wrapped(sentences: Sequence[str]) -> Iterable[str]:
    for sentence in sentences:
        yield from textwrap.wrap(sentence, WIDTH, break_on_hyphens=False)


def _ascii(text: str) -> str:
    return text.replace("±", "+-").encode("ascii", "replace").decode()
