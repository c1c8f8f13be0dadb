# SPDX-License-Identifier: BSD-2-Clause
"""The processor's counters of two sides as a terminal table, as JSON, and as Markdown."""

from __future__ import annotations

from rich import box
from rich.table import Table

from cyclometer.compare.why import Why
from cyclometer.report.comparison import paper
from cyclometer.report.explain_documents import Counted, CountedCircle
from cyclometer.report.markdown import code, line

_NONE = (
    "Neither side has counters of the processor for a circle of both; `cyclometer doctor` says "
    "whether this machine shows them."
)


def show(found: list[Why]) -> None:
    """Prints one line per circle on standard output."""
    console = paper()
    if not found:
        console.print(_NONE, soft_wrap=True)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("circle", overflow="fold")
    table.add_column("per turn, from before to after", overflow="fold")
    for one in found:
        table.add_row(one.key, one.sentence)
    console.print(table)


def as_json(found: list[Why]) -> Counted:
    """Every counter of both sides."""
    return Counted([CountedCircle(w.key, w.before, w.after, w.sentence) for w in found])


def markdown(found: list[Why]) -> str:
    """The table."""
    if not found:
        return f"{_NONE}\n"
    rows = [line(("circle", "per turn, from before to after")), "|---|---|"]
    rows += [line((code(one.key), one.sentence)) for one in found]
    return "".join(f"{row}\n" for row in rows)
