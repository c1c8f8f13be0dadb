# SPDX-License-Identifier: BSD-2-Clause
"""The processor's counters of two sides and the code that their turns touch, as terminal tables, as
JSON, and as Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich import box
from rich.table import Table

from cyclometer.compare.why import Why
from cyclometer.explain.layout import FootprintChange, FootprintChanges
from cyclometer.report import explained
from cyclometer.report.comparison import paper
from cyclometer.report.documents.sampled import ChangedFootprint, Counted, CountedCircle
from cyclometer.report.explanation import footprint, from_to
from cyclometer.report.markdown import code, line

_NONE = (
    "Neither side has counters of the processor for a circle of both; `cyclometer doctor` says "
    "whether this machine shows them."
)


@dataclass(frozen=True)
class Reasons:
    """What may explain a change."""

    counted: list[Why]
    code: FootprintChanges


@dataclass(frozen=True)
class _Section:
    """A table of two columns, circle and words."""

    title: str
    rows: list[tuple[str, str]]


def show(found: Reasons) -> None:
    """Prints one line per circle and table on standard output."""
    console, document = paper(), as_json(found)
    for section in _sections(document):
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        table.add_column("circle", overflow="fold")
        table.add_column(section.title, overflow="fold")
        for row in section.rows:
            table.add_row(*row)
        console.print(table)
    for note in _notes(document):
        console.print(note, soft_wrap=True)


def as_json(found: Reasons) -> Counted:
    """Every counter and every footprint of both sides."""
    return Counted(
        [CountedCircle(w.key, w.before, w.after, w.sentence) for w in found.counted],
        [_changed(one) for one in found.code.circles],
        found.code.untraced,
    )


def markdown(found: Reasons) -> str:
    """The tables, and what they mean."""
    document = as_json(found)
    paragraphs = [*map(_markdown_table, _sections(document)), *_notes(document)]
    return "\n\n".join(paragraphs) + "\n"


def _markdown_table(section: _Section) -> str:
    heads = [line(("circle", section.title)), "|---|---|"]
    return "\n".join([*heads, *(line((code(key), words)) for key, words in section.rows)])


def _changed(one: FootprintChange) -> ChangedFootprint:
    sides = explained.footprint(one.before), explained.footprint(one.after)
    return ChangedFootprint(one.key, *sides, one.only_layout)


def _sections(document: Counted) -> Iterator[_Section]:
    if document.circles:
        rows = [(one.key, one.sentence) for one in document.circles]
        yield _Section("per turn, from before to after", rows)
    if document.footprints:
        rows = [(one.circle, _sentence(one)) for one in document.footprints]
        yield _Section("code of a turn, from before to after", rows)


def _sentence(one: ChangedFootprint) -> str:
    instructions = from_to(one.before.instructions, one.after.instructions)
    return f"{instructions} instructions {footprint(one.before, one.after)}"


def _notes(document: Counted) -> Iterator[str]:
    """What the tables mean, and why they have no more rows."""
    if moved := [one.circle for one in document.footprints if one.only_layout]:
        yield (
            "The same number of instructions with another footprint, so layout may explain a "
            f"difference in time: {', '.join(map(code, moved))}."
        )
    if not document.circles and not document.footprints:
        yield _NONE
    if document.untraced:
        yield (
            "Circles without a trace in both bundles, and so without a footprint of code: "
            f"{len(document.untraced)}; `cyclometer run --trace` keeps traces on targets that "
            "emulate, as qemu-virt."
        )
