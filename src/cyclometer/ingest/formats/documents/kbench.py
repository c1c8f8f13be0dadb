# SPDX-License-Identifier: BSD-2-Clause
"""KBench: the table its program prints, and the tables of its paper as copied text.

A table has a column per group (test size I + g*D) or, of one size, a column per run; below may
stand statistics. Terms are those of the paper: A is the accumulated latency of a test, Y = A/N, P
the primary latency.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from cyclometer.bundle.model import Contract, Flow, Span, Summary
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number
from cyclometer.ingest.reading import Foreign

NAME = "kbench"
DESCRIPTION = "KBench accumulated latencies: program output or the tables of its paper"

CONTRACT = Contract(
    "notification.signal.round_trip.low_to_high",
    "Signal to a waiting thread of higher priority, and back to its sender",
    (
        "low: Signal",
        "kernel: switch up to high",
        "high: Wait returns",
        "high: Wait blocks",
        "kernel: switch down to low",
    ),
    Span("round_trip", "low: before the first of N Signals", "low: after the last"),
    params={"low_priority": "254", "high_priority": "255", "space": "same"},
    correction="none",
)

_MAX_COLUMNS = 1_000
_FIELDS = {
    "initial": re.compile(r"Initial Test size:\s*(\d{1,9})\b"),
    "delta": re.compile(r"Delta:\s*(\d{1,9})\b"),
    "tests": re.compile(r"(?:Group size \(S\)|Sample size of Accumulated latency):\s*(\d{1,9})\b"),
    "groups": re.compile(r"Number of Groups:\s*(\d{1,9})\b"),
}
_SIZE = re.compile(r"Test size:\s*(\d{1,9}),\s*sample size:", re.I)
_GROUPS_HEAD = re.compile(r"Group 1, Test size|Accumulated latencies")
_RUNS_HEAD = re.compile(r"\s*(?:S\s+)?Run 1(?:\s+Run \d+)*\s*")

# Label of a line of statistics -> name of the statistic, by what the table is of.
_LABELS = {
    "A": (
        ('Sample Mean of "', "mean_per_turn"),
        ("Sample Mean", "mean"),
        ("Mean,", "mean"),
        ("Sample Std", "sd"),
        ("Variance", "variance"),
        ("Coeff", "cv_pct"),
    ),
    "Y": (
        ("Mean,", "mean_per_turn"),
        ("Variance", "variance_per_turn"),
        ("Std", "sd_per_turn"),
        ("Coeff", "cv_per_turn_pct"),
        ("c1", "interval_low_per_turn"),
        ("c2", "interval_high_per_turn"),
        ("CI half-width", "interval_half_width_pct"),
    ),
    "P": (
        ("Mean,", "mean_primary"),
        ("Variance, $\\sigma_Y", ""),
        ("Variance, Y", ""),
        ("Variance", "variance_primary"),
        ("Std", "sd_primary"),
        ("Coeff", "cv_primary_pct"),
    ),
}


@dataclass
class _Table:
    """A table as far as it was read. `of`: A, Y or P; `runs`: a column is a run, not a group."""

    line: int
    of: str = "A"
    runs: bool = False
    indexed: bool = False  # rows begin with the number of the test
    rows: list[list[float]] = field(default_factory=list)
    statistics: dict[str, list[float]] = field(default_factory=dict)
    pending: str = ""  # the statistic whose figures stand on the next line


@dataclass
class _Reader:
    into: Collector
    header: dict[str, int] = field(default_factory=dict)
    of: str = "A"
    size: int = 0
    table: _Table | None = None
    finished: list[tuple[_Table, dict[str, int], int]] = field(default_factory=list)

    def line(self, at: int, text: str) -> None:
        text = re.sub(r"</?[a-z]{1,4}>", "", text)
        if self._heading(at, text) or self.table is None:
            return
        by_tabs = "\t" in text or re.search(r"[A-Za-z]", text)
        cells = [cell.strip() for cell in (text.split("\t") if by_tabs else text.split())]
        figures = [value for value in map(number, cells) if value is not None]
        label = next((cell for cell in cells if cell and number(cell) is None), "")
        if self.table.pending and figures and not label:
            self.table.statistics[self.table.pending] = figures
            self.table.pending = ""
        elif label:
            self._statistic(at, text, label, figures)
        elif figures and len(figures) <= _MAX_COLUMNS:
            self.into.count_values(len(figures))
            self.table.rows.append(figures)

    def _heading(self, at: int, text: str) -> bool:
        """Take a line that opens a table or says what the next one is of."""
        found = {
            name: int(match[1])
            for name, pattern in _FIELDS.items()
            if (match := pattern.search(text))
        }
        if found:
            if "initial" in found:
                self.close()
                self.header = {}
            self.header |= found
            self.of = "A"
        size = _SIZE.search(text)
        if size:
            self.close()
            self.size, self.of = int(size[1]), "Y" if "Primary" in text else "A"
        if "Statistics of Primary latency" in text:
            self.close()
            self.of = "P"
        opens_runs = bool(_RUNS_HEAD.fullmatch(text))
        if opens_runs or _GROUPS_HEAD.search(text):
            self.close()
            indexed = opens_runs or "Group 1" in text
            self.table = _Table(at, self.of, opens_runs, indexed)
            return True
        if text.strip().startswith("Done!"):
            self.close()
        return bool(found or size)

    def _statistic(self, at: int, text: str, label: str, figures: list[float]) -> None:
        assert self.table is not None
        for start, name in _LABELS[self.table.of]:
            if label.startswith(start):
                if name and figures:
                    self.table.statistics[name] = figures
                else:
                    self.table.pending = name
                return
        mostly_figures = 2 * len(figures) >= sum(1 for cell in text.split() if cell)
        if len(figures) > 1 and mostly_figures and not label.startswith("Test size"):
            self.into.unread(text, at)

    def close(self) -> None:
        if self.table and (self.table.rows or self.table.statistics):
            self.finished.append((self.table, dict(self.header), self.size))
        self.table = None


def detect(head: bytes, _filename: str) -> int:
    if b"Initial Test size:" in head and b"Delta:" in head:
        return 95
    return 90 if b"Accumulated latency (clock cycles)" in head else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    reader = _Reader(Collector(foreign, settings))
    for at, text in foreign.lines():
        reader.line(at, text)
    reader.close()
    runs: Counter[Flow] = Counter()
    for table, header, size in _with_derived(reader):
        _figures(reader.into, table, header, size, runs)
    return reader.into.finish(NAME)


def _with_derived(reader: _Reader) -> list[tuple[_Table, dict[str, int], int]]:
    """Tables of A, each with the statistics of the tables of Y and P that follow; their values are
    A/N again.
    """
    tables: list[tuple[_Table, dict[str, int], int]] = []
    for table, header, size in reader.finished:
        if table.of == "A":
            tables.append((table, header, size))
            continue
        if table.rows:
            what = (
                f"{len(table.rows)} lines of A/N are not kept: they follow from the "
                "accumulated latencies"
            )
            reader.into.problem("note", what, table.line)
        if tables:
            tables[-1][0].statistics.update(table.statistics)
    return tables


def _figures(
    into: Collector, table: _Table, header: dict[str, int], size: int, runs: Counter[Flow]
) -> None:
    rows = [row[1:] if table.indexed else row for row in table.rows]
    width = Counter(len(row) for row in rows).most_common(1)[0][0] if rows else 0
    good = [row for row in rows if len(row) == width and all(value >= 0 for value in row)]
    if len(good) != len(rows):
        into.problem(
            "unread",
            f"{len(rows) - len(good)} rows of the table do not have {width} latencies",
            table.line,
        )
    if not good or not width:
        return
    A = np.array(good)
    if (size if table.runs else header.get("initial", 1)) < 1:
        into.problem("unread", "a table of tests without a turn", table.line)
    elif table.runs:
        flow = Flow(size, 0, 1, len(A))
        for column in range(width):
            _add(into, table, flow, A[:, [column]], runs, range(column, column + 1))
    elif "initial" in header and "delta" in header:
        if header.get("tests", len(A)) != len(A) or header.get("groups", width) != width:
            wanted = f"{header.get('tests', len(A))} x {header.get('groups', width)}"
            into.problem(
                "damaged", f"the table is {len(A)} x {width}, its header says {wanted}", table.line
            )
        _add(
            into,
            table,
            Flow(header["initial"], header["delta"], width, len(A)),
            A,
            runs,
            range(width),
        )
    else:
        into.problem("unread", "a table without Initial Test size and Delta before it", table.line)


def _add(
    into: Collector, table: _Table, flow: Flow, A: np.ndarray, runs: Counter[Flow], columns: range
) -> None:
    """Add one run of a flow: a column of A a group, shape (tests, groups), in the order in which
    the tests ran.
    """
    run = runs[flow]
    runs[flow] += 1
    groups = np.repeat(np.arange(A.shape[1], dtype=np.int32), A.shape[0])
    clock = into.settings.clock("cycle counter", "cycles")
    into.figure(
        CONTRACT,
        clock,
        "accumulated",
        line=table.line,
        flow=flow,
        run=run,
        values=A.T.ravel(),
        turns=flow.initial + groups.astype(np.int64) * flow.delta,
        groups=groups,
    )
    for group, column in enumerate(columns):
        figures = {name: row[column] for name, row in table.statistics.items() if column < len(row)}
        if figures:
            mean, sd = figures.pop("mean", None), figures.pop("sd", None)
            summary = Summary(0, group=group, n=A.shape[0], mean=mean, sd=sd, extra=figures)
            into.figure(
                CONTRACT, clock, "accumulated", line=table.line, flow=flow, run=run, summary=summary
            )
