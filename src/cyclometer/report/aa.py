# SPDX-License-Identifier: BSD-2-Clause
"""The false alarms of every method as a terminal table, as JSON, and as Markdown."""

from __future__ import annotations

from rich import box
from rich.table import Table

from cyclometer.compare.aa import Alarms, Record
from cyclometer.report.comparison import paper
from cyclometer.report.documents import compared
from cyclometer.report.markdown import line
from cyclometer.text import counted

_HEADS = ("method", "false alarms", "of", "rate", "95 % interval", "promised")


def show(record: Record) -> None:
    """Prints one line a method on standard output."""
    console = paper()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for at, name in enumerate(_HEADS):
        table.add_column(name, justify="right" if at else "left")
    found = as_json(record)
    for one in found.methods:
        table.add_row(*_cells(one))
    console.print(table)
    console.print(found.summary, style="bold", soft_wrap=True)


def sentence(record: Record) -> str:
    """What was compared, in one sentence."""
    fewest, most = record.runs_a_side
    runs = counted(most, "run") if fewest == most else f"{fewest} to {most} runs"
    alone = f"; {record.alone} circles were run only once and are left out" if record.alone else ""
    return (
        f"{record.circles} circles, compared with themselves in {counted(record.suites, 'suite')} "
        f"of {runs} per side; "
        f"intervals take comparisons for independent{alone}."
    )


def as_json(record: Record) -> compared.FalseAlarms:
    """The document that both tables print."""
    return compared.FalseAlarms([_rate(a) for a in record.methods], sentence(record))


def _rate(a: Alarms) -> compared.AlarmRate:
    """A method's rate with its interval; without either if nothing could be compared."""
    rate, interval = (a.rate, a.interval) if a.comparisons else (None, None)
    return compared.AlarmRate(a.method, a.alarms, a.comparisons, rate, interval, a.nominal)


def markdown(record: Record) -> str:
    """The table and its sentence."""
    found = as_json(record)
    lines = [line(_HEADS), "|---|--:|--:|--:|--:|--:|"]
    lines += [line(_cells(one)) for one in found.methods]
    return "\n".join([*lines, "", found.summary]) + "\n"


def _cells(a: compared.AlarmRate) -> tuple[str, ...]:
    promised = "-" if a.nominal is None else f"{100 * a.nominal:g} %"
    if a.rate is None or a.interval is None:
        return a.method, "-", "0", "does not apply", "-", promised
    low, high = a.interval
    interval = f"{100 * low:.1f} to {100 * high:.1f} %"
    return a.method, str(a.alarms), str(a.comparisons), f"{100 * a.rate:.1f} %", interval, promised
